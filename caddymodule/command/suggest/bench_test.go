package suggest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// randomLog is a log of n records of random clients and routes, as fast as somebody reads it.
type randomLog struct {
	n      int
	random *rand.Rand
	routes int
	line   []byte
}

func (l *randomLog) Read(p []byte) (int, error) {
	if len(l.line) == 0 {
		if l.n == 0 {
			return 0, io.EOF
		}
		l.n--
		l.line = l.next()
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}

func (l *randomLog) next() []byte {
	route := fmt.Sprintf("/plugin-%d/v1/items/:id", l.random.IntN(l.routes))
	if l.random.IntN(3) == 0 {
		route = "unknown"
	}
	return fmt.Appendf(nil, `{"level":"info","ts":%d.25,"msg":"request would be refused","v":1,"request_id":"0","site":"shop-%d.example.com","host":"shop.example.com","base":"",`+
		`"policy":"access","code":"rest_not_logged_in","outcome":"would_refuse","rule":"login_only","at":"Caddyfile:3","from":"none","why":"A rule asks for a login.",`+
		`"method":"GET","form":"pretty","route":%q,"client_ip":"2001:%x:%x:%x::1","caller":"anonymous","remedy":"allow anyone GET %s"}`+"\n",
		1767225600+l.random.IntN(86400), l.random.IntN(20), route, l.random.IntN(1<<16), l.random.IntN(1<<16), l.random.IntN(1<<16), route)
}

// live returns the bytes that a Collector holds after n records.
func live(tb testing.TB, n int) int64 {
	tb.Helper()
	wordpress, _ := platforms.ByName("wordpress")
	c, err := suggest.New(suggest.Options{Platform: wordpress})
	if err != nil {
		tb.Fatal(err)
	}
	for _, take := range []func(*records.Record) error{c.Learn, c.Add} {
		log := &randomLog{n: n, random: rand.New(rand.NewPCG(1, 2)), routes: 1000}
		if counts, err := records.Each(log, n, records.Visit{Record: take}); err != nil || counts.Records != n {
			tb.Fatalf("%+v, %v", counts, err)
		}
	}
	bytes := heap.Live()
	runtime.KeepAlive(c)
	return bytes
}

// maxLive is what the heap may hold while random clients call 20,000 routes. It includes the
// catalogue. TestClients_Bounded has the part that grows with the clients.
const maxLive = 64 << 20

// TestCollector_Bounded: the heap stays under its bound.
func TestCollector_Bounded(t *testing.T) {
	if bytes := live(t, 30_000); bytes > maxLive {
		t.Errorf("%d MiB", bytes>>20)
	}
}

// BenchmarkCollector says what a record costs and, as live-MB, what is held in the end. Ten
// million records: -bench Collector -benchtime 10000000x.
func BenchmarkCollector(b *testing.B) {
	b.ReportAllocs()
	b.ReportMetric(float64(live(b, b.N))/(1<<20), "live-MB")
}
