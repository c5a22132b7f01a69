package policies

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// fixed is a policy that always says the same.
type fixed struct {
	Common
	verdict Verdict
	err     error
	asked   *int
}

func (*fixed) Configure(Option) error { return nil }
func (*fixed) Provision(*Site) error  { return nil }
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
		"one policy observes":               {"", fixed{Common: Common{Mode: Observe}, verdict: no}, fixed{}, WouldRefuse, "first", 403, 2, 1},
		"one observes, another refuses":     {"", fixed{Common: Common{Mode: Observe}, verdict: no}, fixed{verdict: no}, Refuse, "second", 403, 2, 2},
		"one enforces where all observe":    {Observe, fixed{Common: Common{Mode: Enforce}, verdict: no}, fixed{}, Refuse, "first", 403, 1, 1},
		"could not decide":                  {"", fixed{err: ErrUndecided}, fixed{}, Refuse, "first", 503, 1, 1},
		"could not decide, on_error pass":   {"", fixed{Common: Common{OnError: PassOnError}, err: ErrUndecided}, fixed{}, Pass, "", 0, 2, 1},
		"a reading refused, on_error pass":  {"", fixed{Common: Common{OnError: PassOnError}, err: ambiguous("x")}, fixed{}, Refuse, "first", 400, 1, 1},
		"too many questions, on_error pass": {"", fixed{Common: Common{OnError: PassOnError}, err: ErrTooManyQuestions}, fixed{}, Refuse, "first", 429, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked, counted := 0, 0
			test.first.asked, test.second.asked = &asked, &asked
			c := &Chain{mode: test.mode, links: []link{
				{"first", &test.first, &test.first.Common}, {"second", &test.second, &test.second.Common},
			}, Count: func(Decision) { counted++ }}
			s := newSite(t)
			d := c.Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/x/y", ""))
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
	c.Policies(func(name string, _ Policy) bool { names = append(names, name); return true })
	want := []string{"call", "access", "order_type", "checkout_total", "refund_totals", "redact", "no_store"}
	if !slices.Equal(names, want) {
		t.Errorf("on by default: %v, want %v", names, want)
	}
	off := new(Access)
	off.Off = true
	c, err = NewChain(s, "", map[string]Policy{"access": off})
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/wp/v2/users", "")); d.Outcome != Pass {
		t.Errorf("access is off: %+v", d)
	}
	wrong := new(NoStore)
	wrong.OnError = "maybe"
	if _, err := NewChain(s, "", map[string]Policy{"no_store": wrong}); err == nil || !strings.Contains(err.Error(), "no_store: on_error") {
		t.Errorf("got error %v", err)
	}
}

func TestChain_RequestsWithoutAReading(t *testing.T) {
	s := newSite(t)
	for _, mode := range []Mode{Enforce, Observe} {
		c, err := NewChain(s, mode, map[string]Policy{"access": &Access{LoginOnly: true}})
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

// TestChain_PassOnErrorSaysWhy: what passes because nobody could decide is known
// to the log.
func TestChain_PassOnErrorSaysWhy(t *testing.T) {
	s := newSite(t)
	p := &fixed{Common: Common{OnError: PassOnError}, err: ErrUndecided, asked: new(int)}
	d := (&Chain{links: []link{{"signature", p, &p.Common}}}).Judge(t.Context(), request(t, s, nil, "GET", "/wp-json/wp/v2/posts", ""))
	if d.Outcome != Pass || !errors.Is(d.Err, ErrUndecided) || !strings.Contains(d.Err.Error(), "signature") {
		t.Errorf("got %+v", d)
	}
}

func TestChain_BatchNamesTheRefusedIDs(t *testing.T) {
	s := newSite(t)
	c, err := NewChain(s, "", map[string]Policy{"access": &Access{Rules: []Rule{{Deny: true, Methods: []string{"PUT"}, Routes: []string{"/wc/v3/orders/*"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, s, nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8}],"create":[{}]}`, jsonType)
	d := c.Judge(t.Context(), r)
	if ids, _ := d.Verdict.Data["ids"].([]uint64); d.Outcome != Refuse || !slices.Equal(ids, []uint64{7, 8}) {
		t.Errorf("got %+v", d)
	}
	c, err = NewChain(s, "", map[string]Policy{"access": &Access{Rules: []Rule{{Deny: true, Methods: []string{"DELETE"}, Routes: []string{"/wc/v3/products/*"}}}}})
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
		if CommonOf(e.New()) == nil || !slices.Contains(e.Words, e.Name) {
			t.Errorf("%s: no common options, or its own name is not one of its words", e.Name)
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

// The policies can be used, tested and read without a server around them.
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
		"anonymous":  {"/wp-json/complianz/v1/consent", nil},
		"identified": {"/wp-json/wp/v2/posts", []string{loginLine, nonceLine}},
	} {
		b.Run(name, func(b *testing.B) {
			s := newSite(b)
			backend := answering(200, adminBody)
			access := &Access{LoginOnly: true, Rules: []Rule{{Allow: "anyone", Routes: []string{"/complianz/v1/consent"}}}}
			c, err := NewChain(s, "", map[string]Policy{"access": access})
			if err != nil {
				b.Fatal(err)
			}
			r := request(b, s, backend, "GET", bench.target, "", bench.headers...)
			b.ReportAllocs()
			for b.Loop() {
				r.who, r.Matched = nil, nil
				if d := c.Judge(b.Context(), r); d.Outcome != Pass {
					b.Fatal(d)
				}
			}
			if n := len(backend.questions()); name == "anonymous" && n > 0 {
				b.Errorf("%d questions for an anonymous call", n)
			}
		})
	}
}

// TestChain_EarlyAccess: who may not call a batch hears so before its body is read; what
// is only observed is no reason not to read it.
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
			access.Mode = test.mode
			access.Rules = append(access.Rules, mustRule("anyone", nil, "/wc/store/v1/**"))
			if err := access.Provision(s); err != nil {
				t.Fatal(err)
			}
			reading := new(Reading)
			c := &Chain{links: []link{{"call", reading, &reading.Common}, {"access", access, &access.Common}}}
			r := request(t, s, nil, "POST", test.target, "")
			body := &broken{}
			r.HTTP.Body, r.HTTP.ContentLength = body, 1000
			r.HTTP.Header.Set("Content-Type", "application/json")
			r.Call = call.NewReader(call.Site{Platform: s.Platform}).ReadFrom(netip.Addr{}, r.HTTP, nil)
			if d := c.Judge(t.Context(), r); d.Verdict.Status != test.status || body.read != test.read {
				t.Errorf("got %+v, body read: %t", d, body.read)
			}
		})
	}
}

// broken is a body that breaks off.
type broken struct{ read bool }

func (b *broken) Read([]byte) (int, error) {
	b.read = true
	return 0, io.ErrUnexpectedEOF
}

func (*broken) Close() error { return nil }
