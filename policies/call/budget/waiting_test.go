package budget

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

// ways are how 16,000 waiters can stand: one client's, many clients' of one site, and those of many
// sites, with bodies of one size or of all.
var ways = map[string]func(i int) (Holder, int64){
	"one client":   func(int) (Holder, int64) { return Holder{"a", firstClient}, 64 },
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

// fewLooks does one thing to shares, which must take the same few looks however many wait.
func fewLooks(tb testing.TB, s *Shares, what string, do func()) {
	tb.Helper()
	looked, served := s.waiting.looked, s.waiting.served
	do()
	looked, served = s.waiting.looked-looked, s.waiting.served-served
	if looked > 64*(1+served) {
		tb.Fatalf("%s: %d looks, and %d got room", what, looked, served)
	}
}

// nothingLeft: nothing is held, and nobody waits.
func nothingLeft(tb testing.TB, s *Shares) {
	tb.Helper()
	q := &s.waiting
	for class, groups := range &q.all {
		if len(groups) > 0 {
			tb.Errorf("%d groups of class %d are left", len(groups), class)
		}
	}
	if s.used != 0 || len(s.sites)+len(s.clients) > 0 || len(q.lines)+len(q.clients)+len(q.sites) > 0 {
		tb.Errorf("%d are left, %v %v, %d lines of %d clients, groups of %d sites", s.used, s.sites, s.clients,
			len(q.lines), len(q.clients), len(q.sites))
	}
}

// TestShares_Crowd: whoever stands in a crowd gets room in the end, and each release takes the same
// few looks however many wait.
func TestShares_Crowd(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			const n = 16_000
			s, waiters, free := crowded(t, way, n)
			fewLooks(t, s, "all that was held", free)
			for left := waiters; len(left) > 0; {
				var still []*waiter
				for _, w := range left {
					if !granted(w) {
						still = append(still, w)
						continue
					}
					fewLooks(t, s, "one", func() { s.Free(w.Holder, w.n) })
				}
				if len(still) == len(left) {
					t.Fatalf("%d wait for ever, %d are held", len(left), s.Used())
				}
				left = still
			}
			nothingLeft(t, s)
		})
	}
}

// TestShares_Between: a crowd that waits for one share, and then for another one, is not looked at
// each by each.
func TestShares_Between(t *testing.T) {
	const n, limit = 16_000, 8 * 16_000
	crowd := func(t *testing.T, each int64) (*Shares, func(site string, n int64), []*waiter) {
		s := NewShares(limit)
		take := func(site string, n int64) {
			if n < 0 {
				fewLooks(t, s, fmt.Sprint(n, " of ", site), func() { s.Free(Holder{Site: site}, -n) })
			} else if err := s.Try(Holder{Site: site}, n); err != nil {
				t.Fatal(err)
			}
		}
		take("a", limit/4)
		waiters := make([]*waiter, n)
		for i := range n {
			waiters[i], _ = s.enter(Holder{"a", client(i)}, each)
		}
		return s, take, waiters
	}
	t.Run("site and all", func(t *testing.T) {
		_, take, waiters := crowd(t, 8)
		take("b", limit/4)
		take("c", limit/4)
		take("d", limit/4)
		take("a", -7)
		take("e", 7)
		for i := range 100 {
			if take("a", -1); granted(waiters[i]) {
				t.Fatal("granted what others hold")
			}
			if take("b", -7); !granted(waiters[i]) || granted(waiters[i+1]) {
				t.Fatal("who came first has no room, or who came next has")
			}
			take("a", -7)
			take("e", 7)
		}
	})
	t.Run("client", func(t *testing.T) {
		s, take, waiters := crowd(t, limit/8)
		for i := range n {
			of := Holder{"b", client(i)}
			if fewLooks(t, s, "taken", func() { _ = s.Try(of, 1) }); i%1000 == 0 {
				fewLooks(t, s, "given back", func() { s.Free(of, 1) })
			}
		}
		take("a", -limit/4)
		if !granted(waiters[0]) || granted(waiters[1]) || !granted(waiters[1000]) || granted(waiters[2000]) {
			t.Fatal("not those are served who hold nothing else")
		}
	})
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

// TestShares_StandsAside: who stands before others and takes something else that fills up its
// client's share lets them be served.
func TestShares_StandsAside(t *testing.T) {
	for name, take := range map[string]func(*Shares, Holder) bool{
		"try": func(s *Shares, h Holder) bool { return s.Try(h, 6) == nil },
		"enter": func(s *Shares, h Holder) bool {
			w, err := s.enter(h, 6)
			return w == nil && err == nil
		},
	} {
		s := NewShares(800)
		_ = s.Try(Holder{"b", client(1)}, 35)
		for site, n := range map[string]int64{"b": 165, "c": 200, "d": 200, "e": 170} {
			_ = s.Try(Holder{Site: site}, n)
		}
		first, _ := s.enter(Holder{"a", client(1)}, 60)
		second, _ := s.enter(Holder{"a", client(2)}, 40)
		if s.Free(Holder{Site: "e"}, 20); granted(first) || granted(second) {
			t.Fatalf("%s: of 50, 60 are granted, or 40 behind them", name)
		}
		if !take(s, Holder{"e", client(1)}) || granted(first) || !granted(second) {
			t.Errorf("%s: 44 are there, and 40 are not granted", name)
		}
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
