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

// peer reads an address. One that is not a loopback address needs the word of whoever
// starts the command.
func (s *settings) peer(name, address string) (*peer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%s is an address such as http://127.0.0.1:8080, without a path", name)
	}
	ip := net.ParseIP(u.Hostname())
	own := ip != nil && ip.IsLoopback()
	if !own && !s.mine {
		return nil, fmt.Errorf("%s: %s is no loopback address: say --i-own-this if the server is yours", name, u.Hostname())
	}
	p := &peer{name: name, host: s.host}
	if p.host == "" {
		proxy, _ := url.Parse(s.proxy) // it fails as the other flag
		p.host = proxy.Host
	}
	if !plainHost.MatchString(p.host) {
		return nil, fmt.Errorf("%q is no host name", p.host)
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
		p.tls = &tls.Config{ServerName: hostname(p.host), InsecureSkipVerify: own, NextProtos: []string{"http/1.1"}} //nolint:gosec // of a server on this machine
	}
	p.address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	return p, nil
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
