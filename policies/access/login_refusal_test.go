package access

import (
	"errors"
	"regexp"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAccess_OneRefusedLogin: under login_only and in a lockdown every refused log-in gets the same
// answer, byte for byte, also on a route that is open to anyone; the platform's own words tell
// which names exist.
func TestAccess_OneRefusedLogin(t *testing.T) {
	const open = "allow anyone POST /form/v1/send"
	for _, target := range []string{"POST /wp-json/wp/v2/posts", "POST /wp-json/form/v1/send", "POST /wp-json/wc/v3/orders/1"} {
		var first *policy.Verdict
		for _, code := range []string{
			"incorrect_password", "invalid_username", "invalid_email", "application_passwords_disabled", "application_passwords_disabled_for_user",
		} {
			for _, lines := range [][]string{{"login_only", open}, {open}} {
				says := asktest.JSON(401, `{"code":"`+code+`","message":"of `+code+`","data":{"status":401}}`)
				says.Header.Set("Www-Authenticate", code)
				s := policytest.NewSite(t)
				p := new(Access)
				for _, text := range lines {
					policytest.Configure(t, p, policytest.Line(text))
				}
				policytest.Provision(t, s, p)
				r := policytest.Request(t, s, &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return says, nil }}, target[:4], target[5:], "", policytest.BasicAuth)
				v, err := p.Check(t.Context(), r)
				if len(lines) == 1 {
					r.InForce.Locked = true
					v, err = (&lockdown{access: p}).Check(t.Context(), r)
				}
				if err != nil || !v.Refused() {
					t.Fatalf("%s, %s, %q: %+v, %v", target, code, lines, v, err)
				}
				if v.Rule, v.Pos, v.Note = "", "", ""; v.Message == messageLockdown {
					v.Message = policy.MessageLoginOnly
				}
				if first == nil {
					first = &v
				}
				if v.Status != first.Status || v.Code != first.Code || v.Message != first.Message || v.Answer != first.Answer {
					t.Errorf("%s, %s, %q: %+v, want %+v", target, code, lines, v, first)
				}
			}
		}
	}
}

// TestAccess_OpenWithPassword: an open route keeps answering who sends a good password, another
// credential or none, and asks about a password alone.
func TestAccess_OpenWithPassword(t *testing.T) {
	for name, test := range map[string]struct {
		backend *asktest.Platform
		header  string
		asked   int
	}{
		"nobody":          {asktest.Answering(500, ""), "Accept: */*", 0},
		"a good password": {asktest.Answering(200, policytest.AdminBody), policytest.BasicAuth, 1},
		"a token":         {asktest.Answering(500, ""), "Authorization: Bearer x", 0},
		"a stale nonce":   {asktest.Answering(500, ""), "X-Wp-Nonce: x", 0},
	} {
		s := policytest.NewSite(t)
		p := new(Access)
		policytest.Configure(t, p, policytest.Line("login_only"))
		policytest.Configure(t, p, policytest.Line("allow anyone /form/v1/send"))
		policytest.Provision(t, s, p)
		v, err := p.Check(t.Context(), policytest.Request(t, s, test.backend, "POST", "/wp-json/form/v1/send", "", test.header))
		if err != nil || v.Refused() || len(test.backend.Questions()) != test.asked {
			t.Errorf("%s: %+v, %v, %d questions", name, v, err, len(test.backend.Questions()))
		}
	}
}

// TestAccess_HiddenArrival: where a plugin refuses everybody before the shop looks at a signature,
// nobody can tell whether the header of OAuth 1 arrives. Such a call is undecided. One that is signed in
// the query is left to the site, which shows nothing to nobody, and an open route needs no question.
func TestAccess_HiddenArrival(t *testing.T) {
	const header = `Authorization: OAuth oauth_consumer_key="ck_1", oauth_signature="x", oauth_nonce="1", oauth_timestamp="1", oauth_signature_method="HMAC-SHA1"`
	const query = "?oauth_consumer_key=ck_1&oauth_signature=x&oauth_nonce=1&oauth_timestamp=1&oauth_signature_method=HMAC-SHA1"
	for name, test := range map[string]struct {
		target, header string
		undecided      bool
		asked          int
	}{
		"in the header":                {"/wp-json/wc/v3/orders/1", header, true, 1},
		"in the query":                 {"/wp-json/wc/v3/orders/1" + query, "Accept: */*", false, 1},
		"in the header, an open route": {"/wp-json/wc/v3/products", header, false, 0},
	} {
		s := policytest.NewSite(t)
		p := new(Access)
		policytest.Configure(t, p, policytest.Line("login_only"))
		policytest.Configure(t, p, policytest.Line("allow anyone GET /wc/v3/products"))
		policytest.Provision(t, s, p)
		plugin := asktest.Answering(401, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`)
		v, err := p.Check(t.Context(), policytest.Request(t, s, plugin, "GET", test.target, "", test.header))
		if errors.Is(err, ask.ErrUndecided) != test.undecided || err == nil && v.Refused() || len(plugin.Questions()) != test.asked {
			t.Errorf("%s: %+v, %v, %d questions", name, v, err, len(plugin.Questions()))
		}
	}
}

// TestWhy_RefusedLogin: the operator reads what the platform says of a log-in, and nothing that it
// does not say.
func TestWhy_RefusedLogin(t *testing.T) {
	for _, code := range []string{"incorrect_password", "invalid_username"} {
		why := policytest.Alone("access", new(Access)).Refused("access", inOneWord(asktest.JSON(401, `{"code":"`+code+`","data":{"status":401}}`)), nil).Why()
		said := regexp.MustCompile(`\w+_\w+`).FindAllString(why, -1)
		if len(said) != 1 || said[0] != code {
			t.Errorf("%s: %s", code, why)
		}
	}
}
