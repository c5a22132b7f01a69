package policies

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// counters are the counter-examples of a proof, in order: "GET /wp/v2/posts/1 by deny …".
func counters(p review.Proof) (list []string) {
	for _, e := range p.Counter {
		list = append(list, strings.TrimSuffix(e.Method+" "+e.Route+" by "+e.Rule, " by "))
	}
	return list
}

// siteIndex is the index of a site with some routes, one for each way of writing groups.
func siteIndex(more ...string) *index.Index {
	return index.New(append([]string{
		"/", "/wp/v2", "/wp/v2/posts", `/wp/v2/posts/(?P<id>[\d]+)`, `/wp/v2/users/(?P<id>[\d]+)`, "/wp/v2/users/me",
		`/wp/v2/types/(?P<type>[\w-]+)`, `/wp/v2/media/(?P<id>[\d]{2,3})`, `/shop/v1/(?P<what>orders|refunds)/(?P<id>[\d]+)`,
		`/files/v1/(?P<path>.+)`, `/files/v1/one(?:/(?P<part>[a-z]+))?`, "/wc/store/cart", "/wc/store/v1/checkout", `/wc/v3/orders/(?P<id>[\d]+)`,
	}, more...), []string{"wp/v2", "shop/v1", "files/v1", "wc/store", "wc/store/v1", "wc/v3"})
}

func TestProve_OverTheRoutesOfASite(t *testing.T) {
	for _, test := range []struct {
		name    string
		lines   string
		never   bool
		methods string
		routes  string
		who     caller.Caller
		want    []string // counter-examples; nil if the claim holds
	}{
		{"a literal that the group does not accept", "login_only; allow anyone /wp/v2/posts/latest", true, "", "/wp/v2/posts/**", caller.Caller{}, nil},
		{"a literal that the group accepts", "login_only; allow anyone GET /wp/v2/types/post", true, "", "/wp/v2/**", caller.Caller{}, []string{"GET /wp/v2/types/post by allow anyone GET /wp/v2/types/post"}},
		{"a route that the site does not have", "login_only; allow anyone /wp/v2/pages/**", true, "", "/wp/v2/**", caller.Caller{}, nil},
		{"bounds of a group", "login_only; allow anyone POST /wp/v2/media/:id", true, "POST", "/wp/v2/**", caller.Caller{}, []string{"POST /wp/v2/media/11 by allow anyone POST /wp/v2/media/:id"}},
		{"an alternative", "login_only; allow anyone /shop/v1/refunds/*", true, "GET", "/shop/**", caller.Caller{}, []string{"GET /shop/v1/refunds/1 by allow anyone /shop/v1/refunds/*"}},
		{"no alternative", "login_only; allow anyone /shop/v1/coupons/*", true, "GET", "/shop/**", caller.Caller{}, nil},
		{"a group over slashes", "login_only; allow anyone /files/v1/*/b/c", true, "GET", "/files/**", caller.Caller{}, []string{"GET /files/v1/1/b/c by allow anyone /files/v1/*/b/c"}},
		{"an optional group", "login_only; allow anyone /files/v1/one", true, "GET", "/files/v1/one", caller.Caller{}, []string{"GET /files/v1/one by allow anyone /files/v1/one"}},
		{"the old address of the checkout", "login_only; allow anyone /wc/store/v1/cart", true, "GET", "/wc/store/**", caller.Caller{}, []string{"GET /wc/store/cart by allow anyone /wc/store/v1/cart"}},
		{"the new address of the checkout", "login_only; allow anyone /wc/store/checkout", true, "GET", "/wc/store/**", caller.Caller{}, []string{"GET /wc/store/v1/checkout by allow anyone /wc/store/checkout"}},
		{"the root", "login_only; allow anyone /", true, "GET", "/", caller.Caller{}, []string{"GET / by allow anyone /"}},
		{"always, with a literal denied that the group accepts", "deny GET /wp/v2/types/secret", false, "GET", "/wp/v2/types/*", caller.Caller{}, []string{"GET /wp/v2/types/secret by deny GET /wp/v2/types/secret"}},
		{"always, with a literal denied that no route has", "deny GET /wp/v2/posts/secret", false, "GET", "/wp/v2/posts/*", caller.Caller{}, nil},
		{"always, for a built-in rule's exception", "", false, "GET", "/wp/v2/users/me", caller.Caller{}, nil},
		{"always, for a built-in rule", "", false, "GET", "/wp/v2/users/*", caller.Caller{}, []string{"GET /wp/v2/users/1 by built-in: only users /wp/v2/users /wp/v2/users/*"}},
		{"a key in the shop", "login_only", false, "GET", "/wc/v3/**", caller.Caller{Kind: caller.KeyHolder}, nil},
		{"a key elsewhere", "login_only", false, "GET", "/wp/v2/posts", caller.Caller{Kind: caller.KeyHolder}, []string{"GET /wp/v2/posts by login_only"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			if test.lines != "" {
				lines = strings.Split(test.lines, "; ")
			}
			q := review.Claim{Never: test.never, Routes: []string{test.routes}, Caller: test.who, Index: siteIndex()}
			if test.methods != "" {
				q.Methods = strings.Split(test.methods, ",")
			}
			proof, err := review.Prove(chainOf(t, lines...), q)
			if got := counters(proof); err != nil || !slices.Equal(got, test.want) || proof.Holds != (test.want == nil) {
				t.Errorf("got %q, want %q: %+v, %v", got, test.want, proof, err)
			}
			for _, e := range proof.Counter {
				if name, _ := q.Index.Pattern(e.Route); name != e.Pattern {
					t.Errorf("%s is %q, said to be %q", e.Route, name, e.Pattern)
				}
			}
		})
	}
}

