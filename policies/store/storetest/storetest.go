// Package storetest holds the tests that every store.Store must pass.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// Run tests two gateways' views of one store: open returns them, empty, anew
// for each test. They may be the same value.
func Run(t *testing.T, open func(t *testing.T) (a, b store.Store)) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, a, b store.Store){
		"facts": facts, "facts end": factsEnd, "many facts": manyFacts, "many at once": manyAtOnce, "odd keys": oddKeys,
		"once": once, "once ends": onceEnds, "once under contention": onceUnderContention, "kinds apart": kindsApart,
		"rate": rate, "rates apart": ratesApart, "rate under contention": rateUnderContention, "rate refills": rateRefills,
		"bad rate": badRate, "announce": announce, "secret": secret,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t)
			test(t, a, b)
		})
	}
}

func facts(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	for _, value := range []string{"v", "", "another\x00\nvalue"} {
		if err := a.Set(ctx, "k", value, time.Hour); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := b.Get(ctx, "k"); got != value || !ok || err != nil {
			t.Errorf("got %q, %v, %v, want %q", got, ok, err, value)
		}
	}
	if err := b.Delete(ctx, "k", "unknown"); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := a.Get(ctx, "k"); ok || err != nil {
		t.Errorf("got %q, %v after Delete", got, err)
	}
	if err := b.Delete(ctx); err != nil {
		t.Errorf("nothing to delete: %v", err)
	}
}

