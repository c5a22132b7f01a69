package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// TestMeasureAll: a short run in every weather answers every call.
func TestMeasureAll(t *testing.T) {
	s := settings{slice: 400 * time.Millisecond, slices: 2, senders: 16, rate: 100, flood: 20, refused: 50, warm: 100 * time.Millisecond}
	table, err := s.measureAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := table.String()
	if !strings.Contains(text, "refusals: ") {
		t.Errorf("no refusals in\n%s", text)
	}
	for i, w := range weathers {
		if !strings.Contains(text, w.name) {
			t.Errorf("no %s in\n%s", w.name, text)
		}
		for _, o := range []outcome{all(table[i].bare), all(table[i].guarded)} {
			if len(o.took) != 80 || o.errors > 0 {
				t.Errorf("%s: %d requests, %d errors: %v", w.name, len(o.took), o.errors, o.first)
			}
		}
	}
}

// TestCalibrate finds a rate.
func TestCalibrate(t *testing.T) {
	s := settings{warm: 50 * time.Millisecond, only: "calm", slice: 100 * time.Millisecond, slices: 1, senders: 4, flood: 1, refused: 1}
	if _, err := s.measureAll(t.Context()); err != nil || s.rate < 1 {
		t.Errorf("%.1f requests a second, %v", s.rate, err)
	}
}

func TestRun_Flags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--slice", "0s"}, {"--slices", "0"}, {"--rate", "-1"}, {"--senders", "0"}, {"--flood", "0"}, {"--refused", "0"}, {"--only", "rain"}, {"more"}, {"--unknown"}} {
		if err := run(t.Context(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// startServer serves with a handler that is told the number of the request.
func startServer(t *testing.T, handle func(n int64, w http.ResponseWriter, r *http.Request)) (address string) {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(requests.Add(1)-1, w, r) }))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// sent sends n requests at a constant rate.
func sent(t *testing.T, address string, senders int, rate float64, n int64) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := send(ctx, address, senders, func(start time.Time) schedule { return constant(start, rate, n) }, newMix(address, 0).request)
	if err != nil || int64(len(got.took)) != n {
		t.Fatalf("%d requests: %v", len(got.took), err)
	}
	return got
}

// TestSend_Stall: a server that stands still for a while shows in the latency of each request that was due
// meanwhile, also where the client could not send it.
func TestSend_Stall(t *testing.T) {
	t.Parallel()
	const stall = 300 * time.Millisecond
	address := startServer(t, func(n int64, _ http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			time.Sleep(stall)
		}
	})
	got := sent(t, address, 1, 100, 20)
	for k := range int64(20) { // in the order in which they were due
		if least := stall - time.Duration(k)*10*time.Millisecond; got.took[k] < least {
			t.Errorf("request %d took %s, it waited for at least %s", k, got.took[k], least)
		}
	}
}

// TestSend_Held: other senders go on while one waits.
func TestSend_Held(t *testing.T) {
	t.Parallel()
	const n = 20
	var others atomic.Int64
	let := make(chan struct{})
	address := startServer(t, func(i int64, _ http.ResponseWriter, r *http.Request) {
		if i > 0 {
			if others.Add(1) == n-1 {
				close(let)
			}
			return
		}
		select {
		case <-let:
		case <-r.Context().Done():
			t.Error("the other requests were not sent")
		}
	})
	sent(t, address, 2, 1000, n)
}

// TestSend_Errors: a connection that the server ends is replaced; another answer than 200 and none at
// all are errors.
func TestSend_Errors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		handle func(int64, http.ResponseWriter, *http.Request)
		errors int
	}{
		"ended after each answer": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, 0},
		"refused": {func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n == 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}, 1},
		"never answered": {func(int64, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sent(t, startServer(t, tt.handle), 2, 1000, 10)
			if got.errors != tt.errors || (got.first != nil) != (tt.errors > 0) {
				t.Errorf("%d errors, %v", got.errors, got.first)
			}
		})
	}
}

// TestConstant: requests are due when the rate says, whenever they are taken.
func TestConstant(t *testing.T) {
	t.Parallel()
	start := time.Now()
	next := constant(start, 50, 3)
	for k := range int64(4) {
		got, due, more := next()
		if got != k || !due.Equal(start.Add(time.Duration(k)*20*time.Millisecond)) || more != (k < 3) {
			t.Errorf("%d: %d, %s, %t", k, got, due.Sub(start), more)
		}
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var o outcome
	if got := o.percentile(0.5); got != 0 {
		t.Errorf("%s without a request", got)
	}
	for i := range 1000 {
		o.took = append(o.took, time.Duration((i*7)%1000+1))
	}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := o.percentile(share); got != want {
			t.Errorf("%g: %d, want %d", share, got, want)
		}
	}
}

