//go:build wordpress

package wordpress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// protocol is a way in which a message reaches a gate.
type protocol struct {
	name string
	send func(context.Context, *gate, *message, string) (*answer, error)
}

// protocols are all that Caddy speaks.
var protocols = []protocol{
	{"HTTP/1.1", func(ctx context.Context, g *gate, m *message, tag string) (*answer, error) {
		return send(ctx, g, m.render(g, tag))
	}},
	{"HTTP/2", sendHTTP2},
	{"HTTP/3", sendHTTP3},
}

const answerTime = time.Minute

func sendHTTP2(ctx context.Context, g *gate, m *message, tag string) (*answer, error) {
	g = g.secure()
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: answerTime}, Config: rawhttp.Trusting("h2")}
	conn, err := dialer.DialContext(ctx, "tcp", g.host())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	return streamAnswer(rawhttp.HTTP2(conn, m.streamed(g, tag)))
}

func sendHTTP3(ctx context.Context, g *gate, m *message, tag string) (*answer, error) {
	g = g.secure()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, hangUp, err := rawhttp.DialHTTP3(ctx, g.host())
	if err != nil {
		return nil, err
	}
	defer hangUp()
	return streamAnswer(rawhttp.HTTP3(conn, m.streamed(g, tag), time.Now().Add(answerTime)))
}

// tryShortBodies is that bodies which end early hold no worker of PHP's: over HTTP/3 nobody
// but the gateway counts them.
func tryShortBodies(ctx context.Context, g *gate) error {
	const workersOfPHP = 4
	short := message{method: "PUT", target: "/", headers: []string{jsonType}, body: strings.Repeat("x", 5500)}
	r := short.streamed(g.secure(), "short")
	for i, f := range r.Fields {
		if f.Name == "content-length" {
			r.Fields[i].Value = "6000"
		}
	}
	for range 2 * workersOfPHP {
		conn, hangUp, err := rawhttp.DialHTTP3(ctx, g.secure().host())
		if err != nil {
			return err
		}
		answer, err := rawhttp.HTTP3(conn, r, time.Now().Add(10*time.Second))
		hangUp()
		if err == nil && answer.Status < http.StatusBadRequest && !g.Site.FrankenPHP { // which takes what there is for the body
			return fmt.Errorf("status %d", answer.Status)
		}
	}
	a, err := sendHTTP3(ctx, g, &message{method: "GET", target: "/index.php?rest_route=/wp/v2/posts", as: "editor"}, "long")
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("afterwards: %s", a)
	}
	return err
}

// streamAnswer takes an ended stream for an answer without a status: the server
// has refused the request before anybody read it.
func streamAnswer(a rawhttp.Answer, err error) (*answer, error) {
	if errors.Is(err, rawhttp.ErrReset) {
		return &answer{header: http.Header{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return newAnswer(&http.Response{StatusCode: a.Status, Header: a.Header}, a.Body), nil
}

// streamed returns the fields and the body that a gate gets over HTTP/2 and 3.
func (m *message) streamed(g *gate, tag string) rawhttp.Request {
	fields := []rawhttp.Field{
		{Name: ":method", Value: m.method},
		{Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: g.host()},
		{Name: ":path", Value: m.path(g)},
		{Name: "x-request-tag", Value: tag},
	}
	headers := m.headers
	if m.as != "" {
		account := g.Site.Accounts[m.as]
		headers = append([]string{"authorization: " + basic(account.Login, account.Application)}, headers...)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		fields = append(fields, rawhttp.Field{Name: strings.ToLower(name), Value: value})
	}
	if m.body != "" && !m.chunked {
		fields = append(fields, rawhttp.Field{Name: "content-length", Value: fmt.Sprint(len(m.body))})
	}
	return rawhttp.Request{Fields: fields, Body: m.body}
}
