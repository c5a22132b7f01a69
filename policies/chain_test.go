package policies

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// fixed is a policy with a constant answer.
type fixed struct {
	settings Settings
	verdict  Verdict
	err      error
	asked    *int
}

func (p *fixed) Check(context.Context, *Request) (Verdict, error) {
	*p.asked++
	return p.verdict, p.err
}

func TestChain_Judge(t *testing.T) {
	no := Verdict{Status: 403, Code: CodeForbidden}
	for name, test := range map[string]struct {
		mode    Mode
		first   fixed
		second  fixed
		outcome Outcome
		policy  string
		status  int
		asked   int
		counted int
	}{
		"pass":                              {"", fixed{}, fixed{}, Pass, "", 0, 2, 1},
		"first refusal wins":                {"", fixed{verdict: no}, fixed{verdict: no}, Refuse, "first", 403, 1, 1},
		"second refuses":                    {"", fixed{}, fixed{verdict: no}, Refuse, "second", 403, 2, 1},
		"observe goes on":                   {Observe, fixed{verdict: no}, fixed{verdict: no}, WouldRefuse, "first", 403, 2, 2},
		"one policy observes":               {"", fixed{settings: Settings{Mode: Observe}, verdict: no}, fixed{}, WouldRefuse, "first", 403, 2, 1},
		"one observes, another refuses":     {"", fixed{settings: Settings{Mode: Observe}, verdict: no}, fixed{verdict: no}, Refuse, "second", 403, 2, 2},
		"one enforces where all observe":    {Observe, fixed{settings: Settings{Mode: Enforce}, verdict: no}, fixed{}, Refuse, "first", 403, 1, 1},
		"could not decide":                  {"", fixed{err: ask.ErrUndecided}, fixed{}, Refuse, "first", 503, 1, 1},
		"could not decide, on_error pass":   {"", fixed{settings: Settings{OnError: PassOnError}, err: ask.ErrUndecided}, fixed{}, Pass, "", 0, 2, 1},
		"a reading refused, on_error pass":  {"", fixed{settings: Settings{OnError: PassOnError}, err: call.Ambiguous("x")}, fixed{}, Refuse, "first", 400, 1, 1},
		"too many questions, on_error pass": {"", fixed{settings: Settings{OnError: PassOnError}, err: ask.ErrTooMany}, fixed{}, Refuse, "first", 429, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked, counted := 0, 0
			test.first.asked, test.second.asked = &asked, &asked
			c := Link(nil, test.mode, linked("first", &test.first, test.first.settings), linked("second", &test.second, test.second.settings))
			r := request(t, newSite(t), nil, "GET", "/wp-json/x/y", "")
			r.Trace = &Trace{
				Refused: func(*Request, Decision) { counted++ },
				Decided: func(_ *Request, d Decision) {
					if d.Outcome == Pass {
						counted++
					}
				},
			}
			d := c.Judge(t.Context(), r)
			if d.Outcome != test.outcome || d.Policy != test.policy || d.Verdict.Status != test.status {
				t.Errorf("got %+v", d)
			}
			if asked != test.asked || counted != test.counted {
				t.Errorf("asked %d, counted %d", asked, counted)
			}
		})
	}
}

func TestChain_OfADirective(t *testing.T) {
	s := newSite(t)
	c, err := NewChain(s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range c.Policies() {
		names = append(names, p.Name)
	}
	want := []string{"call", "access", "order_type", "checkout_total", "refund_totals", "redact", "no_store"}
	if !slices.Equal(names, want) {
		t.Errorf("on by default: %v, want %v", names, want)
	}
	off := configured("access", new(Access), Settings{Off: true})
	c, err = NewChain(s, "", off)
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/wp/v2/users", "")); d.Outcome != Pass {
		t.Errorf("access is off: %+v", d)
	}
	wrong := configured("no_store", new(NoStore), Settings{OnError: "maybe"})
	if _, err := NewChain(s, "", wrong); err == nil || !strings.Contains(err.Error(), "no_store: on_error") {
		t.Errorf("got error %v", err)
	}
}

func TestChain_RequestsWithoutAReading(t *testing.T) {
	s := newSite(t)
	for _, mode := range []Mode{Enforce, Observe} {
		c, err := NewChain(s, mode, configured("access", &Access{LoginOnly: true}))
		if err != nil {
			t.Fatal(err)
		}
		d := c.Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/wp/v2/posts?rest_route=/wp/v2/users", ""))
		if d.Policy != "call" || d.Verdict.Status != 400 || d.Verdict.Code != CodeAmbiguous || (d.Outcome == Refuse) != (mode == Enforce) {
			t.Errorf("%s: got %+v", mode, d)
		}
		d = c.Judge(t.Context(), request(t, s, nil, "GET", "/cms-json/cms/v2/users", ""))
		if d.Verdict.Status != http.StatusServiceUnavailable || !errors.Is(d.Err, ErrForeign) {
			t.Errorf("%s: the other platform's prefix: %+v", mode, d)
		}
	}
}

// TestChain_PassOnErrorSaysWhy: the log gets the reason for a call that passed undecided.
func TestChain_PassOnErrorSaysWhy(t *testing.T) {
	s := newSite(t)
	p := &fixed{err: ask.ErrUndecided, asked: new(int)}
	d := Link(nil, "", linked("signature", p, Settings{OnError: PassOnError})).Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/wp/v2/posts", ""))
	if d.Outcome != Pass || !errors.Is(d.Err, ask.ErrUndecided) || !strings.Contains(d.Err.Error(), "signature") {
		t.Errorf("got %+v", d)
	}
}

