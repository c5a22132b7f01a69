package store

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestMemory_Facts(t *testing.T) {
	m, err := NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := m.Set(ctx, "k", "v", time.Hour); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := m.Get(ctx, "k"); v != "v" || !ok || err != nil {
		t.Errorf("got %q, %v, %v", v, ok, err)
	}
	if err := m.Delete(ctx, "k", "unknown"); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := m.Get(ctx, "k"); ok {
		t.Error("still there after Delete")
	}
	if err := m.Set(ctx, "short", "v", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	if _, ok, _ := m.Get(ctx, "short"); ok {
		t.Error("still there after its time")
	}
}

// TestMemory_Kinds: many facts of one kind push out none of another.
func TestMemory_Kinds(t *testing.T) {
	m, err := NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := m.Set(ctx, "confirm:x", "v", time.Hour); err != nil {
		t.Fatal(err)
	}
	for i := range factCapacity + 1 {
		_ = m.Set(ctx, "schema:"+strconv.Itoa(i), "1", time.Hour)
	}
	if _, ok, _ := m.Get(ctx, "confirm:x"); !ok {
		t.Error("a confirmation is gone")
	}
	if _, ok, _ := m.Get(ctx, "schema:0"); ok {
		t.Error("the facts of one kind have no bound")
	}
}

func TestMemory_SetOnceUnderContention(t *testing.T) {
	m, _ := NewMemory()
	var first sync.Map
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if ok, err := m.SetOnce(t.Context(), "once", time.Hour); err != nil {
				t.Error(err)
			} else if ok {
				first.Store(time.Now(), true)
			}
		})
	}
	wg.Wait()
	n := 0
	first.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d callers were the first", n)
	}
}

func TestMemory_SetOnceNeverForgets(t *testing.T) {
	m, _ := NewMemory()
	for i := range onceCapacity {
		if ok, err := m.SetOnce(t.Context(), strconv.Itoa(i), time.Hour); !ok || err != nil {
			t.Fatal(i, ok, err)
		}
	}
	if _, err := m.SetOnce(t.Context(), "one more", time.Hour); !errors.Is(err, ErrFull) {
		t.Errorf("got error %v where nothing more fits", err)
	}
	if ok, err := m.SetOnce(t.Context(), "0", time.Hour); ok {
		t.Errorf("the first one was forgotten (%v)", err)
	}
}

func TestMemory_Take(t *testing.T) {
	m, _ := NewMemory()
	rate := Rate{Count: 3, Per: time.Hour}
	for i := range 5 {
		got, err := m.Take(t.Context(), "k", rate)
		if err != nil {
			t.Fatal(err)
		}
		if got.Allowed != (i < 3) || !got.Allowed && got.RetryAfter <= 0 {
			t.Errorf("event %d: %+v", i+1, got)
		}
	}
	if got, _ := m.Take(t.Context(), "other", rate); !got.Allowed {
		t.Error("another key is limited too")
	}
	if _, err := m.Take(t.Context(), "k", Rate{}); err == nil {
		t.Error("no error for a rate of nothing")
	}
}

// TestMemory_SetOnceForgets: expired entries are freed, so that neither memory nor the
// time of a call grows with the number of used signatures.
func TestMemory_SetOnceForgets(t *testing.T) {
	m, err := NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := m.SetOnce(t.Context(), strconv.Itoa(i), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Millisecond)
	if _, err := m.SetOnce(t.Context(), "last", time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := len(m.once.Items()); n != 1 || m.once.Metrics().Evictions != 1000 {
		t.Errorf("%d remembered, %d freed", n, m.once.Metrics().Evictions)
	}
}
