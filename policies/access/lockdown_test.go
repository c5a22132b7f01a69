package access

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// closes is a line `close` for calls that read comments.
func closes() []*policy.SwitchedLine {
	return []*policy.SwitchedLine{policy.NewSwitchedLine("close GET /wp/v2/comments", []policy.Rule{policy.MustRule("anyone", []string{"GET"}, "/wp/v2/comments")}, time.Time{})}
}

// TestLockdown_Embedded: what a switch closes is not embedded in another answer either, for those whom the switch keeps out,
// and for those of whom nobody can say who they are. Where nothing is switched on nobody is asked.
func TestLockdown_Embedded(t *testing.T) {
	t.Parallel()
	const posts, oauth = "/wp-json/wp/v2/posts?_embed", "&oauth_consumer_key=ck_1&oauth_signature=x&oauth_nonce=1&oauth_timestamp=1&oauth_signature_method=HMAC-SHA1"
	admin, nobody := asktest.Answering(200, policytest.AdminBody), asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	broken, wrong := asktest.Answering(500, ""), asktest.Answering(401, `{"code":"incorrect_password"}`)
	for name, tt := range map[string]struct {
		backend         *asktest.Platform
		target, header  string
		locked, closing bool
		gone            string // ids that are missing afterwards; "" where the answer is not looked at
		asked           int
	}{
		"a lockdown, nobody":              {nobody, posts, "", true, false, "4 2 5", 0},
		"a lockdown, a login of nobody":   {nobody, posts, policytest.BasicAuth, true, false, "4 2 5", 1},
		"a lockdown, a user":              {admin, posts, policytest.BasicAuth, true, false, "", 1},
		"a lockdown, nobody can say":      {broken, posts, policytest.BasicAuth, true, false, "4 2 5", 1},
		"a lockdown, a wrong password":    {wrong, posts, policytest.BasicAuth, true, false, "4 2 5", 1},
		"a lockdown, nothing is embedded": {nobody, "/wp-json/wp/v2/posts", "", true, false, "", 0},
		"a line, nobody":                  {nobody, posts, "", false, true, "9 5", 0},
		"a line, a user":                  {admin, posts, policytest.BasicAuth, false, true, "", 1},
		"a line, nobody can say":          {broken, posts, policytest.BasicAuth, false, true, "9 5", 1},
		"a line, a wrong password":        {wrong, posts, policytest.BasicAuth, false, true, "9 5", 1},
		"both, nobody":                    {nobody, posts, "", true, true, "4 9 2 5", 0},
		"nothing, nobody":                 {nobody, posts, "", false, false, "", 0},
		"nothing, nobody can say":         {broken, posts, policytest.BasicAuth, false, false, "", 0},
		"a lockdown, signed by OAuth 1":   {admin, "/wp-json/wc/v3/orders?_embed" + oauth, "", true, false, "", 1},
		"a line, signed by OAuth 1":       {admin, "/wp-json/wc/v3/orders?_embed" + oauth, "", false, true, "9 5", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, access := policytest.NewSite(t), new(Access)
			policytest.Configure(t, access, policytest.Line("allow anyone GET /wp/v2/comments /wp/v2/tags"))
			closed := lockdown{policytest.Provision(t, s, access)}
			backend := &asktest.Platform{Answer: tt.backend.Answer}
			r := policytest.Request(t, s, backend, "GET", tt.target, "")
			if tt.header != "" {
				r = policytest.Request(t, s, backend, "GET", tt.target, "", tt.header)
			}
			if r.InForce.Locked = tt.locked; tt.closing {
				r.InForce = r.InForce.Lines(nil, closes())
			}
			if need := closed.Rewrites(r); (need == policy.RewriteBody) != (tt.gone != "") || len(backend.Questions()) != tt.asked {
				t.Fatalf("needs %v after %d questions", need, len(backend.Questions()))
			}
			if tt.gone == "" {
				return
			}
			a := asktest.JSON(http.StatusOK, embeddedAnswer)
			if err := closed.Rewrite(r, a); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"1", "4", "9", "2", "5"} {
				if has := strings.Contains(string(a.Body), `"id":`+id); has == strings.Contains(" "+tt.gone+" ", " "+id+" ") {
					t.Errorf("id %s is there: %t\n%s", id, has, a.Body)
				}
			}
		})
	}
}

// brokenScopes cannot say which scopes a caller has.
type brokenScopes struct{ policy.Scopes }

func (brokenScopes) Names() []string { return []string{"orders"} }

func (brokenScopes) Verified(context.Context, *policy.Request) ([]string, error) {
	return nil, ask.ErrUndecided
}

// TestLockdown_UndecidedScopes: a user of whom not all is known that rules ask for is kept out as somebody unknown.
func TestLockdown_UndecidedScopes(t *testing.T) {
	t.Parallel()
	for _, locked := range []bool{true, false} {
		s := policytest.NewSite(t)
		s.Scopes = brokenScopes{}
		rule := policy.MustRule("scope orders", nil, "/wc/v3/**")
		if err := rule.CheckNames(s); err != nil {
			t.Fatal(err)
		}
		r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", "/wp-json/wp/v2/posts?_embed", "", policytest.BasicAuth)
		if r.InForce.Locked = locked; !locked {
			r.InForce = r.InForce.Lines(nil, closes())
		}
		if need := new(lockdown).Rewrites(r); need != policy.RewriteBody {
			t.Errorf("locked %v: needs %v", locked, need)
		}
	}
}

