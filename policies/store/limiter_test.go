package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// drain takes all that is left under key.
func drain(l *Limiter, key string) (n int) {
	for l.Allow(key) {
		n++
	}
	return n
}

// TestLimiter_Refund: what is given back can be taken again, for the same key, and never
// more than the quota, however long it was out.
func TestLimiter_Refund(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := NewLimiter(Rate{Count: 10, Per: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			taken, refunded int
			out             time.Duration // between the two
			left            int
		}{
			"nothing":          {3, 0, 0, 7},
			"one":              {3, 1, 0, 8},
			"all":              {10, 10, 0, 10},
			"late":             {3, 3, time.Hour, 10},
			"some came back":   {10, 5, 12 * time.Second, 7},
			"came back, later": {1, 1, 6 * time.Second, 10},
		} {
			for range c.taken {
				l.Allow(name)
			}
			time.Sleep(c.out)
			for range c.refunded {
				l.Refund(name)
			}
			if n := drain(l, name); n != c.left {
				t.Errorf("%s: %d are left, want %d", name, n, c.left)
			}
		}
	})
}

// TestLimiter_RefundUnderContention: nothing is lost and nothing is won where many take and
// give back at once.
func TestLimiter_RefundUnderContention(t *testing.T) {
	l, err := NewLimiter(Rate{Count: 500, Per: 1000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var out, most atomic.Int64
	for range 50 {
		group.Go(func() {
			for range 200 {
				if !l.Allow("a") {
					t.Error("fifty at once exceed 500")
					continue
				}
				if n := out.Add(1); n > most.Load() {
					most.Store(n)
				}
				out.Add(-1)
				l.Refund("a")
			}
		})
	}
	group.Wait()
	if n := drain(l, "a"); n != 500 {
		t.Errorf("%d are left of 500, %d were out at once", n, most.Load())
	}
}
