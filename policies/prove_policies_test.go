package policies

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestProve_Limits: what lets calls pass in spite of the rules is no proof of never.
func TestProve_Limits(t *testing.T) {
	never := review.Claim{Never: true, Routes: []string{"/a/**"}}
	for lines, want := range map[string]string{
		"login_only":                                           "holds",
		"login_only; mode observe":                             "broken, unproved",
		"login_only; access observe":                           "broken",
		"login_only; call observe":                             "unproved",
		"signature s; allow signed s /a/**":                    "holds",
		"signature s; allow signed s /a/**; signature observe": "broken",
		"allow anyone GET /a/b; deny /**":                      "broken",
	} {
		proof, err := review.Prove(chainOf(t, strings.Split(lines, "; ")...), never)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if proof.Holds {
			got = append(got, "holds")
		}
		if len(proof.Counter) > 0 {
			got = append(got, "broken")
		}
		if len(proof.Unproved) > 0 {
			got = append(got, "unproved")
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q: %+v", lines, got, want, proof)
		}
	}
	access := configured("access", &access.Access{LoginOnly: true}, policy.Settings{OnError: policy.PassOnError})
	c, err := NewChain(policytest.NewSite(t), "", access)
	if err != nil {
		t.Fatal(err)
	}
	if proof, err := review.Prove(c, never); err != nil || proof.Holds || len(proof.Unproved) != 1 {
		t.Errorf("on_error pass: %+v, %v", proof, err)
	}
	if _, err := review.Prove(c, review.Claim{Routes: []string{"a"}}); err == nil {
		t.Error("a claim without a route that can be read")
	}
}

// TestProve_ShopKeys: a shop key counts on the shop's routes alone.
func TestProve_ShopKeys(t *testing.T) {
	for _, test := range []struct{ platform, routes, counter string }{
		{"wordpress", "/wc/*/**", ""},
		{"wordpress", "/wc-analytics/**", ""},
		{"wordpress", "/wc/**", "GET /wc"},
		{"wordpress", "/wcx/**", "GET /wcx"},
		{"wordpress", "/*/v1", "GET /x/v1"},
		{"wordpress", "/woocommerce/mcp", "GET /woocommerce/mcp"},
		{"cms", "/shop/v3/**", ""},
		{"cms", "/shop/**", "GET /shop"},
		{"cms", "/shop/*/**", "GET /shop/mcp"},
		{"cms", "/wc/v3/**", "GET /wc/v3"},
	} {
		s := policytest.NewSite(t)
		platform, _ := platforms.ByName(test.platform)
		s.Site = caller.NewSite(platform, caller.Own{})
		c, err := NewChain(s, "", configured("access", &access.Access{LoginOnly: true, Recommended: "off"}))
		if err != nil {
			t.Fatal(err)
		}
		proof, err := review.Prove(c, review.Claim{Methods: []string{"GET"}, Routes: []string{test.routes}, Caller: caller.Caller{Kind: caller.KeyHolder}})
		got := strings.TrimSuffix(strings.Join(counters(proof), " "), " by login_only")
		if err != nil || got != test.counter || proof.Holds != (got == "") {
			t.Errorf("%+v: %+v, %v", test, proof, err)
		}
	}
}

// TestProve_AbilitiesDescribed: not everybody is told of an ability, and lists are open.
func TestProve_AbilitiesDescribed(t *testing.T) {
	all := configured("access", new(access.Access))
	all["abilities"] = configured("abilities", &abilities.Abilities{Rules: []abilities.Rule{{Pattern: "shop/*", Deny: true}}})["abilities"]
	c, err := NewChain(policytest.NewSite(t), "", all)
	if err != nil {
		t.Fatal(err)
	}
	for route, want := range map[string]bool{
		"/wp-abilities/v1/abilities": true, "/wp-abilities/v1/abilities/shop/query": false, "/wp-abilities/v1/abilities/*/*": false, "/wp-abilities/v1/**": false,
	} {
		proof, err := review.Prove(c, review.Claim{Methods: []string{"GET"}, Routes: []string{route}, Caller: caller.Caller{Kind: caller.User}})
		if err != nil || proof.Holds != want {
			t.Errorf("%s: %+v, %v", route, proof, err)
		}
	}
}

// TestProve_Abilities: the policy abilities refuses what access lets pass.
func TestProve_Abilities(t *testing.T) {
	user := caller.Caller{Kind: caller.User}
	for _, test := range []struct {
		rules    []abilities.Rule
		never    bool
		who      caller.Caller
		counter  string
		unproved bool
	}{
		{[]abilities.Rule{{Pattern: "shop/Ping"}, {Pattern: "shop/*"}}, true, caller.Caller{}, "POST /wp-abilities/v1/abilities/shop/ping/run", false},
		{[]abilities.Rule{{Pattern: "shop/*"}}, true, caller.Caller{}, "", false},
		{nil, true, caller.Caller{}, "", false},
		{[]abilities.Rule{{Pattern: "shop/ping", Deny: true}, {Pattern: "shop/ping"}}, true, caller.Caller{}, "", false},
		{[]abilities.Rule{{Pattern: "*", Deny: true}}, true, user, "", false},
		{nil, true, user, "POST /wp-abilities/v1/abilities/1/run", false},
		{nil, false, user, "", true}, // a destructive one is to be named
		{[]abilities.Rule{{Pattern: "shop/*"}}, true, user, "", true},
		{[]abilities.Rule{{Pattern: "shop/*", Deny: true}}, false, user, "", true},
		{[]abilities.Rule{{Pattern: "shop/*"}}, false, user, "POST /wp-abilities/v1/abilities/1/run", false},
	} {
		all := configured("access", new(access.Access))
		all["abilities"] = configured("abilities", &abilities.Abilities{Rules: test.rules})["abilities"]
		c, err := NewChain(policytest.NewSite(t), "", all)
		if err != nil {
			t.Fatal(err)
		}
		routes := []string{"/wp-abilities/v1/abilities/*/run", "/wp-abilities/v1/abilities/*/*/run"}
		proof, err := review.Prove(c, review.Claim{Never: test.never, Methods: []string{"POST"}, Routes: routes, Caller: test.who})
		first := ""
		if len(proof.Counter) > 0 {
			first = proof.Counter[0].Method + " " + proof.Counter[0].Route
		}
		if err != nil || first != test.counter || (len(proof.Unproved) > 0) != test.unproved || proof.Holds != (test.counter == "" && !test.unproved) {
			t.Errorf("%+v: %+v, %v", test, proof, err)
		}
	}
}