// TestRewrites_OtherCalls: an answer is looked at where it is that of one call of this platform.
func TestRewrites_OtherCalls(t *testing.T) {
	t.Parallel()
	s, access := policytest.NewSite(t), &Access{LoginOnly: true}
	policytest.Provision(t, s, access)
	for name, change := range map[string]func(*call.Call){
		"one":     func(*call.Call) {},
		"a batch": func(c *call.Call) { c.Kind = call.Batch },
		"refused": func(c *call.Call) { c.Kind = call.Refused },
		"foreign": func(c *call.Call) { c.Foreign = true },
	} {
		r := policytest.Request(t, s, asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "GET", "/wp-json/wp/v2/posts?_embed", "")
		change(r.Call)
		r.InForce.Locked = true
		if byRules, byLockdown := access.Rewrites(r), (&lockdown{access: access}).Rewrites(r); byRules != byLockdown || (byRules == policy.RewriteBody) != (name == "one") {
			t.Errorf("%s: %v, %v", name, byRules, byLockdown)
		}
	}
}

// TestLockdown_WithoutRules: where the policy access is off a lockdown leaves the checkout open alone, and a hard one nothing.
func TestLockdown_WithoutRules(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	for _, tt := range []struct {
		target string
		hard   bool
		status int
	}{{"/wp-json/wp/v2/posts", false, 401}, {"/wp-json/wc/store/v1/cart", false, 0}, {"/wp-json/wc/store/v1/cart", true, 401}} {
		r := policytest.Request(t, s, asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "GET", tt.target, "")
		r.InForce.Locked, r.InForce.Hard = true, tt.hard
		if v, err := new(lockdown).Check(t.Context(), r); err != nil || v.Status != tt.status {
			t.Errorf("%s, hard %v: %+v, %v", tt.target, tt.hard, v, err)
		}
	}
}

// TestLockdown_Why: each refusal says what the owner has switched on.
func TestLockdown_Why(t *testing.T) {
	t.Parallel()
	p := new(lockdown)
	for want, v := range map[string]policy.Verdict{
		"has closed this call":             {Code: policy.CodeNotLoggedIn, Origin: policy.OriginSwitch},
		"has closed the REST interface":    {Code: policy.CodeNotLoggedIn},
		"refuses the name or the password": inOneWord(asktest.JSON(401, `{"code":"incorrect_password"}`)),
	} {
		if why := p.Why(v); !strings.Contains(why, want) {
			t.Errorf("%q, want %s", why, want)
		}
	}
	if why := p.Why(policy.Verdict{Code: policy.CodeTooMany}); why != "" {
		t.Errorf("another refusal: %q", why)
	}
}

// TestAccess_Why: a built-in rule and a line of the site are told apart.
func TestAccess_Why(t *testing.T) {
	t.Parallel()
	p := new(Access)
	for _, code := range []policy.Code{policy.CodeNotLoggedIn, policy.CodeForbidden} {
		own, builtIn := p.Why(policy.Verdict{Code: code}), p.Why(policy.Verdict{Code: code, Origin: policy.OriginBuiltIn})
		if !strings.HasPrefix(own, "A rule ") || !strings.HasPrefix(builtIn, "A built-in rule ") {
			t.Errorf("%s: %q, %q", code, own, builtIn)
		}
	}
}

// TestAccess_SignedUnderLoginOnly: a signed rule leaves a password to the platform as an open one does, and admits no part of
// a batch, whose signature would be another one's.
func TestAccess_SignedUnderLoginOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body   string
		part   bool
		status int
	}{{`{"code":"incorrect_password"}`, false, 401}, {`{"code":"rest_not_logged_in"}`, false, 0}, {`{"code":"rest_not_logged_in"}`, true, 403}} {
		s := policytest.NewSite(t)
		s.Signatures = []string{"hook"}
		p := new(Access)
		policytest.Configure(t, p, policytest.Line("login_only"))
		policytest.Configure(t, p, policytest.Line("allow signed hook POST /hook/v1/in"))
		policytest.Provision(t, s, p)
		r := policytest.Request(t, s, asktest.Answering(401, tt.body), "POST", "/wp-json/hook/v1/in", "", policytest.BasicAuth)
		r.IsPart = tt.part
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != tt.status || (v.Answer != nil) != (tt.status == 401) {
			t.Errorf("%s, a part %v: %+v, %v", tt.body, tt.part, v, err)
		}
	}
}

// TestAccess_OpenWithNonce: on an open route the platform's word about a nonce is left to the platform.
func TestAccess_OpenWithNonce(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("login_only"))
	policytest.Configure(t, p, policytest.Line("allow anyone POST /form/v1/send"))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, asktest.Answering(403, `{"code":"rest_cookie_invalid_nonce"}`), "POST", "/wp-json/form/v1/send", "", policytest.BasicAuth)
	if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
		t.Errorf("%+v, %v", v, err)
	}
	s.Identities.Forget()
	r = policytest.Request(t, s, asktest.Failing(ask.ErrUndecided), "POST", "/wp-json/form/v1/send", "", policytest.BasicAuth)
	if v, err := p.Check(t.Context(), r); err == nil || v.Refused() {
		t.Errorf("nobody can say whether the password is right: %+v, %v", v, err)
	}
}
