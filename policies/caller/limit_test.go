package caller

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// office is a platform that accepts the editors 1 to n, each by a password of their own, and
// takes its time.
type office struct {
	n     int
	takes time.Duration
	down  bool
	asked atomic.Int64
}

func (o *office) Detach() ask.Backend { return o }

func (o *office) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	o.asked.Add(1)
	select {
	case <-time.After(o.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if o.down {
		return nil, ask.ErrUndecided
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(q.Header.Get("Authorization"), "Basic editor")) // 0 for forged ones
	if id < 1 || id > o.n {
		return asktest.JSON(401, `{"code":"incorrect_password"}`), nil
	}
	return asktest.JSON(200, fmt.Sprintf(`{"id":%d,"roles":["editor"],"capabilities":{"edit_posts":true}}`, id)), nil
}

// poll asks who makes a call with these credentials.
func poll(t *testing.T, s *Site, b ask.Backend, credentials string) (Caller, error) {
	t.Helper()
	who, _, err := request(t, s, b, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic "+credentials).Who(t.Context())
	return who, err
}

// editors polls as every editor, each on their own, every pause until the time is over. It
// returns how many polls were refused.
func editors(t *testing.T, s *Site, o *office, pause, until time.Duration) (refused int64) {
	t.Helper()
	var group sync.WaitGroup
	var n atomic.Int64
	for id := range o.n {
		group.Go(func() {
			time.Sleep(pause * time.Duration(id) / time.Duration(o.n))
			for start := time.Now(); time.Since(start) < until; time.Sleep(pause) {
				if who, err := poll(t, s, o, "editor"+strconv.Itoa(id+1)); err != nil || who.ID != uint64(id+1) {
					n.Add(1)
				}
			}
		})
	}
	group.Wait()
	return n.Load()
}

// TestLimit_Office: forty editors behind one address who poll every 4 s are never refused.
func TestLimit_Office(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := withOptions(t, Options{TTL: 3 * time.Second}), &office{n: 40, takes: 50 * time.Millisecond}
		if n := editors(t, s, o, 4*time.Second, 10*time.Minute); n > 0 {
			t.Errorf("%d of %d polls are refused", n, o.asked.Load())
		}
		if o.asked.Load() < 5000 {
			t.Errorf("only %d questions", o.asked.Load())
		}
	})
}

// TestLimit_Forged: a thousand forged credentials at once cause 120 questions, and no more
// than 120 a minute after that, whatever editors behind the same address do.
func TestLimit_Forged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := withOptions(t, Options{TTL: 3 * time.Second, Timeout: time.Minute}), &office{n: 40, takes: 50 * time.Millisecond}
		if n := editors(t, s, o, 4*time.Second, 8*time.Second); n > 0 {
			t.Fatalf("%d polls are refused before the flood", n)
		}
		forged := &office{takes: 50 * time.Millisecond}
		flood := func(round int) (limited int64) {
			var group sync.WaitGroup
			var n atomic.Int64
			for i := range 1000 {
				group.Go(func() {
					if _, err := poll(t, s, forged, fmt.Sprintf("forged-%d-%d", round, i)); errors.Is(err, ask.ErrTooMany) {
						n.Add(1)
					}
				})
			}
			group.Wait()
			return n.Load()
		}
		if limited := flood(0); limited != 880 || forged.asked.Load() != 120 {
			t.Errorf("%d are limited, %d asked", limited, forged.asked.Load())
		}
		refused := make(chan int64)
		go func() { refused <- editors(t, s, o, 4*time.Second, 2*time.Minute) }()
		for round := range 12 {
			time.Sleep(10 * time.Second)
			flood(1 + round)
		}
		if n := forged.asked.Load(); n < 300 || n > 120+250 {
			t.Errorf("%d questions of forged credentials in two minutes", n)
		}
		if n := <-refused; n > 0 {
			t.Errorf("%d polls of the editors are refused", n)
		}
	})
}

