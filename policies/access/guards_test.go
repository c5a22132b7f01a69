package access

import (
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/signature"
)

// guardTest is a call to a site with rules of its own beside the built-in ones.
type guardTest struct {
	rules          []policy.Option
	user           string // what the platform says of the caller
	method, target string
	body           string
	headers        []string
	status         int // 0 passes
}

func runGuards(t *testing.T, tests map[string]guardTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			c := policytest.Guarded(t, s, []policy.Entry{Entry, signature.Entry}, test.rules...)
			d := c.Judge(t.Context(), policytest.Request(t, s, asktest.Answering(200, test.user), test.method, test.target, test.body, test.headers...))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v, want %d", d, test.status)
			}
		})
	}
}

func rules(lines ...string) (options []policy.Option) {
	for _, text := range lines {
		options = append(options, policytest.Line(text))
	}
	return options
}

// TestGuards_Lifted: a rule for the same route or for a literal one replaces a built-in
// rule; a wider rule does not.
func TestGuards_Lifted(t *testing.T) {
	runGuards(t, map[string]guardTest{
		"one segment lifts no literal":    {rules("allow anyone /wp/v2/*"), policytest.AdminBody, "GET", "/wp-json/wp/v2/users", "", nil, 403},
		"the rest is no segment":          {rules("allow anyone /wp/v2/users/**"), policytest.AdminBody, "GET", "/wp-json/wp/v2/users/3", "", nil, 403},
		"one literal of two":              {rules("allow anyone /feed/*/troubleshooting"), policytest.AdminBody, "GET", "/wp-json/feed/v1/troubleshooting", "", nil, 403},
		"a literal of another route":      {rules("allow anyone GET /wp/** /wp/v2/types"), policytest.AdminBody, "GET", "/wp-json/wp/v2/users", "", nil, 403},
		"unsigned lifts no store-auth":    {rules("allow anyone /cookie/**"), policytest.AdminBody, "POST", "/wp-json/cookie/v1/store-auth", "", nil, 403},
		"a literal":                       {rules("allow anyone /feed/troubleshooting"), policytest.AdminBody, "GET", "/wp-json/feed/troubleshooting", "", nil, 0},
		"the same route in capitals":      {rules("allow anyone /WP/v2/Users/*"), policytest.AdminBody, "GET", "/wp-json/wp/v2/users/3", "", nil, 0},
		"denied in the site's own way":    {rules("deny /wp/v2/users as 404"), policytest.AdminBody, "GET", "/wp-json/wp/v2/users", "", nil, 404},
		"me in capitals is not guarded":   {nil, policytest.AdminBody, "GET", "/wp-json/WP/v2/Users/Me", "", nil, 0},
		"guarded in capitals":             {nil, policytest.AdminBody, "GET", "/wp-json/WP/v2/Users", "", nil, 403},
		"troubleshooting with a version":  {nil, policytest.AdminBody, "GET", "/wp-json/feed/v1/troubleshooting", "", nil, 403},
		"the batch, whatever the method":  {nil, policytest.AdminBody, "PUT", "/wp-json/batch/v1", "", nil, 403},
		"users are whom a key belongs to": {rules("allow users /wc/**", "deny /**"), `[]`, "GET", "/wp-json/wc/v3/orders", "", []string{policytest.ShopKey}, 0},
		"users are who sign by OAuth 1":   {rules("allow users /wc/**", "deny /**"), policytest.AdminBody, "GET", "/wp-json/wc/v3/orders?oauth_nonce=x", "", nil, 0},
	})
}

// TestGuards_SayWhatTheyAre: the log distinguishes a built-in rule from one of the
// site's.
func TestGuards_SayWhatTheyAre(t *testing.T) {
	s := policytest.NewSite(t)
	d := policytest.Guarded(t, s, []policy.Entry{Entry, signature.Entry}).Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/users", ""))
	if !strings.HasPrefix(d.Verdict.Rule, "built-in: only users /wp/v2/users") {
		t.Errorf("got %q", d.Verdict.Rule)
	}
}

func TestRules_Methods(t *testing.T) {
	runGuards(t, map[string]guardTest{
		"HEAD is denied with GET":      {rules("deny GET /closed/**"), policytest.AdminBody, "HEAD", "/wp-json/closed/v1", "", nil, 403},
		"HEAD is allowed with GET":     {rules("login_only", "allow anyone GET /open/**"), policytest.AdminBody, "HEAD", "/wp-json/open/v1", "", nil, 0},
		"OPTIONS is not GET":           {rules("login_only", "allow anyone GET /open/**"), policytest.AdminBody, "OPTIONS", "/wp-json/open/v1", "", nil, 401},
		"login_only covers OPTIONS":    {rules("login_only"), policytest.AdminBody, "OPTIONS", "/wp-json/wp/v2/posts", "", nil, 401},
		"the effective method decides": {rules("deny DELETE /closed/**"), policytest.AdminBody, "POST", "/wp-json/closed/v1?_method=DELETE", "", nil, 403},
		"a denied route in capitals":   {rules("deny /closed/**"), policytest.AdminBody, "GET", "/wp-json/Closed/v1", "", nil, 403},
	})
}

