package confirm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/store"
)

func memory(tb testing.TB) store.Store {
	tb.Helper()
	m, err := store.NewMemory()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func deletion(arguments string) *confirm.Call {
	return &confirm.Call{Shop: "s", Caller: "user 7", Runs: "shop/delete", How: "DELETE", Route: "/r", Door: "/r", Arguments: arguments}
}

const within = 15 * time.Minute

// ask asks, and fails the test unless the confirmation is in that state.
func ask(t *testing.T, l *confirm.Ledger, call *confirm.Call, want confirm.State) *confirm.Confirmation {
	t.Helper()
	c, _, err := l.Ask(t.Context(), call, within)
	if err != nil {
		t.Fatal(err)
	}
	if c.State != want {
		t.Fatalf("the state is %s, want %s", c.State, want)
	}
	return c
}

func tooMany(err error) bool {
	_, is := errors.AsType[*confirm.TooManyError](err)
	return is
}

func decide(t *testing.T, l *confirm.Ledger, id string, give bool) {
	t.Helper()
	if _, err := l.Decide(t.Context(), id, give); err != nil {
		t.Fatal(err)
	}
}

// TestLedger_Life: a call waits under one id, passes once when it was given, and needs
// another confirmation then.
func TestLedger_Life(t *testing.T) {
	l := confirm.NewLedger(memory(t), "shop")
	first := ask(t, l, deletion("{}"), confirm.Pending)
	if again := ask(t, l, deletion("{}"), confirm.Pending); again.ID != first.ID {
		t.Errorf("the same call waits as %s and %s", first.ID, again.ID)
	}
	decide(t, l, first.ID, true)
	if list, err := l.List(t.Context()); err != nil || len(list) != 1 || list[0].State != confirm.Given {
		t.Errorf("listed %v, %v", list, err)
	}
	ask(t, l, deletion("{}"), confirm.Used)
	if list, err := l.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("used up, and listed: %v, %v", list, err)
	}
	second := ask(t, l, deletion("{}"), confirm.Pending)
	if second.ID == first.ID {
		t.Error("used twice")
	}
	decide(t, l, second.ID, false)
	ask(t, l, deletion("{}"), confirm.Rejected)
	ask(t, l, deletion("{}"), confirm.Rejected)
	if _, err := l.Decide(t.Context(), second.ID, true); !errors.Is(err, confirm.ErrDecided) {
		t.Errorf("decided twice: %v", err)
	}
	if _, err := l.Decide(t.Context(), "NOSUCHID", true); !errors.Is(err, confirm.ErrUnknown) {
		t.Errorf("decided on nothing: %v", err)
	}
}

// TestLedger_OtherCalls: what was given for one call is not for any other.
func TestLedger_OtherCalls(t *testing.T) {
	s := memory(t)
	l := confirm.NewLedger(s, "shop")
	decide(t, l, ask(t, l, deletion(`{"id":1}`), confirm.Pending).ID, true)
	for name, change := range map[string]func(*confirm.Call){
		"arguments": func(c *confirm.Call) { c.Arguments = `{"id":2}` },
		"none":      func(c *confirm.Call) { c.Arguments = "" },
		"caller":    func(c *confirm.Call) { c.Caller = "user 8" },
		"ability":   func(c *confirm.Call) { c.Runs = "shop/erase" },
		"how":       func(c *confirm.Call) { c.How = "POST" },
		"route":     func(c *confirm.Call) { c.Route = "/other" },
		"shop":      func(c *confirm.Call) { c.Shop = "t" },
		"beside":    func(c *confirm.Call) { c.Beside = `{"query":"x=1"}` },
		"boundary":  func(c *confirm.Call) { c.Runs, c.How = "shop/deleteD", "ELETE" },
	} {
		call := deletion(`{"id":1}`)
		change(call)
		if c, _, err := l.Ask(t.Context(), call, within); err != nil || c.State != confirm.Pending {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	ask(t, confirm.NewLedger(s, "other"), deletion(`{"id":1}`), confirm.Pending)
	ask(t, l, deletion(`{"id":1}`), confirm.Used)
}

// TestLedger_Ends: everything ends with its time, given or rejected, and the places are free
// again, whatever happened to them.
func TestLedger_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := confirm.NewLedger(memory(t), "shop")
		for round := range 3 {
			for i := range confirm.PerCaller {
				c := ask(t, l, deletion(fmt.Sprint(i)), confirm.Pending)
				if i < 3 {
					decide(t, l, c.ID, i%2 == 0)
				}
			}
			time.Sleep(within + time.Second)
			if list, err := l.List(t.Context()); err != nil || len(list) > 0 {
				t.Fatalf("round %d: %d are left, %v", round, len(list), err)
			}
		}
		ask(t, l, deletion("0"), confirm.Pending) // was given, but not in time
	})
}