// TestLimit_Counts: which questions count.
func TestLimit_Counts(t *testing.T) {
	const me = "editor1"
	for name, c := range map[string]struct {
		before func(*testing.T, *Site, *office)
		counts bool
	}{
		"a first question, accepted": {func(*testing.T, *Site, *office) {}, false},
		"refused":                    {func(_ *testing.T, _ *Site, o *office) { o.n = 0 }, true},
		"without an answer":          {func(_ *testing.T, _ *Site, o *office) { o.down = true }, true},
		"accepted before": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			time.Sleep(50 * time.Minute)
		}, false},
		"accepted before, refused now": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			time.Sleep(time.Minute)
			o.n = 0
		}, false}, // it was not known
		"refused twice": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			time.Sleep(time.Minute)
			o.n = 0
			_, _ = poll(t, s, o, me)
			time.Sleep(time.Minute)
		}, true},
		"accepted more than an hour ago, refused now": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			time.Sleep(61 * time.Minute)
			o.n = 0
		}, true},
		"the user's rights ended": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			s.Identities.drop(t.Context(), s.Store, dropping{whom: dropUser, user: 1})
			o.n = 0
		}, true},
		"another user's rights ended": {func(t *testing.T, s *Site, o *office) {
			_, _ = poll(t, s, o, me)
			s.Identities.drop(t.Context(), s.Store, dropping{whom: dropUser, user: 2})
			time.Sleep(time.Minute)
			o.n = 0
		}, false},
		"rights ended during the question": {func(t *testing.T, s *Site, o *office) {
			o.takes = time.Second
			go func() {
				time.Sleep(time.Second / 2)
				s.Identities.drop(t.Context(), s.Store, dropping{whom: dropAll})
			}()
			_, _ = poll(t, s, o, me)
			o.n = 0
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, o := withOptions(t, Options{Rate: 2, Per: time.Hour}), &office{n: 1, takes: time.Millisecond}
				c.before(t, s, o)
				synctest.Wait()
				const probe = 1000
				left := func() (n int) {
					ids, err := NewIdentities(Options{Rate: probe, Per: 24 * time.Hour})
					if err != nil {
						t.Fatal(err)
					}
					limit := s.Identities.limit
					s.Identities.limit = ids.limit
					defer func() { s.Identities.limit = limit }()
					_, _ = poll(t, s, o, me)
					for ids.limit.Allow("192.0.2.7") {
						n++
					}
					return n
				}()
				if counted := left == probe-1; counted != c.counts || left != probe && !counted {
					t.Errorf("%d of %d are left", left, probe)
				}
			})
		})
	}
}

// TestLimit_Session: credentials of a session that ended count again.
func TestLimit_Session(t *testing.T) {
	s := newSite(t)
	login := func() { whoIs(t, s, asktest.Answering(200, adminBody), loginLine, nonceLine) }
	key := func() cacheKey {
		w := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "", loginLine, nonceLine)
		claim, _ := w.Claim()
		credentials, err := w.Credentials()
		if err != nil {
			t.Fatal(err)
		}
		return s.Identities.cache.key(claim, credentials)
	}()
	login()
	if !s.Identities.cache.wasAccepted(key) {
		t.Fatal("not accepted")
	}
	logout := request(t, s, nil, "GET", "/wp-login.php?action=logout", "", loginLine)
	drop, _ := s.Identities.Watch(logout)
	drop(&ask.Answer{Status: 302})
	if s.Identities.cache.wasAccepted(key) {
		t.Error("the session has ended")
	}
}

// TestLimit_Bounded: the memory of accepted credentials is bounded, and holds no rights.
func TestLimit_Bounded(t *testing.T) {
	c := newIdentityCache()
	for i := range identityCapacity + 1000 {
		c.judged(named(strconv.Itoa(i)), c.epoch(), identityEntry{identity: identity{caller: Caller{Kind: User, ID: 1, Roles: []string{"editor"}}}})
	}
	if n := c.accepted.Len(); n != identityCapacity {
		t.Errorf("%d entries", n)
	}
	if item := c.accepted.Get(named(strconv.Itoa(identityCapacity))); item == nil || item.Value().caller.Roles != nil {
		t.Error(item)
	}
}

