package switches

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// ofLine is a line for a call.
func ofLine(methods, route string) Line {
	return Line{Line: methods + " " + route, Calls: []Calls{{Methods: strings.Split(methods, ","), Routes: []string{route}}}}
}

// opened and closed tell whether switches open or close POST /a/b.
func opened(s *policy.Switches) bool {
	f := s.InForce(time.Now)
	_, ok := f.Opened(&call.Call{Method: "POST", Key: "/a/b", Route: "/a/b"})
	return ok
}

func closed(s *policy.Switches) bool {
	f := s.InForce(time.Now)
	_, ok := f.Closed(&call.Call{Method: "POST", Key: "/a/b", Route: "/a/b"})
	return ok
}

// begun is a board of a site with a file, with what it logs.
func begun(path string) (*Board, *policy.Switches, *observer.ObservedLogs) {
	core, logs := observer.New(zap.InfoLevel)
	b, s := New(func() *zap.Logger { return zap.New(core) }), new(policy.Switches)
	b.Join("a.example", s)
	b.Connect(nil, path)
	return b, s, logs
}

// TestLines_Restart: what is closed stays so over a restart, until it is taken back, and what is opened until it ends.
func TestLines_Restart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "restwarden", "switches.json")
	b, s, _ := begun(path)
	line := ofLine("POST", "/a/b")
	if opened(s) || closed(s) {
		t.Error("something is on")
	}
	if err := errors.Join(b.SetClose("a.example", line, Forever, adminapi.By{Address: "me"}), b.SetOpen("a.example", line, time.Hour, adminapi.By{Address: "me"})); err != nil || !opened(s) || !closed(s) {
		t.Error(err)
	}
	_ = b.Close()
	b, s, _ = begun(path)
	if !opened(s) || !closed(s) || len(b.Closes("a.example")) != 1 || b.Closes("a.example")[0].By.Address != "me" || b.Closes("a.example")[0].Until != nil {
		t.Errorf("after a restart: %v", b.Closes("a.example"))
	}
	if err := b.SetClose("a.example", line, 0, adminapi.By{Address: "me"}); err != nil || closed(s) {
		t.Error("not taken back", err)
	}
	if err := b.SetClose("a.example", ofLine("POST", "/a/c"), 0, adminapi.By{Address: "me"}); !errors.Is(err, ErrNoLine) {
		t.Error(err)
	}
	_ = b.Close()
	b, s, _ = begun(path)
	if !opened(s) || closed(s) {
		t.Error("after the second restart")
	}
	_ = b.Close()
}

// TestLines_Damaged: a file that cannot be read to its end is told, and kept beside. What stands before the damage counts.
func TestLines_Damaged(t *testing.T) {
	path, line := filepath.Join(t.TempDir(), "switches.json"), ofLine("POST", "/a/b")
	if err := os.WriteFile(path, []byte(`[{"kind":"close","site":"a.example","line":"x"},`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, s, logs := begun(path)
	if opened(s) || logs.FilterMessageSnippet("cannot be read").Len() != 1 {
		t.Errorf("%v", logs.All())
	}
	if err := b.SetClose("a.example", line, Forever, adminapi.By{Address: "me"}); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	whole, _ := os.ReadFile(path)
	damaged, _ := os.ReadFile(path + ".damaged")
	if !strings.HasPrefix(string(damaged), `[{"kind":"close"`) {
		t.Errorf("what cannot be read is lost: %q", damaged)
	}
	if err := os.WriteFile(path, append(whole[:len(whole)-2], ",\x00"...), 0o600); err != nil {
		t.Fatal(err)
	}
	b, s, logs = begun(path)
	if !closed(s) || logs.FilterMessageSnippet("cannot be read").Len() != 1 {
		t.Errorf("what stands before a damage does not count: %v", logs.All())
	}
	if err := b.SetOpen("a.example", line, time.Hour, adminapi.By{Address: "me"}); err != nil {
		t.Fatal(err)
	}
	if damaged, _ := os.ReadFile(path + ".damaged"); !strings.HasSuffix(string(damaged), ",\x00") {
		t.Errorf("what cannot be read the second time is lost: %q", damaged)
	}
	_ = b.Close()
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	b, s, _ = begun(path)
	if err := b.SetClose("a.example", line, Forever, adminapi.By{Address: "me"}); !errors.Is(err, ErrUnkept) || !closed(s) {
		t.Errorf("closed %t, %v", closed(s), err)
	}
	_ = b.Close()
}

// TestLines_Ends: a line ends after its time by the clock that runs on, and no sooner.
func TestLines_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := New(zap.NewNop), new(policy.Switches)
		defer func() { _ = b.Close() }()
		b.Join("a.example", s)
		if err := errors.Join(b.SetOpen("a.example", ofLine("POST", "/a/b"), time.Hour, adminapi.By{Address: "me"}), b.SetClose("a.example", ofLine("POST", "/a/b"), 2*time.Hour, adminapi.By{Address: "me"})); err != nil {
			t.Fatal(err)
		}
		for _, want := range [][2]bool{{true, true}, {false, true}, {false, false}} {
			if opened(s) != want[0] || closed(s) != want[1] {
				t.Errorf("%v, want %v", [2]bool{opened(s), closed(s)}, want)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		if len(b.settings) != 0 {
			t.Errorf("%v", b.settings)
		}
	})
}

// TestLines_Clock: no jump of the clock opens what is closed, or keeps open for longer what is opened.
func TestLines_Clock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "restwarden", "switches.json")
	begin := func() (*Board, *policy.Switches) {
		b, s := New(zap.NewNop), new(policy.Switches)
		b.Join("a.example", s)
		b.Connect(nil, path)
		return b, s
	}
	b, s := begin()
	line := ofLine("POST", "/a/b")
	if err := errors.Join(b.SetClose("a.example", line, time.Hour, adminapi.By{Address: "me"}), b.SetOpen("a.example", line, time.Hour, adminapi.By{Address: "me"})); err != nil {
		t.Fatal(err)
	}
	// jump moves what was set, as if the clock had been set forward or back since.
	jump := func(d time.Duration) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, k := range b.settings {
			k.Set -= d.Nanoseconds()
			k.Until -= d.Milliseconds()
			b.settings[name] = k
		}
	}
	for _, d := range []time.Duration{2 * time.Hour, -1000 * time.Hour} {
		jump(d)
		if b.applyLines("a.example"); !opened(s) || !closed(s) {
			t.Errorf("after %s: open %t, closed %t", d, opened(s), closed(s))
		}
	}
	if err := b.SetOpen("a.example", ofLine("POST", "/a/c"), time.Hour, adminapi.By{Address: "me"}); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	if b, s = begin(); !opened(s) || !closed(s) {
		t.Error("after a restart with a clock that was set back")
	}
	for name, k := range b.settings {
		if left := time.Until(k.ends); left > time.Hour {
			t.Errorf("%s is left of %v", left, name)
		}
	}
	if err := errors.Join(b.SetClose("a.example", line, 0, adminapi.By{Address: "me"}), b.SetOpen("a.example", line, time.Minute, adminapi.By{Address: "me"})); err != nil || closed(s) || !opened(s) {
		t.Error("not switched by a clock that was set back", err)
	}
	_ = b.Close()
}

