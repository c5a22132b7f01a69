//go:build wordpress

package wordpress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// version is a version of HTTP.
type version string

const (
	http1 version = "HTTP/1.1"
	http2 version = "HTTP/2"
	http3 version = "HTTP/3"
)

var versions = []version{http1, http2, http3}

// shot is one request on its way to a target.
type shot struct {
	number  int
	target  *target
	version version
	request *grammar.Request
	object  string // the record that it is to change
	open    bool   // its connection stays open: what is left of a body is a request then
}

// GoString shows a shot, long parts cut.
func (s *shot) GoString() string {
	return fmt.Sprintf("%s over %s: %s", s.target.name, s.version, s.request)
}

// aim draws a shot: at a route that its caller may not call, or not with this method.
func (a *attack) aim(g *grammar.Generator, to *target, number int) *shot {
	s := &shot{number: number, target: to, version: [...]version{http1, http1, http2, http3}[g.IntN(4)], open: g.IntN(4) == 3}
	aim := &grammar.Aim{Base: to.at[g.IntN(len(to.at))], Host: to.host(s.version), Decoy: "/canary/v1/open/t0", Chained: to.chained}
	admin := false
	site := a.s.site(to.site)
	switch 15 - g.IntN(16) { // the simplest is a call
	case 8, 9:
		aim.Route, aim.Method, admin = fmt.Sprintf("/wc/v3/orders/%d", site.Orders[g.IntN(len(site.Orders))]), "PUT", true
		aim.Object = strconv.Itoa(site.Subscriptions[g.IntN(len(site.Subscriptions))])
	case 0:
		aim.Route, aim.Method = fmt.Sprintf("/canary/v1/open/t%d", number), "PUT"
	case 1:
		aim.Route, aim.Method, admin = fmt.Sprintf("/canary/v1/read/t%d", number), "PUT", true
	case 2:
		aim.Route, aim.Method, admin = fmt.Sprintf("/canary/v1/never/t%d", number), "GET", true
	case 3:
		aim.Route, aim.Method = fmt.Sprintf("/canary/v1/t%d", number), "DELETE"
	default:
		aim.Route, aim.Method = fmt.Sprintf("/canary/v1/t%d", number), "GET"
	}
	if to.other {
		aim.Semicolons, aim.Paths = true, []string{"/api" + aim.Route}
		if rest, ok := strings.CutPrefix(aim.Route, "/canary/v1/"); ok {
			aim.Paths = append(aim.Paths, "/.well-known/canary/"+rest)
		}
	}
	s.request, s.object = g.Request(aim), aim.Object
	if admin {
		account := site.Accounts["administrator"]
		s.request.Fields = append(s.request.Fields, grammar.Field{Name: "Authorization", Value: basic(account.Login, account.Application)})
	}
	return s
}

// asksMethods tells whether a dispatch is that of a browser's question before a
// call, which needs no rights (docs/policies/access.md).
func (s *shot) asksMethods(d *dispatched) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(s.request.Fields, func(f grammar.Field) bool { return f.Name == name })
	}
	return d.Method == http.MethodOptions && has("Origin") && has("Access-Control-Request-Method") && !has("Authorization")
}

// closed returns what of a shot's dispatches nobody may have made, "" for nothing. Those
// of number 0 are the decoy's, or those of plain calls.
func (s *shot) closed(seen []dispatched) string {
	for i := range seen {
		if number, open := seen[i].canary(); number != 0 && !open && !s.asksMethods(&seen[i]) {
			return fmt.Sprintf("%s %q ran", seen[i].Method, seen[i].Route)
		}
	}
	return ""
}

func (t *target) host(v version) string {
	if v == http1 {
		return fmt.Sprintf("127.0.0.1:%d", t.port)
	}
	return fmt.Sprintf("127.0.0.1:%d", t.tls)
}

// How long an answer may take: the platform's, and that of a server which waits for
// what does not come.
const (
	shotTime  = 20 * time.Second
	shortTime = 500 * time.Millisecond
)

// fire sends a shot and counts what the answer is. Only what fails on this side is an
// error: a server may end a connection as it likes.
func (a *attack) fire(ctx context.Context, s *shot) error {
	limit := shotTime
	if s.request.Short {
		limit = shortTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	deadline, _ := ctx.Deadline()
	var status int
	var err error
	switch s.version {
	case http1:
		status, err = fireHTTP1(ctx, s.target.host(http1), s.render(), deadline)
	case http2:
		status, err = fireHTTP2(ctx, s, deadline)
	case http3:
		status, err = fireHTTP3(ctx, s, deadline)
	}
	switch {
	case errors.Is(err, errDial):
		return err
	case err != nil || status == 0:
		a.count("ended")
	default:
		a.count(fmt.Sprintf("%dxx", status/100))
	}
	return nil
}

var errDial = errors.New("no connection")

func fireHTTP1(ctx context.Context, address string, raw []byte, deadline time.Time) (status int, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDial, err)
	}
	defer func() { _ = conn.Close() }() // nothing is left to lose
	if err := conn.SetDeadline(deadline); err != nil {
		return 0, err
	}
	if _, err := conn.Write(raw); err != nil {
		return 0, err
	}
	method, _, _ := bytes.Cut(raw, []byte(" "))
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: strings.ToUpper(string(method))})
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func fireHTTP2(ctx context.Context, s *shot, deadline time.Time) (status int, err error) {
	dialer := tls.Dialer{NetDialer: new(net.Dialer), Config: rawhttp.Trusting("h2")}
	conn, err := dialer.DialContext(ctx, "tcp", s.target.host(http2))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDial, err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline); err != nil {
		return 0, err
	}
	answer, err := rawhttp.HTTP2(conn, s.streamed())
	return answer.Status, err
}

func fireHTTP3(ctx context.Context, s *shot, deadline time.Time) (status int, err error) {
	conn, hangUp, err := rawhttp.DialHTTP3(ctx, s.target.host(http3))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDial, err)
	}
	defer hangUp()
	answer, err := rawhttp.HTTP3(conn, s.streamed(), deadline)
	return answer.Status, err
}

// render returns a shot as HTTP/1.1.
func (s *shot) render() []byte {
	var b bytes.Buffer
	r := s.request
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, s.target.host(http1))
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	if !s.open {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n" + r.Body)
	return b.Bytes()
}

// streamed returns a shot in the fields of HTTP/2 and 3. Chunks stay what they are in
// its body, and so does what says that they are chunks.
func (s *shot) streamed() rawhttp.Request {
	r := s.request
	fields := []rawhttp.Field{
		{Name: ":method", Value: r.Method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: s.target.host(s.version)}, {Name: ":path", Value: r.Target},
	}
	for _, f := range r.Fields {
		fields = append(fields, rawhttp.Field{Name: strings.ToLower(f.Name), Value: f.Value})
	}
	return rawhttp.Request{Fields: fields, Body: r.Body}
}

func (a *attack) count(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[what]++
}

// tally writes what the answers were.
func (a *attack) tally() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for _, what := range slices.Sorted(maps.Keys(a.counts)) {
		list = append(list, fmt.Sprintf("%d %s", a.counts[what], what))
	}
	return strings.Join(list, ", ")
}
