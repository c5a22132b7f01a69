package livetest

import (
	"bytes"
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// The protocols that Caddy speaks. The first is sent as the bytes say, the others as the
// fields that mean the same.
const http1, http2, http3 = rawhttp.Protocol1, rawhttp.Protocol2, rawhttp.Protocol3

var allProtocols = []string{http1, http2, http3}

// client sends requests by one protocol, one after another. Over HTTP/2 and 3 it keeps a
// connection for each address until a stream is reset.
type client struct {
	protocol string
	open     map[string]*link
}

// link is one connection: name is what the witness calls it.
type link struct {
	name  string
	send  func(rawhttp.Request) (rawhttp.Answer, error)
	close func()
}

func newClient(protocol string) *client { return &client{protocol, map[string]*link{}} }

func (c *client) close() {
	for _, l := range c.open {
		l.close()
	}
	clear(c.open)
}

// overAll runs a test with a client of each protocol.
func overAll(t *testing.T, prefix string, test func(t *testing.T, by *client)) {
	t.Helper()
	for _, protocol := range allProtocols {
		t.Run(prefix+protocol, func(t *testing.T) {
			by := newClient(protocol)
			defer by.close()
			test(t, by)
		})
	}
}

// send sends the request in raw; why says why the protocol has no words for it.
func (c *client) send(t *testing.T, address string, raw []byte) (got reply, why string) {
	t.Helper()
	if c.protocol == http1 {
		return send(t, address, raw), ""
	}
	m, why := streamedOf(raw)
	if why != "" {
		return reply{}, why
	}
	return c.ask(t, address, m), ""
}

func (c *client) ask(t *testing.T, address string, m streamed) reply {
	t.Helper()
	l := c.open[address]
	if l == nil {
		l = c.dial(t, address)
		c.open[address] = l
	}
	a, err := l.send(m.request("https"))
	if err != nil {
		l.close()
		delete(c.open, address)
		return reply{conn: l.name}
	}
	return reply{l.name, a.Body, a.Status, string(a.Body)}
}

func (c *client) dial(t *testing.T, address string) *link {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if c.protocol == http3 {
		conn, hangUp, err := rawhttp.DialHTTP3(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		return &link{connection(conn.LocalAddr().String(), conn.RemoteAddr()), overHTTP3(conn), hangUp}
	}
	conn, err := rawhttp.DialHTTP2(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	return &link{connection(conn.LocalAddr().String(), conn.RemoteAddr()), overHTTP2(t, conn), func() { _ = conn.Close() }}
}

func overHTTP3(conn *quic.Conn) func(rawhttp.Request) (rawhttp.Answer, error) {
	return func(r rawhttp.Request) (rawhttp.Answer, error) {
		return rawhttp.HTTP3(conn, r, time.Now().Add(patience))
	}
}

func overHTTP2(t *testing.T, conn net.Conn) func(rawhttp.Request) (rawhttp.Answer, error) {
	t.Helper()
	spoken, err := rawhttp.NewHTTP2(conn)
	if err != nil {
		t.Fatal(err)
	}
	return func(r rawhttp.Request) (rawhttp.Answer, error) {
		_ = conn.SetDeadline(time.Now().Add(patience))
		return spoken.Do(r)
	}
}

// streamedOf says in the fields of HTTP/2 and 3 what raw says in HTTP/1.1, or why that
// cannot be said: versions, folded lines and chunks are of the first protocol alone. What
// is merely wrong is said as it is, and left to the server.
func streamedOf(raw []byte) (m streamed, why string) {
	head, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	line, rest, _ := strings.Cut(head, "\r\n")
	line, ok := strings.CutSuffix(line, " HTTP/1.1")
	method, target, hasTarget := strings.Cut(line, " ")
	if !ok || !hasTarget {
		return m, "another version"
	}
	m.fields = fields{":method " + method, ":scheme http", ":path " + target}
	if s, err := parse(raw); err == nil {
		var b bytes.Buffer
		_, _ = rawhttp.Parse(raw, &b)
		m.body = b.String()
		m.fields = append(m.fields, ":authority "+s.Host)
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			for _, value := range s.Header[name] {
				m.add(name, value)
			}
		}
		return m, ""
	}
	m.body = body
	for header := range strings.SplitSeq(rest, "\r\n") {
		name, value, _ := strings.Cut(header, ":")
		switch {
		case header == "":
		case strings.HasPrefix(header, " "), strings.HasPrefix(header, "\t"):
			return m, "a folded line"
		case strings.EqualFold(name, "Transfer-Encoding"):
			return m, "chunks"
		case name == "Host" && len(m.fields) == 3:
			m.fields = append(m.fields, ":authority "+strings.TrimSpace(value))
		default:
			m.add(name, strings.TrimPrefix(value, " "))
		}
	}
	return m, ""
}

// add adds a header, unless it is only about an HTTP/1.1 connection that ends.
func (m *streamed) add(name, value string) {
	if strings.EqualFold(name, "Connection") && strings.EqualFold(value, "close") {
		return
	}
	m.fields = append(m.fields, strings.ToLower(name)+" "+value)
}

// over is s as it arrives by a protocol: HTTP/2 and 3 join cookies (RFC 9113, 8.2.3).
func (s sent) over(protocol string) sent {
	if protocol != http1 && len(s.Header["Cookie"]) > 1 {
		s.Header["Cookie"] = []string{strings.Join(s.Header["Cookie"], "; ")}
	}
	return s
}
