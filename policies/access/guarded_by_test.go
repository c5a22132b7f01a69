package access_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

func TestGuardedBy(t *testing.T) {
	t.Parallel()
	wordpress, _ := platforms.ByName("wordpress")
	cms, _ := platforms.ByName("cms")
	for route, want := range map[string]string{
		"/wp/v2/users":             "built-in: only users /wp/v2/users /wp/v2/users/*",
		"/wp/v2/users/:id":         "built-in: only users /wp/v2/users /wp/v2/users/*",
		"/wp/v2/:base":             "",
		"/:ns/v1/upload-logo":      "built-in: nobody /*/v1/upload-logo",
		"/own/v1/:form":            "",
		"/forms/:form":             "",
		"/wp/v2/users/me":          "",
		"/batch/v1":                "built-in: only users /batch/v1",
		"/x/v1/upload-logo":        "built-in: nobody /*/v1/upload-logo",
		"/wp/v2/users/:id/preview": "",
		"/cms/v2/users":            "",
	} {
		if got := access.GuardedBy(wordpress, "GET", routes.MustPattern(route)); got != want {
			t.Errorf("%s: %q", route, got)
		}
	}
	if got := access.GuardedBy(cms, "GET", routes.MustPattern("/cms/v2/users")); got == "" {
		t.Error("the other platform's list of users is not guarded")
	}
	if got := access.RouteOn(cms, "/wc/store/v1/cart"); got != "/shop/store/v1/cart" {
		t.Error(got)
	}
}