func TestChain_BatchNamesTheRefusedIDs(t *testing.T) {
	s := newSite(t)
	c, err := NewChain(s, "", configured("access", &Access{Rules: []Rule{{Deny: true, Methods: []string{"PUT"}, Routes: []string{"/wc/v3/orders/*"}}}}))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, s, nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8}],"create":[{}]}`, jsonType)
	d := c.Judge(t.Context(), r)
	if ids, _ := d.Verdict.Data["ids"].([]uint64); d.Outcome != Refuse || !slices.Equal(ids, []uint64{7, 8}) {
		t.Errorf("got %+v", d)
	}
	c, err = NewChain(s, "", configured("access", &Access{Rules: []Rule{{Deny: true, Methods: []string{"DELETE"}, Routes: []string{"/wc/v3/products/*"}}}}))
	if err != nil {
		t.Fatal(err)
	}
	d = c.Judge(t.Context(), request(t, s, nil, "POST", "/wp-json/wc/v3/products/batch", `{"delete":[4,5]}`, jsonType))
	if ids, _ := d.Verdict.Data["ids"].([]uint64); d.Outcome != Refuse || !slices.Equal(ids, []uint64{4, 5}) {
		t.Errorf("products: got %+v", d)
	}
}

func TestCatalog(t *testing.T) {
	words := map[string]bool{}
	for _, e := range Catalog {
		if !slices.Contains(e.Words, e.Name) {
			t.Errorf("%s: its own name is not one of its words", e.Name)
		}
		for _, w := range e.Words {
			if words[w] {
				t.Errorf("%s: the word %s is taken twice", e.Name, w)
			}
			words[w] = true
			if found, ok := Lookup(w); !ok || found.Name != e.Name {
				t.Errorf("Lookup(%s) = %+v", w, found)
			}
		}
	}
	if _, ok := Lookup("nothing"); ok {
		t.Error("an unknown word was found")
	}
}

// TestDependencies: the policies can be used, tested and read without a server.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/restwarden/restwarden/policies/call") {
		t.Fatal("go list lists nothing")
	}
	for _, dep := range deps {
		for _, barred := range []string{"github.com/caddyserver/caddy", "go.uber.org/zap", "github.com/prometheus/client_golang", "github.com/redis/go-redis"} {
			if strings.HasPrefix(dep, barred) {
				t.Errorf("policies depends on %s", dep)
			}
		}
	}
}

func BenchmarkChain(b *testing.B) {
	for name, bench := range map[string]struct {
		target  string
		headers []string
	}{
		"anonymous":  {"/wp-json/complianz/v1/track", nil},
		"identified": {"/wp-json/wp/v2/posts", []string{loginLine, nonceLine}},
	} {
		b.Run(name, func(b *testing.B) {
			s := newSite(b)
			backend := asktest.Answering(200, adminBody)
			access := &Access{LoginOnly: true, Rules: []Rule{{Allow: "anyone", Routes: []string{"/complianz/v1/track"}}}}
			c, err := NewChain(s, "", configured("access", access))
			if err != nil {
				b.Fatal(err)
			}
			r := request(b, s, backend, "GET", bench.target, "", bench.headers...)
			b.ReportAllocs()
			for b.Loop() {
				forget(r)
				if d := c.Judge(b.Context(), r); d.Outcome != Pass {
					b.Fatal(d)
				}
			}
			if n := len(backend.Questions()); name == "anonymous" && n > 0 {
				b.Errorf("%d questions for an anonymous call", n)
			}
		})
	}
}

// TestChain_EarlyAccess: a caller who may not use the batch route is refused before the
// body is read. A refusal that is only observed does not keep the body from being read.
func TestChain_EarlyAccess(t *testing.T) {
	for name, test := range map[string]struct {
		target string
		mode   Mode
		status int
		read   bool
	}{
		"nobody may":  {"/wp-json/batch/v1", "", 401, false},
		"observed":    {"/wp-json/batch/v1", Observe, 400, true},
		"anybody may": {"/wp-json/wc/store/v1/batch", "", 400, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			access := &Access{LoginOnly: true}
			access.Rules = append(access.Rules, mustRule("anyone", nil, "/wc/store/v1/**"))
			provision(t, s, access)
			c := Link(s, "", linked("call", new(Reading)), linked("access", access, Settings{Mode: test.mode}))
			r := request(t, s, nil, "POST", test.target, "")
			body := &broken{}
			r.HTTP.Body, r.HTTP.ContentLength = body, 1000
			r.HTTP.Header.Set("Content-Type", "application/json")
			r.Call = call.NewReader(call.Site{Platform: s.Platform}).ReadFrom(call.Holder{}, r.HTTP, nil)
			if d := c.Judge(t.Context(), r); d.Verdict.Status != test.status || body.read != test.read {
				t.Errorf("got %+v, body read: %t", d, body.read)
			}
		})
	}
}

// broken is a body that ends early.
type broken struct{ read bool }

func (b *broken) Read([]byte) (int, error) {
	b.read = true
	return 0, io.ErrUnexpectedEOF
}

func (*broken) Close() error { return nil }
