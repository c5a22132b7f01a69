//go:build !race

package gateway

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// BenchmarkBeside sends each workload through a whole Caddy to a fast platform, in turns
// without the directive, with it, with scopes in it, and without it again. It reports what the directive adds to
// a request, in CPU time of this process and in allocations, beside what bare Caddy differs
// from itself.
//
// What is added is measured without sockets and on one processor. What a request costs bare
// Caddy is measured with sockets, for that is what users have.
func BenchmarkBeside(b *testing.B) {
	onLoopback := machine.Listener(b)
	go workloads.Serve(onLoopback)
	address := onLoopback.Addr().String()
	file := startBeside(b, caddyrun.Site{Body: "\treverse_proxy " + address})
	for i := range workloads.All {
		w := &workloads.All[i]
		b.Run(w.Name, func(b *testing.B) {
			inMemory := func(name string) *side { return newSide(b, workloads.MemoryNetwork, name, w) }
			bare, guarded, again := inMemory("bare"), inMemory("guarded"), inMemory("again")
			whole, platformAlone := newSide(b, "tcp", file.Addresses()[len(file.Sites)-1], w), newSide(b, "tcp", address, w)
			turns, scoped := []*side{bare, guarded, again}, guarded
			if w.Pair == "" { // whose credentials would have a scope
				scoped = inMemory("scoped")
				turns = append(turns, scoped)
			}
			for b.Loop() {
				whole.round(b)
				platformAlone.round(b)
				processors := runtime.GOMAXPROCS(1)
				for _, s := range turns {
					s.round(b)
				}
				runtime.GOMAXPROCS(processors)
				turns = append(turns[1:], turns[0])
			}
			added, cost := guarded.time()-bare.time(), whole.time()-platformAlone.time()
			b.ReportMetric(0, "ns/op") // of a round, which says nothing
			b.ReportMetric(float64(cost), "bare-ns")
			b.ReportMetric(float64(added), "added-ns")
			b.ReportMetric(float64(again.time()-bare.time()), "noise-ns")
			b.ReportMetric(guarded.perRequest(guarded.mallocs)-bare.perRequest(bare.mallocs), "added-allocs")
			b.ReportMetric(guarded.perRequest(guarded.bytes)-bare.perRequest(bare.bytes), "added-B")
			b.ReportMetric(float64(cost)/float64(cost+added), "bare/guarded")
			b.ReportMetric(float64(cost+added)/float64(cost+scoped.time()-bare.time()), "guarded/scoped")
		})
	}
}

// startBeside starts a Caddy with sites in memory, "bare", "guarded", "scoped" and "again", and with others.
func startBeside(tb testing.TB, others ...caddyrun.Site) *caddyrun.File {
	tb.Helper()
	const platform = "platform"
	inMemory := workloads.ListenMemory(platform)
	tb.Cleanup(func() { _ = inMemory.Close() })
	go workloads.Serve(inMemory)
	bind := func(name, body string) caddyrun.Site {
		return caddyrun.Site{Body: body + workloads.ProxyTo(platform), Bind: workloads.MemoryNetwork + "/" + name}
	}
	file := &caddyrun.File{Sites: append([]caddyrun.Site{
		bind("bare", ""), bind("guarded", workloads.Directive), bind("scoped", scopedDirective), bind("again", ""),
	}, others...)}
	caddyrun.Start(tb, file)
	return file
}

// scopedDirective is that of the workloads with a scope of each kind, of which none sends a credential.
var scopedDirective = strings.Replace(workloads.Directive, "{\n", "{\nscope key {\nkey 0000000\n}\nscope login {\npassword "+adminUUID+"\nuser maria\n}\n", 1)

// mostAllocations are how many allocations the directive may add to a request of each workload. Two are
// Caddy's own, for one directive more, and three come where the variables of a request outgrow its map.
var mostAllocations = map[string]float64{
	"page": 2, "anonymous call": 2, "rest_route": 2, "consent post": 3, "identified": 5, "order update": 11,
}

