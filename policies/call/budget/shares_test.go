package budget

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var firstClient, secondClient = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// TestShares: a site has a quarter, a client an eighth, and nobody's address no share of its
// own.
func TestShares(t *testing.T) {
	s := NewShares(800)
	for i, step := range []struct {
		Holder
		n    int64
		want string
	}{
		{Holder{"a", firstClient}, 100, ""},
		{Holder{"a", firstClient}, 1, "client"},
		{Holder{"b", firstClient}, 1, "client"}, // on another site, too
		{Holder{"a", secondClient}, 100, ""},
		{Holder{"a", netip.Addr{}}, 1, "site"},
		{Holder{"b", netip.Addr{}}, 200, ""},
		{Holder{"b", netip.Addr{}}, 1, "site"},
		{Holder{"c", netip.Addr{}}, 200, ""},
		{Holder{"d", netip.Addr{}}, 200, ""},
		{Holder{"e", netip.Addr{}}, 1, "all"},
	} {
		err := s.Try(step.Holder, step.n)
		var full FullError
		if errors.As(err, &full); string(full) != step.want || (err == nil) != (step.want == "") {
			t.Errorf("%d: %v, want %q", i, err, step.want)
		}
	}
	s.Free(Holder{"a", firstClient}, 100)
	if err := s.Try(Holder{"a", firstClient}, 100); err != nil || s.Used() != 800 {
		t.Errorf("%v, %d after one was given back and taken again", err, s.Used())
	}
}

// TestShares_Small: every share is at least 1, and the limit holds.
func TestShares_Small(t *testing.T) {
	for limit, want := range map[int64]int{1: 1, 2: 1, 7: 1, 16: 2, 128: 16} {
		s, got := NewShares(limit), 0
		for s.Try(Holder{"a", firstClient}, 1) == nil {
			got++
		}
		if got != want || s.Of(Holder{Client: firstClient}) != int64(want) {
			t.Errorf("a client has %d of %d, want %d", got, limit, want)
		}
	}
	one := NewShares(1)
	if one.Try(Holder{Site: "a"}, 1) != nil || one.Try(Holder{Site: "b"}, 1) == nil || one.Of(Holder{}) != 1 {
		t.Error("a limit of 1 is not 1")
	}
}

// TestShares_Network: a client of IPv6 has many addresses and one share.
func TestShares_Network(t *testing.T) {
	s := NewShares(8)
	of := func(a string) Holder { return Holder{"a", netip.MustParseAddr(a)} }
	if s.Try(of("2001:db8::1"), 1) != nil || s.Try(of("2001:db8::ffff:2%eth0"), 1) == nil || s.Try(of("2001:db8:0:1::1"), 1) != nil {
		t.Error("not by /64")
	}
	s.Free(of("2001:db8::3"), 1)
	s.Free(of("2001:db8:0:1::1"), 1)
	if s.Try(of("192.0.2.1"), 1) != nil || s.Try(of("::ffff:192.0.2.1"), 1) == nil {
		t.Error("one address, two spellings")
	}
	s.Free(of("192.0.2.1"), 1)
	if s.Used() != 0 || len(s.clients) > 0 || len(s.sites) > 0 {
		t.Errorf("%d, %v, %v are left", s.Used(), s.sites, s.clients)
	}
}

// TestShares_Waits: who has to wait gets room when it is given back, keeps nobody else
// waiting who could have it, and gives up in the end.
func TestShares_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(800)
		a, b := Holder{Site: "a"}, Holder{Site: "b"}
		if err := s.Try(a, 200); err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 3)
		wait := func(ctx context.Context, h Holder, n int64) { results <- s.Wait(ctx, h, n) }
		go wait(t.Context(), a, 200)
		synctest.Wait()
		if err := s.Wait(t.Context(), b, 200); err != nil {
			t.Error("one site waits for another one's share")
		}
		s.Free(a, 200)
		if <-results != nil {
			t.Error("what was given back is not granted")
		}
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		go wait(soon, a, 1)
		if err := <-results; !errors.Is(err, errSiteFull) {
			t.Error("granted what is not there:", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		go wait(gone, a, 1)
		synctest.Wait()
		cancel()
		if <-results == nil || len(s.waiting.lines) > 0 || s.Used() != 400 {
			t.Errorf("a client who has gone: %d wait, %d held", len(s.waiting.lines), s.Used())
		}
	})
}

// TestShares_Order: who waits longest is served first.
func TestShares_Order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := NewShares(4), Holder{Site: "a"}
		_ = s.Try(h, 1)
		served := make(chan int, 10)
		for i := range 10 {
			go func() {
				if s.Wait(t.Context(), h, 1) == nil {
					served <- i
					s.Free(h, 1)
				}
			}()
			synctest.Wait()
		}
		s.Free(h, 1)
		for want := range 10 {
			if got := <-served; got != want {
				t.Errorf("%d is served, want %d", got, want)
			}
		}
	})
}

// TestShares_Race: whatever comes at once, no share is exceeded and all is given back.
func TestShares_Race(t *testing.T) {
	s := NewShares(64)
	var group sync.WaitGroup
	for i := range 64 {
		h := Holder{string(rune('a' + i%8)), netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 16)})}
		group.Go(func() {
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Microsecond)
				if s.Wait(ctx, h, int64(1+i%5)) == nil {
					s.mu.Lock()
					if s.used > 64 || s.sites[h.Site] > 16 || s.clients[h.Client] > 8 {
						t.Error(s.used, s.sites, s.clients)
					}
					s.mu.Unlock()
					s.Free(h, int64(1+i%5))
				}
				cancel()
			}
		})
	}
	group.Wait()
	nothingLeft(t, s)
}
