//go:build !race

package gateway

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// BenchmarkDearest makes a request for every unit in every place, and reports the dearest of
// each kind: what it holds more than bare Caddy by byte that was sent (of the answer, where
// that is what is large), and what it costs in CPU time as a multiple of bare Caddy with a
// proxy for the same bytes.
func BenchmarkDearest(b *testing.B) {
	g := provisioned(b, dearestSite)
	var answer []byte
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	defer behind.Close()
	platform := behind.Listener.Addr().String()
	file := &caddyrun.File{Sites: []caddyrun.Site{{Body: "\treverse_proxy " + platform}}}
	caddyrun.Start(b, file)
	for _, kind := range grammar.Kinds {
		b.Run(kind, func(b *testing.B) {
			var spent, rank, held float64
			var costs, holds *grammar.Repetition
			for b.Loop() {
				for _, r := range grammar.Repetitions(dearestDoors) {
					if r.Kind != kind || !taken(r) {
						continue
					}
					size := float64(len(r.Wire("a")) + len(r.Answer))
					if took := float64(added(b, g, r)); costs == nil || took/roughly(size) > rank {
						spent, rank, costs = took, took/roughly(size), r
					}
					if live, _ := more(b, g, r); holds == nil || float64(live)/size > held {
						held, holds = float64(live)/size, r
					}
				}
			}
			answer = []byte(costs.Answer)
			wire := costs.Wire("a")
			bare := float64(sockets(b, file.Addresses()[0], wire) - sockets(b, platform, wire))
			b.Logf("CPU: %s\nheld: %s", costs, holds)
			b.ReportMetric(0, "ns/op") // of the search, which says nothing
			b.ReportMetric(spent/1e6, "added-ms")
			b.ReportMetric(float64(len(wire)+len(answer))/1024, "KiB")
			b.ReportMetric((spent+bare)/bare, "guarded/bare")
			b.ReportMetric(held, "held-B/B")
		})
	}
}

// roughly is about what bare Caddy takes for a request of size bytes, in nanoseconds.
func roughly(size float64) float64 { return 100_000 + size }

// attempts are how often a request is measured; noise only adds.
const attempts = 5

// added returns the CPU time that the gateway takes for a request.
func added(b *testing.B, g *Gateway, repeated *grammar.Repetition) time.Duration {
	b.Helper()
	wire, answer := string(repeated.Wire("a")), []byte(repeated.Answer)
	behind := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return err
		}
		_, err := w.Write(answer)
		return err
	})
	least := time.Hour
	for range attempts {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
		if err != nil {
			b.Fatal(err)
		}
		w := silent{http.Header{}}
		r.RemoteAddr = "192.0.2.1:1024"
		r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
		start := cpu(b)
		_ = g.ServeHTTP(w, r, behind) // whatever it comes to
		least = min(least, cpu(b)-start)
	}
	return least
}

// sockets returns the CPU time of this process for a request to address, the client's and the
// platform's included.
func sockets(b *testing.B, address string, wire []byte) time.Duration {
	b.Helper()
	least := time.Hour
	for range 4 * attempts {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(time.Millisecond) // the server has begun to wait
		start := cpu(b)
		_, _ = io.Copy(conn, bytes.NewReader(wire)) // it may have its answer already
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		least = min(least, cpu(b)-start)
		_ = conn.Close()
	}
	return least
}
