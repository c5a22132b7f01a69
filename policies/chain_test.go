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

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// fixed is a policy with a constant answer.
type fixed struct {
	settings policy.Settings
	verdict  policy.Verdict
	err      error
	asked    *int
}

func (p *fixed) Check(context.Context, *policy.Request) (policy.Verdict, error) {
	*p.asked++
	return p.verdict, p.err
}

func TestChain_Judge(t *testing.T) {
	no := policy.Verdict{Status: 403, Code: policy.CodeForbidden}
	for name, test := range map[string]struct {
		mode    policy.Mode
		first   fixed
		second  fixed
		outcome policy.Outcome
		policy  string
		status  int
		asked   int
		counted int
	}{
		"pass":                              {"", fixed{}, fixed{}, policy.Pass, "", 0, 2, 1},
		"first refusal wins":                {"", fixed{verdict: no}, fixed{verdict: no}, policy.Refuse, "first", 403, 1, 1},
		"second refuses":                    {"", fixed{}, fixed{verdict: no}, policy.Refuse, "second", 403, 2, 1},
		"observe goes on":                   {policy.Observe, fixed{verdict: no}, fixed{verdict: no}, policy.WouldRefuse, "first", 403, 2, 2},
		"one policy observes":               {"", fixed{settings: policy.Settings{Mode: policy.Observe}, verdict: no}, fixed{}, policy.WouldRefuse, "first", 403, 2, 1},
		"one observes, another refuses":     {"", fixed{settings: policy.Settings{Mode: policy.Observe}, verdict: no}, fixed{verdict: no}, policy.Refuse, "second", 403, 2, 2},
		"one enforces where all observe":    {policy.Observe, fixed{settings: policy.Settings{Mode: policy.Enforce}, verdict: no}, fixed{}, policy.Refuse, "first", 403, 1, 1},
		"could not decide":                  {"", fixed{err: ask.ErrUndecided}, fixed{}, policy.Refuse, "first", 503, 1, 1},
		"could not decide, on_error pass":   {"", fixed{settings: policy.Settings{OnError: policy.PassOnError}, err: ask.ErrUndecided}, fixed{}, policy.Pass, "", 0, 2, 1},
		"a reading refused, on_error pass":  {"", fixed{settings: policy.Settings{OnError: policy.PassOnError}, err: call.Ambiguous("x")}, fixed{}, policy.Refuse, "first", 400, 1, 1},
		"too many questions, on_error pass": {"", fixed{settings: policy.Settings{OnError: policy.PassOnError}, err: ask.ErrTooMany}, fixed{}, policy.Refuse, "first", 429, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked, counted := 0, 0
			test.first.asked, test.second.asked = &asked, &asked
			c := policy.Link(nil, test.mode, policytest.Linked("first", &test.first, test.first.settings), policytest.Linked("second", &test.second, test.second.settings))
			r := policytest.Request(t, policytest.NewSite(t), nil, "GET", "/wp-json/x/y", "")
			r.Trace = &policy.Trace{
				Refused: func(*policy.Request, policy.Decision) { counted++ },
				Decided: func(_ *policy.Request, d policy.Decision) {
					if d.Outcome == policy.Pass {
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
	s := policytest.NewSite(t)
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
	off := configured("access", new(access.Access), policy.Settings{Off: true})
	c, err = NewChain(s, "", off)
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/users", "")); d.Outcome != policy.Pass {
		t.Errorf("access is off: %+v", d)
	}
	wrong := configured("no_store", new(NoStore), policy.Settings{OnError: "maybe"})
	if _, err := NewChain(s, "", wrong); err == nil || !strings.Contains(err.Error(), "no_store: on_error") {
		t.Errorf("got error %v", err)
	}
}

func TestChain_RequestsWithoutAReading(t *testing.T) {
	s := policytest.NewSite(t)
	for _, mode := range []policy.Mode{policy.Enforce, policy.Observe} {
		c, err := NewChain(s, mode, configured("access", &access.Access{LoginOnly: true}))
		if err != nil {
			t.Fatal(err)
		}
		d := c.Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts?rest_route=/wp/v2/users", ""))
		if d.Policy != "call" || d.Verdict.Status != 400 || d.Verdict.Code != policy.CodeAmbiguous || (d.Outcome == policy.Refuse) != (mode == policy.Enforce) {
			t.Errorf("%s: got %+v", mode, d)
		}
		d = c.Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/cms-json/cms/v2/users", ""))
		if d.Verdict.Status != http.StatusServiceUnavailable || !errors.Is(d.Err, policy.ErrForeign) {
			t.Errorf("%s: the other platform's prefix: %+v", mode, d)
		}
	}
}

// TestChain_PassOnErrorSaysWhy: the log gets the reason for a call that passed undecided.
func TestChain_PassOnErrorSaysWhy(t *testing.T) {
	s := policytest.NewSite(t)
	p := &fixed{err: ask.ErrUndecided, asked: new(int)}
	d := policy.Link(nil, "", policytest.Linked("signature", p, policy.Settings{OnError: policy.PassOnError})).Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", ""))
	if d.Outcome != policy.Pass || !errors.Is(d.Err, ask.ErrUndecided) || !strings.Contains(d.Err.Error(), "signature") {
		t.Errorf("got %+v", d)
	}
}

func TestChain_BatchNamesTheRefusedIDs(t *testing.T) {
	s := policytest.NewSite(t)
	c, err := NewChain(s, "", configured("access", &access.Access{Rules: []policy.Rule{{Deny: true, Methods: []string{"PUT"}, Routes: []string{"/wc/v3/orders/*"}}}}))
	if err != nil {
		t.Fatal(err)
	}
	r := policytest.Request(t, s, nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8}],"create":[{}]}`, policytest.JSONType)
	d := c.Judge(t.Context(), r)
	if ids, _ := d.Verdict.Data["ids"].([]uint64); d.Outcome != policy.Refuse || !slices.Equal(ids, []uint64{7, 8}) {
		t.Errorf("got %+v", d)
	}
	c, err = NewChain(s, "", configured("access", &access.Access{Rules: []policy.Rule{{Deny: true, Methods: []string{"DELETE"}, Routes: []string{"/wc/v3/products/*"}}}}))
	if err != nil {
		t.Fatal(err)
	}
	d = c.Judge(t.Context(), policytest.Request(t, s, nil, "POST", "/wp-json/wc/v3/products/batch", `{"delete":[4,5]}`, policytest.JSONType))
	if ids, _ := d.Verdict.Data["ids"].([]uint64); d.Outcome != policy.Refuse || !slices.Equal(ids, []uint64{4, 5}) {
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

// TestImports: the frame knows no policy but its own, the reading of calls, and what reasons about a chain knows them by what they can do.
func TestImports(t *testing.T) {
	const here = "github.com/restwarden/restwarden/policies"
	own := map[string]bool{here + "/review": true}
	for _, e := range Catalog {
		own[here+"/"+e.Name] = true
	}
	delete(own, here+"/call") // what reads a request; its policy is a file
	for _, name := range []string{"policy", "review"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+name).CombinedOutput()
		deps := strings.Fields(string(out))
		if err != nil || !slices.Contains(deps, here+"/call") {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		for _, dep := range deps {
			if own[dep] && dep != here+"/"+name || dep == here {
				t.Errorf("%s knows of %s", name, dep)
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
		"identified": {"/wp-json/wp/v2/posts", []string{policytest.LoginLine, policytest.NonceLine}},
	} {
		b.Run(name, func(b *testing.B) {
			s := policytest.NewSite(b)
			backend := asktest.Answering(200, policytest.AdminBody)
			access := &access.Access{LoginOnly: true, Rules: []policy.Rule{{Allow: "anyone", Routes: []string{"/complianz/v1/track"}}}}
			c, err := NewChain(s, "", configured("access", access))
			if err != nil {
				b.Fatal(err)
			}
			r := policytest.Request(b, s, backend, "GET", bench.target, "", bench.headers...)
			b.ReportAllocs()
			for b.Loop() {
				policytest.Forget(r)
				if d := c.Judge(b.Context(), r); d.Outcome != policy.Pass {
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
		mode   policy.Mode
		status int
		read   bool
	}{
		"nobody may":  {"/wp-json/batch/v1", "", 401, false},
		"observed":    {"/wp-json/batch/v1", policy.Observe, 400, true},
		"anybody may": {"/wp-json/wc/store/v1/batch", "", 400, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			access := &access.Access{LoginOnly: true}
			access.Rules = append(access.Rules, policy.MustRule("anyone", nil, "/wc/store/v1/**"))
			policytest.Provision(t, s, access)
			c := policy.Link(s, "", policytest.Linked("call", new(policy.Reading)), policytest.Linked("access", access, policy.Settings{Mode: test.mode}))
			r := policytest.Request(t, s, nil, "POST", test.target, "")
			body := &broken{}
			r.HTTP.Body, r.HTTP.ContentLength = body, 1000
			r.HTTP.Header.Set("Content-Type", "application/json")
			r.Call = call.NewReader(call.Config{Platform: s.Platform}).ReadFrom(budget.Holder{}, r.HTTP, nil)
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
