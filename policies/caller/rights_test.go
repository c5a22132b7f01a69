package caller

import (
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestRights_SuperAdmin: on a site of a network, a super admin who is no member has neither roles nor
// capabilities. What only an administrator sees tells him from a user without a role, and is asked
// for once within the time of an answer, only where there is neither.
func TestRights_SuperAdmin(t *testing.T) {
	const nothing, settings = `{"id":1,"roles":[],"capabilities":[]}`, "GET /wp/v2/settings"
	shown, denied := asktest.JSON(200, `{"title":"Site"}`), asktest.JSON(403, `{"code":"rest_forbidden"}`)
	for name, test := range map[string]struct {
		me       string
		settings *ask.Answer
		admin    bool
		failed   bool
		asked    int
	}{
		"a super admin":           {nothing, shown, true, false, 2},
		"empty capabilities":      {`{"id":1,"roles":[],"capabilities":{}}`, shown, true, false, 2},
		"no role for this site":   {nothing, denied, false, false, 2},
		"settings taken away":     {nothing, asktest.JSON(404, `{"code":"rest_no_route"}`), false, false, 2},
		"a page":                  {nothing, asktest.JSON(200, `<html>`), false, true, 3}, // once more in an envelope
		"something else":          {nothing, asktest.JSON(200, `[]`), false, true, 2},
		"a subscriber":            {`{"id":1,"roles":["subscriber"],"capabilities":{"read":true}}`, shown, false, false, 1},
		"a capability of his own": {`{"id":1,"roles":[],"capabilities":{"x":true}}`, shown, false, false, 1},
		"roles that are not told": {`{"id":1,"capabilities":{}}`, shown, false, false, 1},
		"neither is told":         {`{"id":1}`, shown, false, false, 1},
	} {
		b := asktest.Routed(map[string]*ask.Answer{"GET " + usersMe: asktest.JSON(200, test.me), settings: test.settings})
		s := newSite(t)
		for range 2 {
			w := request(t, s, b, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
			if who, _, err := w.Who(t.Context()); err != nil || who.ID != 1 || who.Administrator {
				t.Errorf("%s: %+v, %v", name, who, err)
			}
			if test.failed && len(b.Questions()) > 1 {
				continue
			}
			who, err := w.Rights(t.Context())
			if (err != nil) != test.failed || who.HasRole([]string{"x", "administrator"}) != test.admin || who.Can("manage_options") != test.admin || who.HasRole([]string{"editor"}) {
				t.Errorf("%s: %+v, %v", name, who, err)
			}
		}
		if n := len(b.Questions()); n != test.asked {
			t.Errorf("%s: %d questions", name, n)
		}
	}
}
