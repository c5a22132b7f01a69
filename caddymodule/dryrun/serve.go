package dryrun

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/policies/hosts"
)

// serve has the HTTP server of Go read the bytes of a request, as it reads a connection,
// and Caddy's server answer it. The answer is in memory; it is nil where Caddy ends the connection without one, as abort does.
func serve(ctx context.Context, run *run, server *caddyhttp.Server, r Request, raw []byte) (*http.Response, error) {
	client := r.Client
	if !client.IsValid() {
		client = netip.AddrFrom4([4]byte{192, 0, 2, 1}) // of the documentation's network (RFC 5737)
	}
	answer := rawrequest.Serve(raw, net.TCPAddrFromAddrPort(netip.AddrPortFrom(client, 40000)), r.port(), http.HandlerFunc(
		func(w http.ResponseWriter, req *http.Request) {
			// The server takes the end of the bytes for a client that has gone.
			within, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(req.Context()), runKey, run))
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			req = req.WithContext(within)
			if r.Secure {
				req.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: strings.ToLower(hosts.Name(req.Host))}
			}
			server.ServeHTTP(w, req)
		}))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
	for err == nil && res.StatusCode < http.StatusOK { // 103 comes before the answer
		_, rest, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
		answer = rest
		res, err = http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // there is none
	}
	return res, nil
}

// errNotHTTP says that there is no request.
var errNotHTTP = errors.New("this is no HTTP/1.1 request")

// target returns host and request line of the bytes of a request.
func target(raw []byte) (host, line string, err error) {
	head, _, _ := bytes.Cut(raw, []byte("\n"))
	line = strings.TrimRight(string(head), "\r")
	if strings.Count(line, " ") < 2 {
		return "", "", fmt.Errorf("%w: its first line is %.80q", errNotHTTP, line)
	}
	line = line[:strings.LastIndex(line, " ")]
	for name, value := range headerLines(raw) {
		if strings.EqualFold(name, "Host") {
			return value, line, nil
		}
	}
	return "", line, nil
}

// headerLines yields the header lines of the bytes of a request, without judging them.
func headerLines(raw []byte) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		_, rest, _ := bytes.Cut(raw, []byte("\n"))
		for len(rest) > 0 {
			var text []byte
			text, rest, _ = bytes.Cut(rest, []byte("\n"))
			line := strings.TrimRight(string(text), "\r")
			if line == "" {
				return
			}
			name, value, _ := strings.Cut(line, ":")
			if !yield(name, strings.Trim(value, " \t")) {
				return
			}
		}
	}
}