// TestBeside_Allocations holds what the directive adds to a request in allocations, whole Caddy
// included.
func TestBeside_Allocations(t *testing.T) {
	startBeside(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what net/http allocates depends on what comes first
	for i := range workloads.All {
		w := &workloads.All[i]
		t.Run(w.Name, func(t *testing.T) {
			bare, guarded := newSide(t, workloads.MemoryNetwork, "bare", w), newSide(t, workloads.MemoryNetwork, "guarded", w)
			bare.round(t)
			guarded.round(t)
			added := guarded.perRequest(guarded.mallocs) - bare.perRequest(bare.mallocs)
			if most, known := mostAllocations[w.Name]; !known || added > most+0.1 { // what runs beside allocates, too
				t.Errorf("%.3f allocations are added, want %v at most", added, most)
			}
			if w.Pair != "" { // whose credentials would have a scope
				return
			}
			scoped := newSide(t, workloads.MemoryNetwork, "scoped", w)
			scoped.round(t)
			if more := scoped.perRequest(scoped.mallocs) - guarded.perRequest(guarded.mallocs); more > 0.1 {
				t.Errorf("%.3f allocations more with scopes", more)
			}
		})
	}
}

// requestsInRound is short enough for the turns to meet the same noise, and long enough for
// what follows a collection of garbage not to count.
const requestsInRound = 1000

// side is a client of one of the servers, and what its rounds have cost.
type side struct {
	client         *workloads.Client
	rounds         []time.Duration // CPU time of a request in each
	mallocs, bytes uint64
}

func newSide(tb testing.TB, network, address string, w *workloads.Workload) *side {
	tb.Helper()
	c, err := workloads.NewClient(tb.Context(), network, address, w)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	s := &side{client: c}
	s.round(tb) // what is asked once is not counted
	return &side{client: c}
}

func (s *side) round(tb testing.TB) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.GC() // here, so that none falls into the round of one side alone
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.ReadMemStats(&before)
	start := cpu(tb)
	for range requestsInRound {
		if err := s.client.Do(); err != nil {
			tb.Fatal(err)
		}
	}
	s.rounds = append(s.rounds, (cpu(tb)-start)/requestsInRound)
	runtime.ReadMemStats(&after)
	s.mallocs += after.Mallocs - before.Mallocs
	s.bytes += after.TotalAlloc - before.TotalAlloc
}

// time returns the lower quartile over the rounds, for noise only adds.
func (s *side) time() time.Duration {
	sorted := slices.Sorted(slices.Values(s.rounds))
	return sorted[len(sorted)/4]
}

func (s *side) perRequest(n uint64) float64 {
	return float64(n) / float64(len(s.rounds)*requestsInRound)
}

// cpu returns the CPU time that this process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// parallelSenders is how many clients send at the same time, and requestsOfSender how many
// requests each sends in a round.
const (
	parallelSenders  = 16
	requestsOfSender = 200
)

// BenchmarkBeside_Load is BenchmarkBeside as a load test: two Caddys as programs of their
// own, and several clients. It reports the CPU time of the programs.
func BenchmarkBeside_Load(b *testing.B) {
	l := machine.Listener(b)
	go workloads.Serve(l)
	proxy := "\treverse_proxy " + l.Addr().String()
	programs := [...]*caddyrun.Process{
		caddyrun.StartProcess(b, "", proxy), caddyrun.StartProcess(b, "", workloads.Directive+proxy),
	}
	for i := range workloads.All {
		w := &workloads.All[i]
		b.Run(w.Name, func(b *testing.B) {
			var all [len(programs)]senders
			for i, p := range programs {
				all[i] = newSenders(b, p, w)
			}
			for b.Loop() {
				for i := range all {
					all[i].round(b)
				}
			}
			bare, guarded := all[0].perRequest(), all[1].perRequest()
			b.ReportMetric(0, "ns/op") // of a round, which says nothing
			b.ReportMetric(float64(bare), "bare-ns")
			b.ReportMetric(float64(guarded-bare), "added-ns")
			b.ReportMetric(float64(bare)/float64(guarded), "bare/guarded")
		})
	}
}

// senders are the clients of one program, and the CPU time that they have cost.
type senders struct {
	program  *caddyrun.Process
	clients  []*workloads.Client
	cpu      time.Duration
	requests int
}

func newSenders(b *testing.B, p *caddyrun.Process, w *workloads.Workload) senders {
	b.Helper()
	c := senders{program: p}
	for range parallelSenders {
		client, err := workloads.NewClient(b.Context(), "tcp", p.Address, w)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = client.Close() })
		c.clients = append(c.clients, client)
	}
	c.round(b) // what is asked once is not counted
	c.cpu, c.requests = 0, 0
	return c
}

func (c *senders) round(b *testing.B) {
	b.Helper()
	before, err := machine.CPU(c.program.PID())
	if err != nil {
		b.Fatal(err)
	}
	var group errgroup.Group
	for _, client := range c.clients {
		group.Go(func() error {
			for range requestsOfSender {
				if err := client.Do(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	after, err := machine.CPU(c.program.PID())
	if err != nil {
		b.Fatal(err)
	}
	c.cpu += after - before
	c.requests += len(c.clients) * requestsOfSender
}

func (c *senders) perRequest() time.Duration { return c.cpu / time.Duration(c.requests) }