// TestJudge: errors count where each call must be answered, and ratios where the best slice is too slow.
func TestJudge(t *testing.T) {
	t.Parallel()
	of := func(ms ...int) (slices []outcome) {
		for _, m := range ms {
			slices = append(slices, outcome{took: []time.Duration{time.Duration(m) * time.Millisecond}})
		}
		return slices
	}
	failed := []outcome{{errors: 1, first: errors.New("no")}}
	for name, tt := range map[string]struct {
		row
		fails bool
	}{
		"equal":               {row{bare: of(2, 3), guarded: of(2, 3)}, false},
		"one slice is slow":   {row{bare: of(2, 3), guarded: of(900, 3)}, false},
		"all slices are slow": {row{bare: of(2, 3), guarded: of(900, 104)}, true},
		"queues":              {row{bare: of(2, 3), guarded: of(90, 80)}, false},
		"a slow machine":      {row{bare: of(200, 300), guarded: of(900, 800)}, false},
		"an error":            {row{weather: weather{strict: true}, bare: of(2), guarded: failed}, true},
		"one of bare Caddy":   {row{weather: weather{strict: true}, bare: failed, guarded: of(0)}, true},
		"one that may be":     {row{bare: of(2), guarded: failed}, false},
	} {
		if err := (results{tt.row}).judge(); (err != nil) != tt.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusals: what calls take that are answered counts for none that are refused.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := row{calm: outcome{took: make([]time.Duration, 10), cpu: time.Second}}
	for range 2 {
		r.guarded = append(r.guarded, outcome{took: make([]time.Duration, 20), refused: 500, cpu: 3 * time.Second})
	}
	if got, ok := r.refusals(); got != 500 || !ok { // 1000 in 2 of 6 s
		t.Errorf("%f a second and processor, %t", got, ok)
	}
	for _, cpu := range []time.Duration{1500, 2000, 2300} { // of 2 s that those take which are answered
		r.guarded[0].cpu, r.guarded[1].cpu = cpu*time.Millisecond, cpu*time.Millisecond
		if got, ok := r.refusals(); ok {
			t.Errorf("%f a second and processor, by %d ms", got, cpu)
		}
	}
}

// TestMix: all workloads come in turns, and callers and orders that are asked for come once.
func TestMix(t *testing.T) {
	t.Parallel()
	m := newMix("shop", 10)
	seen := map[string]int{}
	for k := range int64(600) {
		seen[string(m.request(k))]++
	}
	for i := range workloads.All {
		if n := seen[string(workloads.All[i].Request("shop"))]; n < 80 {
			t.Errorf("%s: %d times", workloads.All[i].Name, n)
		}
	}
	kinds := map[string]int{}
	for request, n := range seen {
		if strings.Contains(request, "X-Forwarded-For") {
			kinds[request[:4]] += n
		}
	}
	if want := "map[GET :30 PUT :30]"; fmt.Sprint(kinds) != want || len(seen) < 60 {
		t.Errorf("%v, %d requests, want %s", kinds, len(seen), want)
	}
}

// TestFlood: each of the dearest requests is sent whole, from another address.
func TestFlood(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var came atomic.Int64
	address := startServer(t, func(_ int64, _ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if ctx.Err() != nil { // the flood has ended, in the middle of a request
			return
		}
		if err != nil || len(body)+len(r.URL.RawQuery) < 15_000 || !strings.HasPrefix(r.RemoteAddr, floodFrom+":") || r.Header.Get("X-Forwarded-For") != floodClient {
			t.Errorf("%s from %s: %d bytes, %v", r.URL, r.RemoteAddr, len(body), err)
		}
		if came.Add(1) == 10 {
			cancel()
		}
	})
	all := floodRequests(address)
	if len(all) != len(dearest) {
		t.Errorf("%d requests of %d kinds", len(all), len(dearest))
	}
	flood(ctx, address, all, 1000) // ends when they have come
	if came.Load() < 10 {
		t.Errorf("%d requests came", came.Load())
	}
}