// TestInFlight_Shares: a site whose questions are all under way leaves room for another
// site, and one client for another. Of the questions that take longer than Timeout, as many
// go on while somebody waits; the others end.
func TestInFlight_Shares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares, late := budget.NewShares(16), budget.NewShares(16) // a site: 4, a client: 2
		slow := withOptions(t, Options{Site: "a", InFlight: shares, Late: late, Timeout: time.Minute})
		a, b := withOptions(t, Options{Site: "a", InFlight: shares, Late: late}), withOptions(t, Options{Site: "b", InFlight: shares, Late: late})
		stuck := &office{takes: time.Hour}
		ask := func(s *Site, backend ask.Backend, client byte, n int) error {
			w := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic editor"+strconv.Itoa(n))
			w.Client = netip.AddrFrom4([4]byte{192, 0, 2, client})
			w.Holder.Client = w.Client
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
			if backend != stuck {
				ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second) // the client goes
			}
			defer cancel()
			_, _, err := w.Who(ctx)
			return err
		}
		var group sync.WaitGroup
		var answered atomic.Int64
		for i := range 20 {
			group.Go(func() {
				switch err := ask(slow, stuck, byte(i%2), 100+i); {
				case err == nil:
					answered.Add(1)
				case !errors.Is(err, context.DeadlineExceeded):
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := stuck.asked.Load(); n != 4 {
			t.Errorf("%d questions under way, want a quarter", n)
		}
		fine := &office{n: 9, takes: time.Millisecond}
		if err := ask(b, fine, 7, 1); err != nil {
			t.Error("another site:", err)
		}
		group.Go(func() {
			if err := ask(a, fine, 8, 2); !errors.Is(err, context.DeadlineExceeded) {
				t.Error("a third client of the full site:", err)
			}
		})
		group.Go(func() {
			if err := ask(b, fine, 1, 3); !errors.Is(err, context.DeadlineExceeded) {
				t.Error("a client of the full site, on another one:", err)
			}
		})
		time.Sleep(90 * time.Second)
		if shares.Used() != 4 || late.Used() != 4 {
			t.Errorf("%d under way, %d late", shares.Used(), late.Used())
		}
		if err := ask(b, fine, 7, 4); err != nil {
			t.Error("another site, while questions are late:", err)
		}
		group.Wait()
		if shares.Used() != 0 || late.Used() != 0 {
			t.Errorf("%d and %d are never given back", shares.Used(), late.Used())
		}
		if answered.Load() != 4 {
			t.Errorf("%d answers after an hour, want a quarter", answered.Load())
		}
	})
}

// TestInFlight_All: every question of a request counts, and what a question causes on its
// way does not wait for that question.
func TestInFlight_All(t *testing.T) {
	s := withOptions(t, Options{MaxInFlight: 1})
	backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		if n := s.Identities.opts.InFlight.Used(); n != 1 {
			t.Errorf("%d under way", n)
		}
		return asktest.JSON(200, adminBody), nil
	}}
	w := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
	if _, err := w.Ask(t.Context(), ask.Question{Kind: ask.KindRecord, Route: "/wc/v3/orders/1", As: ask.AsNobody}); err != nil {
		t.Error(err)
	}
	ctx, ended, err := s.Identities.begin(t.Context(), w.Holder, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Who(ctx); err != nil {
		t.Error("a question behind a question:", err)
	}
	ended()
	if s.Identities.opts.InFlight.Used() != 0 {
		t.Error("something is under way")
	}
}

func withOptions(t *testing.T, opts Options) *Site {
	t.Helper()
	s := newSite(t)
	ids, err := NewIdentities(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Identities = ids
	return s
}
