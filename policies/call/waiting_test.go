package call

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

// ways are how 16,000 waiters can stand: one client's, many clients' of one site, and those of many
// sites, with bodies of one size or of all.
var ways = map[string]func(i int) (Holder, int64){
	"one client":   func(int) (Holder, int64) { return Holder{"a", someone}, 64 },
	"one site":     func(i int) (Holder, int64) { return Holder{"a", client(i)}, 64 },
	"proxied":      func(int) (Holder, int64) { return Holder{Site: "a"}, 64 },
	"many sites":   func(i int) (Holder, int64) { return Holder{fmt.Sprint(i), client(i)}, 64 },
	"of all sizes": func(i int) (Holder, int64) { return Holder{fmt.Sprint(i % 5), client(i % 100)}, 1 + int64(i%128) },
}

func client(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}) }

// crowded returns shares of 1024 that others hold, and n who wait, and gives back all that was held.
func crowded(tb testing.TB, way func(i int) (Holder, int64), n int) (s *Shares, waiters []*waiter, free func()) {
	tb.Helper()
	s = NewShares(1024)
	held := map[Holder]int64{}
	for i := range n { // fill what they would get
		h, _ := way(i)
		for s.Try(h, 1) == nil {
			held[h]++
		}
	}
	for i := range n {
		w, err := s.enter(way(i))
		if err != nil || w == nil {
			tb.Fatalf("%d does not wait: %v", i, err)
		}
		waiters = append(waiters, w)
	}
	return s, waiters, func() {
		for h, n := range held {
			s.Free(h, n)
		}
	}
}

func granted(w *waiter) bool {
	select {
	case <-w.granted:
		return true
	default:
		return false
	}
}

// TestShares_Crowd: whoever stands in a crowd gets room in the end, and what is given back takes the
// same few looks however many wait.
func TestShares_Crowd(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			const n = 16_000
			s, waiters, free := crowded(t, way, n)
			free()
			for left := waiters; len(left) > 0; {
				var still []*waiter
				for _, w := range left {
					if !granted(w) {
						still = append(still, w)
						continue
					}
					s.Free(w.Holder, w.n)
				}
				if len(still) == len(left) {
					t.Fatalf("%d wait for ever, %d are held", len(left), s.Used())
				}
				left = still
			}
			if s.Used() != 0 || len(s.waiting.lines)+len(s.waiting.parked) > 0 {
				t.Errorf("%d are left, %d lines", s.Used(), len(s.waiting.lines))
			}
			if each := s.waiting.looked / n; each > 64 {
				t.Errorf("%d looks at lines for each waiter", each)
			}
		})
	}
}

// TestShares_Fair: among those who have room the first to come is served first, whoever it is; little is
// served before much for which there is no room, and what comes later does not overtake its own.
func TestShares_Fair(t *testing.T) {
	s := NewShares(800) // a site: 200, a client: 100
	for _, h := range []Holder{{"a", client(1)}, {"a", client(2)}} {
		if err := s.Try(h, 100); err != nil {
			t.Fatal(err)
		}
	}
	enter := func(of int, n int64) *waiter {
		w, err := s.enter(Holder{"a", client(of)}, n)
		if w == nil {
			t.Fatalf("%d of client %d does not wait: %v", n, of, err)
		}
		return w
	}
	large, second, small, behind := enter(3, 100), enter(4, 40), enter(5, 10), enter(3, 100)
	s.Free(Holder{"a", client(1)}, 50)
	if granted(large) || !granted(second) || !granted(small) || granted(behind) {
		t.Error("of 50 that are given back, 40 and 10 are not served before 100")
	}
	s.Free(Holder{"a", client(1)}, 50)
	s.Free(Holder{"a", client(2)}, 50)
	if !granted(large) || granted(behind) {
		t.Error("who came first is not served first")
	}
	late := enter(3, 90) // behind its own
	s.Free(Holder{"a", client(2)}, 50)
	s.Free(second.Holder, second.n)
	s.Free(small.Holder, small.n)
	if granted(behind) || granted(late) {
		t.Error("a client holds more than its share")
	}
	s.Free(large.Holder, large.n)
	if !granted(behind) || granted(late) {
		t.Error("later calls of a client overtake earlier ones")
	}
	if s.giveUp(late) == nil || s.giveUp(behind) != nil {
		t.Error("who was served gives up, or who was not is served")
	}
	if _, err := s.enter(Holder{"a", client(1)}, 101); !errors.Is(err, errClientFull) {
		t.Error("what can never be is waited for:", err)
	}
}

// TestShares_FirstGives: who stands behind somebody that gives up is looked at, in the order of
// arrival.
func TestShares_FirstGives(t *testing.T) {
	s := NewShares(800)
	for _, h := range []Holder{{"a", client(1)}, {"a", client(2)}} {
		_ = s.Try(h, 100)
	}
	of := func(i int) Holder { return Holder{"a", client(i)} }
	first, _ := s.enter(of(3), 100)
	own, _ := s.enter(of(3), 70)
	other, _ := s.enter(of(4), 20)
	s.Free(of(1), 90)
	if granted(first) || granted(own) || !granted(other) {
		t.Fatal("90 have been given back")
	}
	if s.giveUp(first) == nil || !granted(own) {
		t.Error("70 are there, and 70 are not granted")
	}
	older, newer := Holder{"a", client(5)}, Holder{"a", client(6)}
	much, _ := s.enter(older, 40)
	little, _ := s.enter(newer, 10)
	if s.Free(of(2), 40); !granted(much) || granted(little) {
		t.Error("40 are there, and who came first does not get them")
	}
}

// BenchmarkShares_Crowd is what it takes to give back what somebody has held, and to come again, while
// 16,000 wait.
func BenchmarkShares_Crowd(b *testing.B) {
	for name, way := range ways {
		b.Run(name, func(b *testing.B) {
			s, waiters, free := crowded(b, way, 16_000)
			free()
			for i := 0; b.Loop(); i++ {
				w := waiters[i%len(waiters)]
				if !granted(w) {
					continue
				}
				s.Free(w.Holder, w.n)
				if again, _ := s.enter(w.Holder, w.n); again != nil {
					waiters[i%len(waiters)] = again
				}
			}
		})
	}
}
