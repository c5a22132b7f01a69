package livetest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// reading is what is said of one request.
type reading struct{ kind, route, method, parts string }

func readingOf(kind string, c *call.Call) reading {
	r := reading{kind: kind}
	if kind == "call" || kind == "batch" {
		r.route, r.method = c.Route, c.Method
		for _, p := range c.Parts {
			r.parts += p.Method + " " + p.Route + "\n"
		}
	}
	return r
}

// chain is Caddy's own server with the directive in it, without its listener.
type chain struct {
	server *caddyhttp.Server
	last   atomic.Int64
}

// newChain runs a site where nothing but the reading decides.
func newChain(tb testing.TB) *chain {
	tb.Helper()
	run(tb, "", block{Body: "\trestwarden wordpress {\n\t\trecommended off\n\t\torder_type off\n\t\tcheckout_total off\n\t\trefund_totals off\n\t}\n\twitness\n\trespond \"passed\" 200\n"})
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range app.(*caddyhttp.App).Servers {
		return &chain{server: s}
	}
	tb.Fatal("no server")
	return nil
}

// read sends raw through the chain and returns what was judged of its first
// request; kind is "refused" where nothing was passed on.
func (c *chain) read(raw []byte) reading {
	client := fmt.Sprintf("192.0.2.1:%d", c.last.Add(1))
	conn := &memoryConn{request: bytes.NewReader(raw), client: memoryAddr(client), closed: make(chan struct{})}
	var served atomic.Bool
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !served.Swap(true) {
				c.server.ServeHTTP(w, r)
			}
		}),
	}
	_ = server.Serve(&memoryListener{conn: conn})
	for _, j := range ledger.take(connection(client, conn.LocalAddr())) {
		return readingOf(j.kind, j.call)
	}
	return reading{kind: "refused"}
}

// memoryListener accepts one connection and ends with it.
type memoryListener struct {
	conn     *memoryConn
	accepted bool
}

func (l *memoryListener) Accept() (net.Conn, error) {
	if l.accepted {
		<-l.conn.closed
		return nil, net.ErrClosed
	}
	l.accepted = true
	return l.conn, nil
}

func (l *memoryListener) Close() error   { return nil }
func (l *memoryListener) Addr() net.Addr { return memoryAddr("192.0.2.2:80") }

type memoryAddr string

func (memoryAddr) Network() string  { return "tcp" }
func (a memoryAddr) String() string { return string(a) }

// memoryConn is a client that has sent everything and reads nothing.
type memoryConn struct {
	client  memoryAddr
	mu      sync.Mutex
	request *bytes.Reader
	once    sync.Once
	closed  chan struct{}
}

func (c *memoryConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request.Read(p)
}

func (c *memoryConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *memoryConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *memoryConn) LocalAddr() net.Addr              { return memoryAddr("192.0.2.2:80") }
func (c *memoryConn) RemoteAddr() net.Addr             { return c.client }
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// rawReader reads as classify does.
func rawReader() *call.Reader {
	p, _ := platforms.ByName("wordpress")
	return policies.NewReader(call.Config{Platform: p})
}

// agree compares both readings of raw.
func agree(t *testing.T, c *chain, rd *call.Reader, raw []byte) {
	t.Helper()
	k := rawrequest.Read(rd, raw)
	defer k.Close()
	if bytes.HasPrefix(raw, []byte("OPTIONS * ")) { // answered by Go's server itself, as a page without content
		return
	}
	if said, seen := readingOf(k.Kind.String(), k), c.read(raw); said != seen {
		t.Errorf("rawrequest says %+v (%v), the chain sees %+v\n%.600q", said, k.Refusal, seen, raw)
	}
}

// TestRaw_Agrees: what rawrequest, and so classify, says of a request is what the
// running chain sees.
func TestRaw_Agrees(t *testing.T) {
	c, rd := newChain(t), rawReader()
	for _, r := range recordings.Requests(t) {
		agree(t, c, rd, r.Raw)
	}
	for _, f := range frames {
		agree(t, c, rd, f.raw)
	}
}

// FuzzRaw is TestRaw_Agrees for any bytes.
func FuzzRaw(f *testing.F) {
	families, seeds := map[string]int{}, 0
	for _, r := range recordings.Requests(f) {
		family := r.Family()
		if families[family]++; families[family] <= 4 && len(r.Raw) < 2000 {
			f.Add(r.Raw)
			seeds++
		}
	}
	for _, frame := range frames {
		f.Add(frame.raw)
	}
	if seeds < 150 {
		f.Fatalf("%d seeds", seeds)
	}
	c, rd := newChain(f), rawReader()
	f.Fuzz(func(t *testing.T, raw []byte) { agree(t, c, rd, raw) })
}
