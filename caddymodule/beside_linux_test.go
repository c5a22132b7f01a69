package caddymodule

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// BenchmarkBeside sends each workload through a whole Caddy to a fast platform, in turns
// without the directive and with it. It reports what the directive adds to a request, in CPU
// time of this process and in allocations, and how much work bare Caddy has beside it: 1 is
// as much.
func BenchmarkBeside(b *testing.B) {
	l := machine.Listener(b)
	go workloads.Serve(l)
	proxy := "\treverse_proxy " + l.Addr().String()
	file := &caddyrun.File{Sites: []caddyrun.Site{{Body: proxy}, {Body: workloads.Directive + proxy}}}
	caddyrun.Start(b, file)
	addresses := file.Addresses()
	for i := range workloads.All {
		w := &workloads.All[i]
		b.Run(w.Name, func(b *testing.B) {
			bare, guarded := newSide(b, addresses[0], w), newSide(b, addresses[1], w)
			platform := newSide(b, l.Addr().String(), w)
			for b.Loop() {
				bare.round(b)
				guarded.round(b)
				platform.round(b)
			}
			added := guarded.time() - bare.time()
			b.ReportMetric(0, "ns/op") // of a round, which says nothing
			b.ReportMetric(float64(bare.time()-platform.time()), "bare-ns")
			b.ReportMetric(float64(added), "added-ns")
			b.ReportMetric(guarded.perRequest(guarded.mallocs)-bare.perRequest(bare.mallocs), "added-allocs")
			b.ReportMetric(guarded.perRequest(guarded.bytes)-bare.perRequest(bare.bytes), "added-B")
			b.ReportMetric(float64(bare.time()-platform.time())/float64(guarded.time()-platform.time()), "bare/guarded")
		})
	}
}

// requestsInRound is short enough for the turns to meet the same noise.
const requestsInRound = 200

// side is a client of one of the servers, and what its rounds have cost.
type side struct {
	client         *workloads.Client
	rounds         []time.Duration // CPU time of a request in each
	mallocs, bytes uint64
}

func newSide(b *testing.B, address string, w *workloads.Workload) *side {
	b.Helper()
	c, err := workloads.NewClient(b.Context(), address, w)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	s := &side{client: c}
	s.round(b) // what is asked once is not counted
	return &side{client: c}
}

func (s *side) round(b *testing.B) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpu(b)
	for range requestsInRound {
		if err := s.client.Do(); err != nil {
			b.Fatal(err)
		}
	}
	s.rounds = append(s.rounds, (cpu(b)-start)/requestsInRound)
	runtime.ReadMemStats(&after)
	s.mallocs += after.Mallocs - before.Mallocs
	s.bytes += after.TotalAlloc - before.TotalAlloc
}

// time returns the median over the rounds.
func (s *side) time() time.Duration {
	sorted := slices.Sorted(slices.Values(s.rounds))
	return sorted[len(sorted)/2]
}

func (s *side) perRequest(n uint64) float64 {
	return float64(n) / float64(len(s.rounds)*requestsInRound)
}

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// parallelSenders is how many clients send at the same time.
const parallelSenders = 16

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
		client, err := workloads.NewClient(b.Context(), p.Address, w)
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
			for range requestsInRound {
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
	c.requests += len(c.clients) * requestsInRound
}

func (c *senders) perRequest() time.Duration { return c.cpu / time.Duration(c.requests) }
