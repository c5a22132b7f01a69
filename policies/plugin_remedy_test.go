package policies

import (
	"slices"
	"testing"
)

// TestRemedy_Plugins: the remedy of a record stays a plain line, also where a plugin of the
// catalogue needs the call, and where a line for a plugin stands before.
func TestRemedy_Plugins(t *testing.T) {
	const route = "/contact-form-7/v1/contact-forms/:id/feedback"
	for _, lines := range [][]string{{"login_only"}, {"login_only", "allow plugin complianz-gdpr", "deny plugin contact-form-7"}} {
		access := accessOf(t, lines...)
		r := request(t, newSite(t), nil, "POST", "/wp-json/contact-form-7/v1/contact-forms/5/feedback", "")
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
func accessOf(t *testing.T, lines ...string) *Access {
	s, p := newSite(t), new(Access)
	for _, text := range lines {
		all := []Option{line(text)}
		if IsPluginLine(all[0]) {
			var err error
			if all, err = ExpandPlugins(all[0], s.Platform); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range all {
			if slices.Contains(AccessEntry.Words, o.Name) {
				configure(t, p, o)
			}
		}
	}
	return provision(t, s, p)
}
