package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	scheduler "runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
)

// dearestSite is a site with the defaults, and with all that rewrites what anybody may ask for.
const dearestSite = `{"platform":"wordpress","identity":{"max_in_flight":1000},"policies":{"redact":{"authors":true},"abilities":{"audit":"hashes","rules":[{"pattern":"shop/erase","deny":true}]}}}`

// dearestDoors are where anybody may go.
var dearestDoors = grammar.Doors{
	"page":    {"/shop/"},
	"call":    {"/wp-json/wc/v3/orders/5", "/wp-json/wc/store/v1/checkout?_embed", "/wp-json/wp-abilities/v1/abilities/shop/query/run"},
	"form":    {"/"},
	"batch":   {"/wp-json/batch/v1", "/wp-json/wc/store/v1/batch", "/wp-json/wc/v3/orders/batch", "/wp-json/wc/v3/orders/5/refunds/batch"},
	"message": {agentsDoor},
	"answer":  {"/wp-json/wp/v2/posts?_embed"},
}

// exchanges are how many requests are held at the same time, so that what differs from one
// measurement to the next does not count.
const exchanges = 16

// stalled is a site whose platform takes a request and does not answer until it is let. To an
// answer of the generator's it is the client that does not read.
type stalled struct {
	wire   string
	answer []byte
	let    chan struct{}
}

// ServeHTTP implements caddyhttp.Handler, as the platform.
func (s *stalled) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	question, _ := varsOf(r)[questions.Var].(bool)
	if len(s.answer) > 0 && !question {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(s.answer)
		return err
	}
	<-s.let
	return nil
}

// unreadWriter is the connection of a client that reads nothing.
type unreadWriter struct {
	header http.Header
	let    chan struct{}
}

func (w unreadWriter) Header() http.Header         { return w.header }
func (w unreadWriter) WriteHeader(int)             {}
func (w unreadWriter) Write(b []byte) (int, error) { <-w.let; return len(b), nil }

// request is the request as Caddy hands it to its handlers, from an address of its own.
func (s *stalled) request(tb testing.TB, i int) (http.ResponseWriter, *http.Request) {
	tb.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(s.wire)))
	if err != nil {
		tb.Fatal(err)
	}
	w := unreadWriter{http.Header{}, s.let}
	r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1024", i+1)
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, fmt.Sprintf("192.0.2.%d", i+1))
	return w, r
}

// taken tells whether an HTTP server takes a request at all.
func taken(r *grammar.Repetition) bool {
	_, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(r.Wire("a"))))
	return err == nil
}

// held returns the live heap of an exchange while nobody goes on, and what the shares count of
// it. Every exchange must come to its end afterwards.
func (s *stalled) held(tb testing.TB, handler caddyhttp.Handler, counted func() int64) (live, shares int64) {
	tb.Helper()
	s.let = make(chan struct{})
	before, counts := heap.Live(), counted()
	var group sync.WaitGroup
	for i := range exchanges {
		w, r := s.request(tb, i)
		group.Go(func() {
			_ = handler.ServeHTTP(w, r) // whatever it comes to
			runtime.KeepAlive(r)        // as the server does
		})
	}
	awaitIdle(tb)
	live, shares = (heap.Live()-before)/exchanges, (counted()-counts)/exchanges
	close(s.let)
	group.Wait()
	return live, shares
}

// awaitIdle waits until all other goroutines wait.
func awaitIdle(tb testing.TB) {
	tb.Helper()
	sample := []scheduler.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	for quiet, until := 0, time.Now().Add(time.Minute); quiet < 3; {
		time.Sleep(time.Millisecond)
		scheduler.Read(sample)
		if quiet++; sample[0].Value.Uint64() > 1 || sample[1].Value.Uint64() > 0 {
			quiet = 0
		}
		if time.Now().After(until) {
			tb.Fatal("the exchanges do not come to rest")
		}
	}
}

// more returns how much more of an exchange the gateway holds than bare Caddy does, and what
// its shares count.
func more(tb testing.TB, g *Gateway, repeated *grammar.Repetition) (live, shares int64) {
	tb.Helper()
	s := &stalled{wire: string(repeated.Wire("a")), answer: []byte(repeated.Answer)}
	counted := func() int64 { return g.engine.memory.Bytes() }
	bare, _ := s.held(tb, s, counted)
	live, shares = s.held(tb, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return g.ServeHTTP(w, r, s) }), counted)
	if left := counted(); left != 0 {
		tb.Errorf("%d bytes are never given back", left)
	}
	return live - bare, shares
}
