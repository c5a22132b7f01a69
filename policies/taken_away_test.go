package policies

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAccess_UsersMeTakenAway: at a site without users/me nobody can be asked about, and the log says
// which route is missing.
func TestAccess_UsersMeTakenAway(t *testing.T) {
	s := policytest.NewSite(t)
	backend := asktest.Answering(404, `{"code":"rest_no_route","message":"No route was found matching the URL and request method."}`)
	d := guarded(t, s, policytest.Line("login_only")).Judge(t.Context(), policytest.Request(t, s, backend, "GET", "/wp-json/wp/v2/posts?context=edit", "", policytest.BasicAuth))
	if d.Verdict.Status != 503 || !strings.Contains(d.Why(), "has no route /wp/v2/users/me") {
		t.Errorf("got %+v: %s", d, d.Why())
	}
}