func TestLedger_Bounds(t *testing.T) {
	l := confirm.NewLedger(memory(t), "shop")
	of := func(user, i int) *confirm.Call {
		call := deletion(fmt.Sprint(i))
		call.Caller = fmt.Sprint("user ", user)
		return call
	}
	var first *confirm.Confirmation
	for user := range confirm.PerSite / confirm.PerCaller {
		for i := range confirm.PerCaller {
			c := ask(t, l, of(user, i), confirm.Pending)
			if first == nil {
				first = c
			}
		}
		if _, _, err := l.Ask(t.Context(), of(user, -1), within); !tooMany(err) {
			t.Fatalf("user %d has more than %d: %v", user, confirm.PerCaller, err)
		}
	}
	ask(t, l, of(3, 3), confirm.Pending) // one that waits needs no place
	if _, _, err := l.Ask(t.Context(), of(1000, 0), within); !tooMany(err) {
		t.Fatalf("more than %d on one site: %v", confirm.PerSite, err)
	}
	decide(t, l, first.ID, false) // keeps its place: who is told no cannot go on asking
	for _, call := range []*confirm.Call{of(0, -1), of(1000, 0)} {
		if _, _, err := l.Ask(t.Context(), call, within); !tooMany(err) {
			t.Errorf("a place after a rejection: %v", err)
		}
	}
	second := ask(t, l, of(1, 1), confirm.Pending)
	decide(t, l, second.ID, true)
	if err := l.Ran(t.Context(), ask(t, l, of(1, 1), confirm.Used)); err != nil {
		t.Fatal(err)
	}
	ask(t, l, of(1000, 0), confirm.Pending)
}

// TestLedger_GivenBack: a confirmation whose call never ran passes once more, whoever comes,
// and never after its time.
func TestLedger_GivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		l, other := confirm.NewLedger(s, "shop"), confirm.NewLedger(s, "shop")
		first := ask(t, l, deletion("{}"), confirm.Pending)
		decide(t, l, first.ID, true)
		for range 3 {
			used := ask(t, l, deletion("{}"), confirm.Used)
			if err := l.GiveBack(t.Context(), used); err != nil || used.ID != first.ID {
				t.Fatal(used, err)
			}
			if list, err := l.List(t.Context()); err != nil || len(list) != 1 || list[0].State != confirm.Given {
				t.Fatalf("given back, and listed: %v, %v", list, err)
			}
		}
		used := ask(t, other, deletion("{}"), confirm.Used)
		var passed atomic.Int32
		if err := other.GiveBack(t.Context(), used); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if c, _, err := l.Ask(t.Context(), deletion("{}"), within); err == nil && c.State == confirm.Used {
					passed.Add(1)
				}
			})
		}
		wg.Wait()
		if err := other.GiveBack(t.Context(), used); err != nil || passed.Load() != 1 { // a second time
			t.Fatalf("passed %d times, %v", passed.Load(), err)
		}
		if c, _, err := l.Ask(t.Context(), deletion("{}"), within); err != nil || c.State != confirm.Pending {
			t.Fatalf("given back twice: %+v, %v", c, err)
		}
		late := ask(t, l, deletion("late"), confirm.Pending)
		decide(t, l, late.ID, true)
		late = ask(t, l, deletion("late"), confirm.Used)
		time.Sleep(within + time.Second)
		if err := l.GiveBack(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		ask(t, l, deletion("late"), confirm.Pending)
	})
}

