package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// peer is a server that requests go to: the proxy or the platform.
type peer struct {
	name    string // of the flag
	address string
	host    string // in the requests
	tls     *tls.Config
}

var (
	plainRoute = regexp.MustCompile(`^(/[A-Za-z0-9_-]+)+$`)
	plainHost  = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)
)

// peers returns the two servers.
func (s *settings) peers() (proxy, platform *peer, err error) {
	toProxy, err := s.address("--proxy", s.proxy)
	if err != nil {
		return nil, nil, err
	}
	toPlatform, err := s.address("--platform", s.platform)
	if err != nil {
		return nil, nil, err
	}
	if s.host = cmp.Or(s.host, toProxy.Host); !plainHost.MatchString(s.host) {
		return nil, nil, fmt.Errorf("--host: %q is no host name", s.host)
	}
	return s.peer("--proxy", toProxy), s.peer("--platform", toPlatform), nil
}

// address reads an address. One that is not a loopback address needs the word of whoever
// starts the command.
func (s *settings) address(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%s is an address such as http://127.0.0.1:8080, without a path", name)
	}
	if !loopback(u) && !s.mine {
		return nil, fmt.Errorf("%s: %s is no loopback address: say --i-own-this if the server is yours", name, u.Hostname())
	}
	return u, nil
}

func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

func (s *settings) peer(name string, u *url.URL) *peer {
	p, port := &peer{name: name, host: s.host}, "80"
	if u.Scheme == "https" {
		port = "443"
		p.tls = &tls.Config{
			ServerName: hostname(s.host), NextProtos: []string{"http/1.1"},
			InsecureSkipVerify: loopback(u), //nolint:gosec // a server on this machine may have a certificate of its own
		}
	}
	p.address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	return p
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// answerTime bounds one answer.
const answerTime = 30 * time.Second

// send sends a request on a connection of its own. The status of the answer is 0 where
// the server ends the connection without one; to say nothing at all is an error.
func (p *peer) send(ctx context.Context, r *grammar.Request) (rawhttp.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	dial := new(net.Dialer).DialContext
	if p.tls != nil {
		dial = (&tls.Dialer{Config: p.tls}).DialContext
	}
	conn, err := dial(ctx, "tcp", p.address)
	if err != nil {
		return rawhttp.Answer{}, fmt.Errorf("%s: %w", p.name, err)
	}
	x, err := rawhttp.HTTP1On(ctx, conn, p.wire(r))
	if err = errors.Join(err, ctx.Err()); err != nil {
		err = fmt.Errorf("%s: no whole answer to\n%s\n%w", p.name, shown(p.wire(r)), err)
	}
	return x.Answer, err
}

// wire is a request as it is sent.
func (p *peer) wire(r *grammar.Request) []byte {
	closing := *r
	closing.Fields = append([]grammar.Field{{Name: "Connection", Value: "close"}}, r.Fields...)
	return closing.Wire(p.host)
}