// TestProve_Opaque: a claim on routes that cannot be reasoned about does not hold, nor does it
// break.
func TestProve_Opaque(t *testing.T) {
	c := chainOf(t, "login_only")
	for pattern, unproved := range map[string]bool{
		`/odd/v1/(?=x)x`:      true,
		`/odd/v1/a|/other/v1`: true, // it may begin with anything
		`/other/v1/(?=x)x`:    false,
	} {
		proof, err := review.Prove(c, review.Claim{Never: true, Routes: []string{"/odd/**"}, Index: siteIndex(pattern)})
		if err != nil || proof.Holds == unproved || (len(proof.Unproved) == 1) != unproved || len(proof.Counter) > 0 {
			t.Errorf("%s: %+v, %v", pattern, proof, err)
		}
	}
}

// TestProve_Single: one key that is unlike its neighbours is not lost among them.
func TestProve_Single(t *testing.T) {
	proof, err := review.Prove(chainOf(t, "mode enforce"), review.Claim{Never: true, Methods: []string{"GET"}, Routes: []string{"/wp/v2/users/*"}})
	if got := counters(proof); err != nil || !slices.Equal(got, []string{"GET /wp/v2/users/me"}) {
		t.Errorf("the exception of a built-in rule: %+v, %v", proof, err)
	}
	x := index.New([]string{"/wc/store/v1/checkout"}, []string{"wc/store/v1"})
	proof, err = review.Prove(chainOf(t, "deny /wc/store/v1/v1/**"), review.Claim{Methods: []string{"GET"}, Routes: []string{"/wc/store/**"}, Index: x})
	if err != nil || !proof.Holds {
		t.Errorf("a version of the checkout API is no second one: %+v, %v", proof, err)
	}
}

// TestProve_CountersAreReal sends each counter-example through the chain.
func TestProve_CountersAreReal(t *testing.T) {
	lines := []string{
		"login_only", "allow anyone POST /a/v1/:id/feedback", "allow users /b/v1/**", "allow role administrator /c/v1/*", "allow anyone /wp/v2/users",
		"allow anyone GET /wc/v3/products/*", "deny /d/** as 404", "allow anyone /d/e", "allow capability manage_options /e/**", "allow anyone /wc/*/cart",
	}
	backends := map[string]*asktest.Platform{"admin": asktest.Answering(200, policytest.AdminBody), "customer": asktest.Answering(200, policytest.ClientBody)}
	callers := map[string]caller.Caller{
		"":         {},
		"admin":    {Kind: caller.User, ID: 1, Roles: []string{"administrator"}, Capabilities: map[string]bool{"manage_options": true, "edit_others_posts": true}},
		"customer": {Kind: caller.User, ID: 5, Roles: []string{"customer", "subscriber"}, Capabilities: map[string]bool{"read": true}},
	}
	judged := 0
	for name, who := range callers {
		c := chainOf(t, lines...)
		for _, never := range []bool{true, false} {
			for _, methods := range [][]string{nil, {"GET"}, {"POST", "DELETE"}} {
				proof, err := review.Prove(c, review.Claim{Never: never, Methods: methods, Routes: []string{"/**"}, Caller: who})
				if err != nil || proof.Holds || len(proof.Counter) == 0 {
					t.Fatalf("%+v, %v", proof, err)
				}
				for _, e := range proof.Counter {
					var headers []string
					if name != "" {
						headers = append(headers, policytest.BasicAuth)
					}
					r := policytest.Request(t, c.Site(), backends[name], e.Method, "/wp-json"+e.Route, "", headers...)
					if e.Method == http.MethodHead || r.Call.Key != e.Route {
						t.Errorf("%+v is read as %s %s", e, r.Call.Method, r.Call.Key)
					}
					d := c.Judge(t.Context(), r)
					if passed := d.Outcome == policy.Pass; passed != never || !passed && (d.Policy != "access" || d.Verdict.Rule != e.Rule || d.Verdict.Pos != e.At) {
						t.Errorf("%s, never %v: %+v: %+v", name, never, e, d)
					}
					judged++
				}
			}
		}
	}
	if judged < 30 {
		t.Errorf("only %d counter-examples", judged)
	}
}