// TestRules_ParametersOfThePath: a parameter that a rule reads in the path must not stand
// elsewhere, where the platform would read it.
func TestRules_ParametersOfThePath(t *testing.T) {
	named := rules("allow anyone /report/v1/:name/:year")
	runGuards(t, map[string]guardTest{
		"as in the path":       {named, policytest.AdminBody, "GET", "/wp-json/report/v1/a/b?year=b", "", nil, 0},
		"the last name":        {named, policytest.AdminBody, "GET", "/wp-json/report/v1/a/b?year=c", "", nil, 400},
		"a route in capitals":  {named, policytest.AdminBody, "GET", "/wp-json/Report/v1/a/b?name=c", "", nil, 400},
		"a number in the body": {named, policytest.AdminBody, "POST", "/wp-json/report/v1/a/b", `{"name":5}`, []string{policytest.JSONType}, 400},
		"a body that is cut":   {named, policytest.AdminBody, "POST", "/wp-json/report/v1/a/b", `{"name":`, []string{policytest.JSONType}, 400},
	})
}

// TestRules_PartsOfABatch: the platform authenticates a batch by its own route, on which
// no shop key counts.
func TestRules_PartsOfABatch(t *testing.T) {
	s := policytest.NewSite(t)
	shop := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if strings.HasPrefix(q.Route, "/wc/") {
			return asktest.JSON(200, `[]`), nil
		}
		return asktest.JSON(401, `{"code":"rest_not_logged_in"}`), nil
	}}
	c := policytest.Guarded(t, s, []policy.Entry{Entry, signature.Entry}, rules("recommended off", "login_only", "allow anyone /batch/v1")...)
	r := policytest.Request(t, s, shop, "POST", "/wp-json/batch/v1", `{"requests":[{"path":"/wc/v3/products"}]}`, policytest.JSONType, policytest.ShopKey)
	if d := c.Judge(t.Context(), r); d.Verdict.Status != 401 {
		t.Errorf("got %+v", d)
	}
}

// TestRules_JSON: a configuration in JSON has the same checks as a Caddyfile.
func TestRules_JSON(t *testing.T) {
	routes := []string{"/x"}
	for name, rule := range map[string]policy.Rule{
		"neither":           {Routes: routes},
		"both":              {Allow: "anyone", Deny: true, Routes: routes},
		"as 404 with allow": {Allow: "anyone", As404: true, Routes: routes},
		"role of no name":   {Allow: "role", Routes: routes},
		"anyone of a name":  {Allow: "anyone editor", Routes: routes},
	} {
		if err := policytest.ProvisionError(policytest.NewSite(t), &Access{Rules: []policy.Rule{rule}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTarget_Batch: a batch is in a target if one of its parts is.
func TestTarget_Batch(t *testing.T) {
	target, err := policy.NewTarget([]string{"PUT"}, []string{"/wc/v3/orders/*"})
	if err != nil {
		t.Fatal(err)
	}
	s := policytest.NewSite(t)
	for body, want := range map[string]bool{`{"create":[{}],"update":[{"id":7}]}`: true, `{"create":[{}],"delete":[7]}`: false} {
		if got := target.Matches(policytest.Request(t, s, nil, "POST", "/wp-json/wc/v3/orders/batch", body, policytest.JSONType).Call); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestBuiltInRules_OnThePage: owners find every built-in rule on the page of access.
func TestBuiltInRules_OnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies/access.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range builtInGuards(policytest.NewSite(t).Platform) {
		if rule := strings.TrimPrefix(b.String(), "built-in: "); !strings.Contains(string(page), "\n| `"+rule+"`") {
			t.Errorf("docs/policies/access.md has no row for %s", rule)
		}
	}
}

// TestAccess_SuperAdmin: the super admin of a network passes where an administrator does, on a site of
// which he is no member, and a rule for users causes no second question.
func TestAccess_SuperAdmin(t *testing.T) {
	for target, asked := range map[string]int{"/wp-json/feed/troubleshooting": 2, "/wp-json/a/x": 2, "/wp-json/b/x": 2, "/wp-json/c/x": 1} {
		for settings, status := range map[int]int{200: 0, 403: 403} {
			if asked == 1 {
				status = 0
			}
			s, p := policytest.NewSite(t), new(Access)
			policytest.Configure(t, p, rules("allow role administrator /a/**", "allow capability edit_posts /b/**", "allow users /c/**")...)
			policytest.Provision(t, s, p)
			backend := asktest.Routed(map[string]*ask.Answer{
				"GET /wp/v2/users/me": asktest.JSON(200, `{"id":1,"roles":[],"capabilities":{}}`),
				"GET /wp/v2/settings": asktest.JSON(settings, `{"title":"x","code":"rest_forbidden"}`),
			})
			v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "GET", target, "", policytest.BasicAuth))
			if n := len(backend.Questions()); err != nil || v.Status != status || n != asked {
				t.Errorf("%s, %d: %+v, %v, %d questions", target, settings, v, err, n)
			}
		}
	}
}