// TestLedger_Contention: many at once make one confirmation, use it once, and never exceed
// the bound of a caller.
func TestLedger_Contention(t *testing.T) {
	s := memory(t)
	contend(t, confirm.NewLedger(s, "shop"), confirm.NewLedger(s, "shop"))
}

// contend runs the calls of one caller on two gateways at once.
func contend(t *testing.T, a, b *confirm.Ledger) {
	t.Helper()
	at := func(i int) *confirm.Ledger { return []*confirm.Ledger{a, b}[i%2] }
	var ids sync.Map
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if c, _, err := at(i).Ask(t.Context(), deletion("{}"), within); err != nil {
				t.Error(err)
			} else {
				ids.Store(c.ID, true)
			}
		})
	}
	wg.Wait()
	var id string
	n := 0
	ids.Range(func(key, _ any) bool { id, n = key.(string), n+1; return true })
	if n != 1 {
		t.Fatalf("one call waits under %d ids", n)
	}
	var given, passed atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			if _, err := at(i).Decide(t.Context(), id, true); err == nil {
				given.Add(1)
			}
		})
	}
	wg.Wait()
	for i := range 16 {
		wg.Go(func() {
			if c, _, err := at(i).Ask(t.Context(), deletion("{}"), within); err != nil {
				t.Error(err)
			} else if c.State == confirm.Used {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if given.Load() != 1 || passed.Load() != 1 {
		t.Errorf("given %d times, passed %d times", given.Load(), passed.Load())
	}
	for i := range 60 {
		wg.Go(func() {
			if _, _, err := at(i).Ask(t.Context(), deletion(fmt.Sprint(i)), within); err != nil && !tooMany(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := a.List(t.Context()); err != nil || len(list) > confirm.PerCaller || len(list) == 0 {
		t.Errorf("%d wait, %v", len(list), err)
	}
}

// failing fails every operation from the n-th on.
type failing struct {
	store.Store
	left *atomic.Int32
}

var errDown = errors.New("down")

func (f failing) down() bool { return f.left.Add(-1) < 0 }

func (f failing) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	if f.down() {
		return nil, errDown
	}
	return f.Store.GetAll(ctx, keys...)
}

func (f failing) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if f.down() {
		return errDown
	}
	return f.Store.Set(ctx, key, value, ttl)
}

func (f failing) SetOnce(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	if f.down() {
		return false, errDown
	}
	return f.Store.SetOnce(ctx, key, ttl)
}

// TestLedger_StoreFails: wherever the store begins to fail, nothing passes that nobody has
// given, and nothing waits that cannot be found.
func TestLedger_StoreFails(t *testing.T) {
	for n := range int32(12) {
		s := memory(t)
		f := failing{s, new(atomic.Int32)}
		f.left.Store(n)
		l := confirm.NewLedger(f, "shop")
		c, _, err := l.Ask(t.Context(), deletion("{}"), within)
		if err == nil {
			if got, err := confirm.NewLedger(s, "shop").Get(t.Context(), c.ID); err != nil || got.State != confirm.Pending || c.State != confirm.Pending {
				t.Errorf("after %d operations: %+v, %v", n, got, err)
			}
		} else if !errors.Is(err, errDown) {
			t.Errorf("after %d operations: %v", n, err)
		}
		if n == 0 && err == nil {
			t.Error("the store does not fail")
		}
	}
	s := memory(t)
	l := confirm.NewLedger(s, "shop")
	decide(t, l, ask(t, l, deletion("{}"), confirm.Pending).ID, true)
	for n := range int32(3) { // the call, the confirmation, its use
		f := failing{s, new(atomic.Int32)}
		f.left.Store(n)
		if c, _, err := confirm.NewLedger(f, "shop").Ask(t.Context(), deletion("{}"), within); !errors.Is(err, errDown) {
			t.Errorf("after %d operations: %+v, %v", n, c, err)
		}
	}
	ask(t, l, deletion("{}"), confirm.Used)
}

// forgetting takes what it does not keep, as a store behind a fallback may.
type forgetting struct{ store.Store }

func (forgetting) Set(context.Context, string, string, time.Duration) error { return nil }

func TestLedger_StoreForgets(t *testing.T) {
	s := memory(t)
	if c, _, err := confirm.NewLedger(forgetting{s}, "shop").Ask(t.Context(), deletion("{}"), within); err == nil {
		t.Errorf("waits nowhere: %+v", c)
	}
	l := confirm.NewLedger(s, "shop")
	c := ask(t, l, deletion(`{"a":1}`), confirm.Pending)
	if _, err := confirm.NewLedger(forgetting{s}, "shop").Decide(t.Context(), c.ID, true); err == nil {
		t.Error("a decision that is not kept counts")
	}
	ask(t, l, deletion(`{"a":1}`), confirm.Pending)
}

// TestLinks: a token opens its confirmation until somebody decides; every gateway has its own.
func TestLinks(t *testing.T) {
	s := memory(t)
	l := confirm.NewLedger(s, "shop")
	c := ask(t, l, deletion("{}"), confirm.Pending)
	var tokens []string
	for range 2 {
		links := confirm.NewLinks()
		token, err := links.Token(t.Context(), l, c)
		again, err2 := links.Token(t.Context(), l, c)
		if err != nil || err2 != nil || token != again || len(token) != confirm.TokenLen {
			t.Fatalf("tokens %q, %q, %v, %v", token, again, err, err2)
		}
		tokens = append(tokens, token)
	}
	for _, token := range tokens {
		if got, err := l.ByToken(t.Context(), token); err != nil || got.ID != c.ID {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := confirm.NewLedger(s, "other").ByToken(t.Context(), token); !errors.Is(err, confirm.ErrUnknown) {
			t.Errorf("opens on another site: %+v, %v", got, err)
		}
	}
	decide(t, l, c.ID, true)
	for _, token := range append(tokens, "", c.ID, strings.Repeat("A", confirm.TokenLen), tokens[0]+"=", tokens[0][:42]+"_") {
		if got, err := l.ByToken(t.Context(), token); !errors.Is(err, confirm.ErrUnknown) {
			t.Errorf("%q opens %+v, %v", token, got, err)
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":{"d":null,"c":"<x>"}}`: `{"a":{"c":"<x>","d":null},"b":1}`,
		`{"id":"7"}`:                       `{"id":"7"}`,
		`{"id":7.0}`:                       `{"id":7.0}`,
		`9007199254740993`:                 `9007199254740993`,
		strings.Repeat("[", 33) + strings.Repeat("]", 33):     strings.Repeat("[", 33) + strings.Repeat("]", 33),
		strings.Repeat("[", 34) + strings.Repeat("]", 34):     "",
		`"` + strings.Repeat("x", confirm.MaxArguments) + `"`: "",
	} {
		got, err := confirm.Arguments(parsed(t, text))
		if got != want || (want == "") != errors.Is(err, confirm.ErrArguments) {
			t.Errorf("%.40s: %.40s, %v", text, got, err)
		}
	}
	for _, v := range []any{"\xff", map[string]any{"\xfe": 1}, []any{map[string]any{"a": "\xc0"}}} {
		if got, err := confirm.Arguments(v); !errors.Is(err, confirm.ErrArguments) {
			t.Errorf("%q: %q, %v", v, got, err)
		}
	}
}

func TestShow(t *testing.T) {
	got := confirm.Show("{\"a\":\"x\u202ey\u200bz\u3164\",\"b\":[\"é\",\"\U000e0041\"]}")
	want := "{\n  \"a\": \"x\\u202ey\\u200bz\\u3164\",\n  \"b\": [\n    \"é\",\n    \"\\udb40\\udc41\"\n  ]\n}"
	if got != want {
		t.Errorf("got %s", got)
	}
	if got := confirm.Show(""); got != "" {
		t.Errorf("nothing is shown as %q", got)
	}
}

// FuzzToken: no text opens a confirmation but its token.
func FuzzToken(f *testing.F) {
	l := confirm.NewLedger(memory(f), "shop")
	c, _, err := l.Ask(f.Context(), deletion("{}"), time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	token, err := confirm.NewLinks().Token(f.Context(), l, c)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{token, token + "\n", token[:42] + "B", "", "../" + token, c.ID} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := l.ByToken(t.Context(), text); (err == nil) != (text == token) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	})
}
