package questions

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestReadings: a thousand sites that start at once are read two at a time, and no
// goroutine is left of it.
func TestReadings(t *testing.T) {
	const sites = 1000
	goroutines := runtime.NumGoroutine()
	var running, most, done atomic.Int32
	slow := func(context.Context) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(50 * time.Microsecond)
		running.Add(-1)
		done.Add(1)
	}
	var all []*Reader
	for range sites {
		d := new(Reader)
		d.Open()
		d.pending, d.ended = slow, make(chan struct{})
		d.busy.Store(true)
		all = append(all, d)
	}
	hold := make(chan struct{})
	for i := range readingsAtOnce {
		all[i].pending = func(context.Context) { <-hold }
	}
	for _, d := range all {
		readings.add(d)
	}
	wait.For(t, 30*time.Second, "two readings", func() bool {
		readings.mu.Lock()
		defer readings.mu.Unlock()
		return len(readings.waiting) == sites-readingsAtOnce
	})
	if n := runtime.NumGoroutine(); n > goroutines+readingsAtOnce+5 {
		t.Errorf("%d goroutines wait, there were %d", n, goroutines)
	}
	all[sites-1].Stop() // a reload while it waits
	close(hold)
	wait.For(t, 30*time.Second, "all readings", func() bool { return done.Load() == sites-readingsAtOnce-1 })
	wait.For(t, 30*time.Second, "no goroutine more", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	if most.Load() > readingsAtOnce {
		t.Errorf("%d readings at once", most.Load())
	}
	for _, d := range all[:sites-1] {
		if d.Stop(); d.Busy() {
			t.Error("a site stays busy")
		}
	}
}
