package redisstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestFailures_Deadline: no call waits for a Redis that hangs, not even a crowd that has
// used up all connections.
func TestFailures_Deadline(t *testing.T) {
	server := redisrun.Start(t)
	between := redisrun.StartLag(t, server.Addr)
	o := resolved(t, Options{Addresses: []string{between.Addr}})
	s := New(o, zap.NewNop)
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Set(t.Context(), "k", "v", time.Hour); err != nil {
		t.Fatal(err)
	}
	between.Set(time.Minute)
	defer between.Cut()
	var wg sync.WaitGroup
	start := time.Now()
	for i := range 200 {
		wg.Go(func() {
			if _, err := s.SetOnce(t.Context(), fmt.Sprint(i), time.Hour); err == nil || !IsTimeout(err) {
				t.Errorf("SetOnce: %v", err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the crowd waited %s", took)
	}
	if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, ErrPaused) {
		t.Errorf("Get: %v, want none tried", err)
	}
}

// TestFailures_UnderLoad: a server is killed and comes back with all that it has
// confirmed. No signature is accepted twice.
func TestFailures_UnderLoad(t *testing.T) {
	server := redisrun.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	s := Options{Addresses: []string{server.Addr}}
	stores := []*Store{openRedis(t, s), openRedis(t, s)}
	var firsts [2000]atomic.Int32
	var failed, asked atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker * 100; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := i % len(firsts)
				asked.Add(1)
				first, err := stores[worker%2].SetOnce(t.Context(), fmt.Sprint(key), time.Hour)
				if err != nil {
					failed.Add(1)
				} else if first {
					firsts[key].Add(1)
				}
			}
		})
	}
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		server.Kill()
		time.Sleep(200 * time.Millisecond)
		server.Start()
	}
	time.Sleep(300 * time.Millisecond)
	close(stop)
	wg.Wait()
	for key := range firsts {
		if n := firsts[key].Load(); n > 1 {
			t.Errorf("%d were the first with %d", n, key)
		}
	}
	if failed.Load() == 0 || failed.Load() == asked.Load() {
		t.Errorf("%d of %d calls failed", failed.Load(), asked.Load())
	}
	for _, store := range stores {
		wait.For(t, busy, "the store is used again", func() bool {
			_, err := store.SetOnce(t.Context(), "after", time.Hour)
			return err == nil
		})
	}
}