func factsEnd(t *testing.T, a, b store.Store) {
	if err := a.Set(t.Context(), "k", "v", 30*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	time.Sleep(80 * time.Millisecond)
	if _, ok, err := b.Get(t.Context(), "k"); ok || err != nil {
		t.Errorf("still there after its time (%v)", err)
	}
}

func manyFacts(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprint("k", i))
		if i%2 == 0 {
			if err := a.Set(ctx, keys[i], fmt.Sprint("v", i), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
	}
	values, err := b.GetAll(ctx, keys...)
	if err != nil || len(values) != 50 || values["k42"] != "v42" {
		t.Errorf("got %d values, %v", len(values), err)
	}
	if values, err := b.GetAll(ctx); err != nil || len(values) != 0 {
		t.Errorf("nothing to get: %v, %v", values, err)
	}
}

func manyAtOnce(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	if err := a.Set(ctx, "k0", "before", time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := a.SetAll(ctx, "v", time.Hour, keys...); err != nil {
		t.Fatal(err)
	}
	values, err := b.GetAll(ctx, keys...)
	if err != nil || len(values) != len(keys) {
		t.Errorf("got %d values, %v", len(values), err)
	}
	for key, value := range values {
		if value != "v" {
			t.Errorf("%s: got %q", key, value)
		}
	}
	if err := a.SetAll(ctx, "short", 30*time.Millisecond, "k1", "k2"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(80 * time.Millisecond)
	for key, want := range map[string]bool{"k1": false, "k2": false, "k3": true} {
		if _, ok, err := b.Get(ctx, key); ok != want || err != nil {
			t.Errorf("%s after its time: %v, %v", key, ok, err)
		}
	}
	if err := a.SetAll(ctx, "v", time.Hour); err != nil {
		t.Errorf("nothing to set: %v", err)
	}
}

// oddKeys: a key that holds another one, or braces that name a cluster's slot,
// is a key like any other.
func oddKeys(t *testing.T, a, b store.Store) {
	keys := []string{"a", "a:b", "{a}", "{a}:b", "", " ", "a\nb", "é"}
	for i, key := range keys {
		if err := a.Set(t.Context(), key, fmt.Sprint(i), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for i, key := range keys {
		if got, _, err := b.Get(t.Context(), key); got != fmt.Sprint(i) || err != nil {
			t.Errorf("%q: got %q, %v", key, got, err)
		}
	}
}

func once(t *testing.T, a, b store.Store) {
	for i, s := range []store.Store{a, b, a, b} {
		if first, err := s.SetOnce(t.Context(), "k", time.Hour); first != (i == 0) || err != nil {
			t.Errorf("use %d: %v, %v", i+1, first, err)
		}
	}
	if first, err := b.SetOnce(t.Context(), "other", time.Hour); !first || err != nil {
		t.Errorf("another key: %v, %v", first, err)
	}
}

func onceEnds(t *testing.T, a, b store.Store) {
	if first, err := a.SetOnce(t.Context(), "k", 30*time.Millisecond); !first || err != nil {
		t.Fatal(first, err)
	}
	time.Sleep(80 * time.Millisecond)
	if first, err := b.SetOnce(t.Context(), "k", time.Hour); !first || err != nil {
		t.Errorf("still remembered after its time: %v, %v", first, err)
	}
}

func onceUnderContention(t *testing.T, a, b store.Store) {
	var firsts atomic.Int32
	var wg sync.WaitGroup
	for i := range 40 {
		s := []store.Store{a, b}[i%2]
		wg.Go(func() {
			if first, err := s.SetOnce(t.Context(), "k", time.Hour); err != nil {
				t.Error(err)
			} else if first {
				firsts.Add(1)
			}
		})
	}
	wg.Wait()
	if n := firsts.Load(); n != 1 {
		t.Errorf("%d were the first", n)
	}
}

// kindsApart: one key may be a fact, a used signature and a counter.
func kindsApart(t *testing.T, a, _ store.Store) {
	ctx := t.Context()
	if err := a.Set(ctx, "k", "v", time.Hour); err != nil {
		t.Fatal(err)
	}
	if first, err := a.SetOnce(ctx, "k", time.Hour); !first || err != nil {
		t.Errorf("SetOnce after Set: %v, %v", first, err)
	}
	if taken, err := a.Take(ctx, "k", store.Rate{Count: 2, Per: time.Hour}); !taken.Allowed || err != nil {
		t.Errorf("Take after Set: %+v, %v", taken, err)
	}
	if got, ok, err := a.Get(ctx, "k"); got != "v" || !ok || err != nil {
		t.Errorf("got %q, %v, %v", got, ok, err)
	}
}

func rate(t *testing.T, a, b store.Store) {
	limit := store.Rate{Count: 4, Per: time.Hour}
	for i := range 6 {
		got, err := []store.Store{a, b}[i%2].Take(t.Context(), "k", limit)
		if err != nil {
			t.Fatal(err)
		}
		if got.Allowed != (i < 4) || got.Remaining != max(0, 3-i) {
			t.Errorf("event %d: %+v", i+1, got)
		}
		if got.Allowed == (got.RetryAfter > 0) || got.RetryAfter > 15*time.Minute {
			t.Errorf("event %d: retry after %s", i+1, got.RetryAfter)
		}
		if got.ResetAfter <= 0 || got.ResetAfter > time.Hour {
			t.Errorf("event %d: reset after %s", i+1, got.ResetAfter)
		}
	}
}

func ratesApart(t *testing.T, a, b store.Store) {
	limit := store.Rate{Count: 1, Per: time.Hour}
	for _, key := range []string{"k", "l"} {
		if got, err := a.Take(t.Context(), key, limit); !got.Allowed || err != nil {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
	}
	if got, err := b.Take(t.Context(), "k", store.Rate{Count: 1, Per: time.Minute}); !got.Allowed || err != nil {
		t.Errorf("another rate: %+v, %v", got, err)
	}
}

func rateUnderContention(t *testing.T, a, b store.Store) {
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for i := range 40 {
		s := []store.Store{a, b}[i%2]
		wg.Go(func() {
			got, err := s.Take(t.Context(), "k", store.Rate{Count: 10, Per: time.Hour})
			if err != nil {
				t.Error(err)
			}
			if got.Allowed {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 10 {
		t.Errorf("%d were allowed, want 10", n)
	}
}

func rateRefills(t *testing.T, a, _ store.Store) {
	limit := store.Rate{Count: 2, Per: 200 * time.Millisecond}
	for range 2 {
		if got, err := a.Take(t.Context(), "k", limit); !got.Allowed || err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	got, err := a.Take(t.Context(), "k", limit)
	if got.Allowed || err != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	time.Sleep(got.RetryAfter + 20*time.Millisecond)
	if got, err := a.Take(t.Context(), "k", limit); !got.Allowed || err != nil {
		t.Errorf("after RetryAfter: %+v, %v", got, err)
	}
}

func badRate(t *testing.T, a, _ store.Store) {
	for _, limit := range []store.Rate{{}, {Count: 1}, {Per: time.Hour}, {Count: -1, Per: time.Hour}} {
		if _, err := a.Take(t.Context(), "k", limit); err == nil {
			t.Errorf("no error for %+v", limit)
		}
	}
}

func announce(t *testing.T, a, b store.Store) {
	var heard messages
	stop := b.Listen(heard.add)
	a.Secret()
	b.Secret() // listens from now on
	ctx := t.Context()
	marks := map[string]bool{}
	for i := range 3 {
		eventually(t, "a message arrives", func() bool {
			if err := a.Announce(ctx, "mark", fmt.Sprint("m", i), time.Hour); err != nil {
				t.Error(err)
			}
			mark, ok, err := b.Get(ctx, "mark")
			if !ok || err != nil || marks[mark] {
				t.Errorf("mark %q, %v, %v", mark, ok, err)
			}
			marks[mark] = true
			return heard.has(fmt.Sprint("m", i))
		})
	}
	stop()
	if err := a.Announce(ctx, "mark", "late", time.Hour); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if heard.has("late") {
		t.Error("heard after stop")
	}
}

func secret(t *testing.T, a, b store.Store) {
	a.Secret()
	time.Sleep(20 * time.Millisecond)
	if a.Secret() == nil {
		eventually(t, "both know the secret, or neither", func() bool { return (a.Secret() == nil) == (b.Secret() == nil) })
	}
	eventually(t, "one secret", func() bool { return slices.Equal(a.Secret(), b.Secret()) })
	if s := a.Secret(); s != nil && len(s) < 16 {
		t.Errorf("a secret of %d bytes", len(s))
	}
}

type messages struct {
	mu  sync.Mutex
	all []string
}

func (m *messages) add(message string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, message)
}

func (m *messages) has(message string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.all, message)
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
