package access

import (
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAccess_Words: a word that a line spells out is not taken from elsewhere, and any word is that no line spells out.
func TestAccess_Words(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, body string
		status     int
	}{
		{"allow users PUT /wp/v2/plugins/hello", `{"status":"active"}`, 0},
		{"allow users PUT /wp/v2/plugins/hello", `{"plugin":"hello"}`, 0},
		{"allow users PUT /wp/v2/plugins/hello", `{"plugin":"other"}`, 400},
		{"allow users PUT /wp/v2/plugins/*", `{"plugin":"other"}`, 0},
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{Entry}, policytest.Line(test.line))
		r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "PUT", "/wp-json/wp/v2/plugins/hello", test.body, policytest.BasicAuth, policytest.JSONType)
		if d := c.Judge(t.Context(), r); d.Verdict.Status != test.status {
			t.Errorf("%s, %s: %+v", test.line, test.body, d.Verdict)
		}
	}
}
