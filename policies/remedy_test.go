package policies

import (
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRemedy_OfAccessAlone: a call that another policy refuses has no line that opens the route. For
// a webhook without its signature that would be a line for anyone.
func TestRemedy_OfAccessAlone(t *testing.T) {
	const (
		hook = "/acme/v1/hook"
		run  = "/wp-abilities/v1/abilities/shop/update/run"
	)
	for name, test := range map[string]struct {
		lines         []string
		route, policy string
		headers       []string
		remedy        string
	}{
		"access":     {[]string{"allow users " + hook}, hook, "access", nil, "allow anyone POST " + hook},
		"login_only": {[]string{"login_only"}, hook, "access", nil, "allow anyone POST " + hook},
		"a guard":    {nil, "/cookie/v1/store-auth", "access", nil, ""},
		"signature":  {[]string{"allow signed acme " + hook, "signature acme"}, hook, "signature", nil, ""},
		"rate_limit": {[]string{"rate_limit 1/1m " + hook}, hook, "rate_limit", nil, ""},
		"abilities":  {[]string{"abilities"}, run, "abilities", []string{policytest.BasicAuth}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := chainOf(t, test.lines...)
			for _, m := range c.Policies() {
				if p, ok := m.Policy.(*abilities.Abilities); ok {
					policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("deny shop/update")))
					policytest.Provision(t, c.Site(), p)
				}
			}
			var r *policy.Request
			var d policy.Decision
			for range 2 { // the second call is over the limit
				r = policytest.Request(t, c.Site(), policytest.ShopOffers(policytest.AdminBody), "POST", "/wp-json"+test.route, `{}`, append(test.headers, policytest.JSONType)...)
				d = c.Judge(t.Context(), r)
			}
			if d.Policy != test.policy {
				t.Fatalf("%q refuses: %+v, %v", d.Policy, d.Verdict, d.Err)
			}
			if remedy := openings.Remedy(r, r.Call, d.Verdict, test.route); remedy != test.remedy {
				t.Errorf("%q, want %q", remedy, test.remedy)
			}
		})
	}
}

// TestRemedy_KeyElsewhere: where nobody was asked who is calling, a shop key counts as a user's
// credentials on the shop's routes alone.
func TestRemedy_KeyElsewhere(t *testing.T) {
	for route, want := range map[string]string{"/x/v1/orders": "", "/wc/v3/orders": "allow users GET /wc/v3/orders"} {
		c := chainOf(t, "deny /x/v1/** /wc/v3/**")
		r := policytest.Request(t, c.Site(), nil, "GET", "/wp-json"+route, "", policytest.ShopKey)
		r.Secure = true
		d := c.Judge(t.Context(), r)
		if remedy := openings.Remedy(r, r.Call, d.Verdict, route); d.Policy != "access" || remedy != want {
			t.Errorf("%s: %q by %q, want %q", route, remedy, d.Policy, want)
		}
	}
}
