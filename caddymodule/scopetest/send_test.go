//go:build !race

package scopetest

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/scopes"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// patience is how long an answer may take.
const patience = 30 * time.Second

// sender sends requests to one site over all protocols, one after another.
type sender struct {
	t             *testing.T
	plain, secure string // addresses
	second, third func(rawhttp.Request) (rawhttp.Answer, error)
}

func newSender(t *testing.T, plain, secure string) *sender {
	t.Helper()
	s := &sender{t: t, plain: plain, secure: secure}
	s.second, s.third = s.dial2(), s.dial3()
	return s
}

func (s *sender) dial2() func(rawhttp.Request) (rawhttp.Answer, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	conn, err := rawhttp.DialHTTP2(ctx, s.secure)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	spoken, err := rawhttp.NewHTTP2(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return func(r rawhttp.Request) (rawhttp.Answer, error) {
		_ = conn.SetDeadline(time.Now().Add(patience))
		return spoken.Do(r)
	}
}

func (s *sender) dial3() func(rawhttp.Request) (rawhttp.Answer, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	conn, hangUp, err := rawhttp.DialHTTP3(ctx, s.secure)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(hangUp)
	return func(r rawhttp.Request) (rawhttp.Answer, error) {
		return rawhttp.HTTP3(conn, r, time.Now().Add(patience))
	}
}

// send sends the request of some number; one in ten over HTTP/2, another one over HTTP/3.
func (s *sender) send(n int, w *scopes.Wire) (a rawhttp.Answer, protocol string, err error) {
	w.Header = append(w.Header, mark+": "+strconv.Itoa(n))
	switch n % 10 {
	case 2:
		a, err = s.second(w.Fields(s.secure))
		return a, rawhttp.Protocol2, err
	case 3:
		a, err = s.third(w.Fields(s.secure))
		return a, rawhttp.Protocol3, err
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	x, err := rawhttp.HTTP1(ctx, s.plain, w.Bytes())
	if w.Method == http.MethodHead {
		x.Body = nil
	}
	return x.Answer, rawhttp.Protocol1, err
}
