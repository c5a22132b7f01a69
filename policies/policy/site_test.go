package policy_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestSite_Shop: facts belong to one directive, server, host and base.
func TestSite_Shop(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*policy.Site, *policy.Request){
		"as it is": func(*policy.Site, *policy.Request) {},
		"name":     func(s *policy.Site, _ *policy.Request) { s.Name = "x" },
		"server":   func(s *policy.Site, _ *policy.Request) { s.Server = "x" },
		"host":     func(_ *policy.Site, r *policy.Request) { r.HTTP.Host = "x" },
		"base":     func(_ *policy.Site, r *policy.Request) { r.Whole.Call.Base = "/x" },
	} {
		s := policytest.NewSite(t)
		r := policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
		change(s, r)
		if other, taken := seen[s.Shop(r)]; taken {
			t.Errorf("%s and %s are one shop", name, other)
		}
		seen[s.Shop(r)] = name
	}
}