// TestLines_Full: what was taken back, and what is opened, leaves room for what is closed; what is too long to be kept is not switched on.
func TestLines_Full(t *testing.T) {
	b, s := New(zap.NewNop), new(policy.Switches)
	t.Cleanup(func() { _ = b.Close() })
	b.Join("a.example", s)
	for i := range maxTakenBack + adminapi.MaxLines + 1 {
		line := ofLine("POST", fmt.Sprintf("/a/x%d", i))
		err := b.SetOpen("a.example", line, time.Hour, adminapi.By{Address: "me"})
		if err == nil && i <= maxTakenBack {
			err = b.SetOpen("a.example", line, 0, adminapi.By{Address: "me"})
		}
		if err != nil {
			t.Fatal(i, err)
		}
	}
	if on, all := len(b.Opens("a.example")), len(b.settings); on != adminapi.MaxLines || all != maxTakenBack+adminapi.MaxLines {
		t.Errorf("%d lines, %d settings", on, all)
	}
	if err := b.SetOpen("a.example", ofLine("POST", "/a/y"), time.Hour, adminapi.By{Address: "me"}); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if err := b.SetClose("a.example", ofLine("POST", "/a/b"), Forever, adminapi.By{Address: "me"}); err != nil || !closed(s) {
		t.Error("not closed", err)
	}
	if err := b.SetClose("a.example", ofLine("POST", "/a/"+strings.Repeat("b", maxLine)), Forever, adminapi.By{Address: "me"}); !errors.Is(err, ErrLong) {
		t.Error(err)
	}
	if err := b.SetClose("a.example", ofLine("POST", "/a/x0"), 0, adminapi.By{Address: "me"}); !errors.Is(err, ErrNoLine) {
		t.Error(err)
	}
}

// racing is a store of a gateway that another one overtakes.
type racing struct {
	store.Store
	overtake func() // before the next value is stored
}

func (s *racing) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if f := s.overtake; f != nil {
		s.overtake = nil
		f()
	}
	return s.Store.Set(ctx, key, value, ttl)
}

// TestLines_AtOnce: what two gateways switch at once is stored, for a third that starts later.
func TestLines_AtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, err := store.NewMemory()
		if err != nil {
			t.Fatal(err)
		}
		begin := func(to store.Store) *Board {
			b := New(zap.NewNop)
			b.Join("a.example", new(policy.Switches))
			b.Connect(to, "")
			synctest.Wait()
			return b
		}
		slow := &racing{Store: shared}
		first, second := begin(slow), begin(shared)
		slow.overtake = func() {
			if err := second.SetClose("a.example", ofLine("POST", "/a/c"), Forever, adminapi.By{Address: "me"}); err != nil {
				t.Error(err)
			}
		}
		if err := first.SetClose("a.example", ofLine("POST", "/a/b"), Forever, adminapi.By{Address: "me"}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		third := begin(shared)
		for name, b := range map[string]*Board{"first": first, "second": second, "third": third} {
			if n := len(b.Closes("a.example")); n != 2 {
				t.Errorf("the %s knows %d", name, n)
			}
			b.Connect(nil, "")
			_ = b.Close()
		}
		synctest.Wait()
	})
}
