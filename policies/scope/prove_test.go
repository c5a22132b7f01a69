package scope_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/scope"
)

// triedKeys are routes of a small alphabet, those among them by which a scope could widen itself.
var triedKeys = func() (keys []string) {
	for _, first := range []string{"/wc/v3", "/wp/v2", "/zz/v1"} {
		for _, second := range []string{"", "/orders", "/users", "/webhooks", "/settings", "/zz"} {
			keys = append(keys, first+second)
			if second != "" {
				keys = append(keys, first+second+"/zz", first+second+"/application-passwords", first+second+"/batch", first+second+"/zz/application-passwords")
			}
		}
	}
	return keys
}()

var triedMethods = []string{"GET", "POST", "DELETE", "PROPFIND"}

// draws makes lines of scopes and claims about them at random.
type draws struct{ *rand.Rand }

func (d draws) one(of ...string) string { return of[d.IntN(len(of))] }

func (d draws) pattern() string {
	p := d.one("/wc", "/wp", "/*", "/zz") + d.one("/v3", "/v2", "/*", "/v1")
	for range d.IntN(4) {
		p += "/" + d.one("orders", "users", "webhooks", "settings", "*", ":id", "application-passwords", "zz")
	}
	return p + d.one("", "", "/**")
}

func (d draws) methods() string { return d.one("", "", "GET ", "POST ", "GET,POST ", "DELETE ") }

func (d draws) scope(name, whom string) policy.Option {
	lines := []string{whom}
	for range d.IntN(4) {
		lines = append(lines, "allow "+d.methods()+d.pattern())
	}
	if d.IntN(6) == 0 {
		lines = append(lines, "mode observe")
	}
	return line("scope "+name, lines...)
}

// TestScope_ProveAsTriedOut compares proofs with all calls of a small alphabet, 20,000 times.
func TestScope_ProveAsTriedOut(t *testing.T) {
	t.Parallel()
	d, held := draws{rand.New(rand.NewPCG(34, 1))}, map[bool]int{}
	for range 20 {
		s := policytest.NewSite(t)
		options := []policy.Option{
			d.scope("a", "key *"), d.scope("b", "user *"), d.scope("c", "key *"), d.scope("d", "key named00 named01"), d.scope("e", "user maria"), d.scope("f", "key named00"),
		}
		c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, options...)
		passes := map[string]bool{}
		by := map[string]string{
			"": basic(key), "d": basic("ck_named00"), "b": policytest.LoginLine, "e": "Cookie: wordpress_logged_in_x=Maria%7C1%7Ca%7Cb",
		}
		for name, header := range by {
			for _, route := range triedKeys {
				for _, method := range triedMethods {
					r := policytest.Request(t, s, &asktest.Platform{Answer: shop}, method, "/wp-json"+route, "", header)
					passes[name+method+route] = c.Judge(t.Context(), r).Outcome != policy.Refuse
				}
			}
		}
		for range 1000 {
			q := review.Claim{Never: d.IntN(2) == 0, Routes: []string{d.pattern()}, Caller: caller.Caller{Kind: caller.KeyHolder}}
			name := d.one("", "b", "d", "e")
			if name == "b" || name == "e" {
				q.Caller.Kind = caller.User
			}
			if name != "" {
				q.Credential = s.Scopes.Holders(name)[0]
			}
			if m := strings.TrimSpace(d.methods()); m != "" {
				q.Methods = strings.Split(m, ",")
			}
			held[compare(t, c, q, name, passes)]++
		}
	}
	if held[true] < 2000 || held[false] < 2000 {
		t.Errorf("the drawn claims are of one kind: %v", held)
	}
}

// compare holds a proof against what was tried out, and tells whether it holds.
func compare(t *testing.T, c *policy.Chain, q review.Claim, name string, passes map[string]bool) bool {
	t.Helper()
	proof, err := review.Prove(c, q)
	if err != nil {
		t.Fatal(err)
	}
	target, _ := policy.NewTarget(q.Methods, q.Routes)
	for _, route := range triedKeys {
		for _, method := range triedMethods {
			passed := passes[name+method+route]
			if proof.Holds && target.Route(review.CallOf(method, route)) != nil && passed == q.Never {
				t.Fatalf("%+v holds, and %s %s breaks it", q, method, route)
			}
		}
	}
	for _, e := range proof.Counter {
		passed, tried := passes[name+e.Method+e.Route]
		if tried && passed != q.Never {
			t.Fatalf("%+v: %+v breaks nothing", q, e)
		}
	}
	return proof.Holds
}
