package openings

import (
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRemedy_Plugins: the remedy of a record stays a plain line, also where a plugin of the
// catalogue needs the call, and where a line for a plugin stands before.
func TestRemedy_Plugins(t *testing.T) {
	const route = "/contact-form-7/v1/contact-forms/:id/feedback"
	for _, lines := range [][]string{{"login_only"}, {"login_only", "allow plugin complianz-gdpr", "deny plugin contact-form-7"}} {
		access := accessOf(t, lines...)
		r := policytest.Request(t, policytest.NewSite(t), nil, "POST", "/wp-json/contact-form-7/v1/contact-forms/5/feedback", "")
		v, err := access.Check(t.Context(), r)
		if err != nil || !v.Refused() {
			t.Fatalf("%v: %+v, %v", lines, v, err)
		}
		if remedy := Remedy(r, r.Call, v, route); remedy != "allow anyone POST "+route {
			t.Errorf("%v: %q", lines, remedy)
		}
	}
}

// accessOf is the policy access of lines, those of plugins expanded.
func accessOf(t *testing.T, lines ...string) *access.Access {
	s, p := policytest.NewSite(t), new(access.Access)
	for _, text := range lines {
		all := []policy.Option{policytest.Line(text)}
		if access.IsPluginLine(all[0]) {
			var err error
			if all, err = access.ExpandPlugins(all[0], s.Platform); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range all {
			if slices.Contains(access.Entry.Words, o.Name) {
				policytest.Configure(t, p, o)
			}
		}
	}
	return policytest.Provision(t, s, p)
}
