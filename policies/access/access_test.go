package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestAccess_Decides(t *testing.T) {
	open := []policy.Option{
		policytest.Line("login_only"),
		policytest.Line("allow anyone POST /complianz/v1/track"),
		policytest.Line("allow role editor,administrator GET /report/v1/*"),
		policytest.Line("allow capability manage_options /settings/v1/**"),
		policytest.Line("deny /closed/v1/** as 404"),
	}
	admin, customer, nobody := asktest.Answering(200, policytest.AdminBody), asktest.Answering(200, policytest.ClientBody), asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	for name, test := range map[string]struct {
		options        []policy.Option
		backend        *asktest.Platform
		method, target string
		headers        []string
		status         int
		code           policy.Code
		asked          int
	}{
		"allow/open without login_only":        {nil, nobody, "GET", "/wp-json/wp/v2/posts", nil, 0, "", 0},
		"deny/user list anonymous":             {nil, nobody, "GET", "/wp-json/wp/v2/users", nil, 403, policy.CodeForbidden, 0},
		"deny/single user anonymous":           {nil, nobody, "GET", "/wp-json/wp/v2/users/1", nil, 403, policy.CodeForbidden, 0},
		"allow/users me anonymous":             {nil, nobody, "GET", "/wp-json/wp/v2/users/me", nil, 0, "", 0},
		"allow/user list for users":            {nil, customer, "GET", "/wp-json/wp/v2/users", []string{policytest.BasicAuth}, 0, "", 1},
		"deny/troubleshooting customer":        {nil, customer, "GET", "/wp-json/feed/troubleshooting", []string{policytest.BasicAuth}, 403, policy.CodeForbidden, 1},
		"allow/troubleshooting administrator":  {nil, admin, "GET", "/wp-json/feed/troubleshooting", []string{policytest.BasicAuth}, 0, "", 1},
		"deny/upload-logo administrator":       {nil, admin, "POST", "/wp-json/cookie/v1/upload-logo", []string{policytest.BasicAuth}, 403, policy.CodeForbidden, 0},
		"deny/store-auth without a signature":  {nil, admin, "POST", "/wp-json/cookie/v1/store-auth", []string{policytest.BasicAuth}, 403, policy.CodeForbidden, 0},
		"deny/core batch anonymous":            {nil, nobody, "POST", "/wp-json/batch/v1", nil, 403, policy.CodeForbidden, 0},
		"deny/login only":                      {open, nobody, "GET", "/wp-json/wp/v2/posts", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/login only on a guarded route":   {open, nobody, "GET", "/wp-json/wp/v2/users", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/login only, denied route":        {open, nobody, "POST", "/wp-json/cookie/v1/upload-logo", nil, 403, policy.CodeForbidden, 0},
		"allow/exception":                      {open, nobody, "POST", "/wp-json/complianz/v1/track", nil, 0, "", 0},
		"deny/exception, other method":         {open, nobody, "GET", "/wp-json/complianz/v1/track", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/exception, overridden method":    {open, nobody, "POST", "/wp-json/complianz/v1/track?_method=GET", nil, 401, policy.CodeNotLoggedIn, 0},
		"allow/logged in":                      {open, customer, "GET", "/wp-json/wp/v2/posts", []string{policytest.BasicAuth}, 0, "", 1},
		"deny/forged credentials":              {open, nobody, "GET", "/wp-json/wp/v2/posts", []string{policytest.BasicAuth}, 401, policy.CodeNotLoggedIn, 1},
		"deny/cookie without nonce":            {open, admin, "GET", "/wp-json/wp/v2/posts", []string{policytest.LoginLine}, 401, policy.CodeNotLoggedIn, 0},
		"deny/nonce without cookie":            {open, admin, "GET", "/wp-json/wp/v2/posts", []string{policytest.NonceLine}, 401, policy.CodeNotLoggedIn, 0},
		"allow/cookie with nonce":              {open, admin, "GET", "/wp-json/wp/v2/posts", []string{policytest.LoginLine, policytest.NonceLine}, 0, "", 1},
		"allow/cookie with nonce as parameter": {open, admin, "GET", "/wp-json/wp/v2/posts?.wpnonce=1&+_wpnonce=2", []string{policytest.LoginLine}, 0, "", 1},
		"deny/role, other role":                {open, customer, "GET", "/wp-json/report/v1/x", []string{policytest.BasicAuth}, 403, policy.CodeForbidden, 1},
		"allow/role":                           {open, admin, "GET", "/wp-json/report/v1/x", []string{policytest.BasicAuth}, 0, "", 1},
		"allow/role, HEAD as GET":              {open, admin, "HEAD", "/wp-json/report/v1/x", []string{policytest.BasicAuth}, 0, "", 1},
		"allow/capability":                     {open, admin, "GET", "/wp-json/settings/v1/a/b", []string{policytest.BasicAuth}, 0, "", 1},
		"deny/capability":                      {open, customer, "GET", "/wp-json/settings/v1/a/b", []string{policytest.BasicAuth}, 403, policy.CodeForbidden, 1},
		"deny/as 404":                          {open, admin, "GET", "/wp-json/closed/v1/x", []string{policytest.BasicAuth}, 404, policy.CodeNoRoute, 0},
		"allow/user rule instead of a guard":   {[]policy.Option{policytest.Line("allow anyone GET /wp/v2/users")}, nobody, "GET", "/wp-json/wp/v2/users", nil, 0, "", 0},
		"deny/user rule for another method":    {[]policy.Option{policytest.Line("allow anyone GET /wp/v2/users")}, nobody, "POST", "/wp-json/wp/v2/users", nil, 403, policy.CodeForbidden, 0},
		"deny/wildcard does not lift a guard":  {[]policy.Option{policytest.Line("allow anyone /wp/v2/**")}, nobody, "GET", "/wp-json/wp/v2/users", nil, 403, policy.CodeForbidden, 0},
		"deny/a later rule lifts no guard":     {[]policy.Option{policytest.Line("allow anyone /wp/v2/**"), policytest.Line("allow users /wp/v2/users")}, nobody, "GET", "/wp-json/wp/v2/users", nil, 403, policy.CodeForbidden, 0},
		"allow/exact behind a wildcard":        {[]policy.Option{policytest.Line("allow anyone GET /wp/** /wp/v2/users")}, nobody, "GET", "/wp-json/wp/v2/users", nil, 0, "", 0},
		"allow/same pattern lifts a guard":     {[]policy.Option{policytest.Line("allow anyone /wp/v2/users/:id")}, nobody, "GET", "/wp-json/wp/v2/users/3", nil, 0, "", 0},
		"allow/recommended off":                {[]policy.Option{policytest.Line("recommended off")}, nobody, "GET", "/wp-json/wp/v2/users", nil, 0, "", 0},
		"deny/rest_route":                      {open, nobody, "GET", "/?rest_route=/wp/v2/users", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/folded rest_route":               {open, nobody, "GET", "/?rest.route=/wp/v2/users", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/upper case":                      {open, nobody, "GET", "/wp-json/WP/V2/Users", nil, 401, policy.CodeNotLoggedIn, 0},
		"deny/shop key outside the shop":       {open, nobody, "GET", "/wp-json/wp/v2/posts", []string{policytest.ShopKey}, 401, policy.CodeNotLoggedIn, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := new(Access)
			policytest.Configure(t, p, test.options...)
			policytest.Provision(t, s, p)
			backend := &asktest.Platform{Answer: test.backend.Answer}
			r := policytest.Request(t, s, backend, test.method, test.target, "", test.headers...)
			v, err := p.Check(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v.Status != test.status || v.Code != test.code {
				t.Errorf("got %d %s, want %d %s", v.Status, v.Code, test.status, test.code)
			}
			if n := len(backend.Questions()); n != test.asked {
				t.Errorf("asked %d questions, want %d", n, test.asked)
			}
			if v.Refused() && v.Rule == "" {
				t.Error("the refusal names no rule")
			}
		})
	}
}

// TestAccess_NamespaceIndex: who is logged in reads the index of a namespace without a nonce,
// as the core's script does; the rules of the route decide as ever.
func TestAccess_NamespaceIndex(t *testing.T) {
	for name, test := range map[string]struct {
		options string
		line    string
		user    string
		status  int
		asked   int
	}{
		"login only":              {"login_only", "GET /wp-json/wp/v2/", policytest.ClientBody, 0, 2},
		"login only, HEAD":        {"login_only", "HEAD /wp-json/wp/v2/", policytest.ClientBody, 0, 2},
		"login only, embedded":    {"login_only", "GET /wp-json/wp/v2/?_embed&_fields=routes&context=edit", policytest.ClientBody, 0, 2},
		"login only, logged out":  {"login_only", "GET /wp-json/wp/v2/", "", 401, 1},
		"login only, other route": {"login_only", "GET /wp-json/wp/v2/posts", policytest.ClientBody, 401, 0},
		"login only, root":        {"login_only", "GET /wp-json/", policytest.ClientBody, 401, 0},
		"users":                   {"allow users /wp/v2/**", "GET /wp-json/wp/v2/", policytest.ClientBody, 0, 2},
		"the role":                {"allow role administrator /wp/v2", "GET /wp-json/wp/v2/", policytest.AdminBody, 0, 2},
		"another role":            {"allow role administrator /wp/v2", "GET /wp-json/wp/v2/", policytest.ClientBody, 403, 2},
		"closed":                  {"deny /wp/v2", "GET /wp-json/wp/v2/", policytest.AdminBody, 403, 0},
		"no rule":                 {"recommended on", "GET /wp-json/wp/v2/", policytest.AdminBody, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := policytest.NewSite(t), new(Access)
			policytest.Configure(t, p, policytest.Line(test.options))
			policytest.Provision(t, s, p)
			backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				switch {
				case q.Page != "" && test.user == "":
					return asktest.JSON(400, "0"), nil
				case q.Page != "":
					return asktest.JSON(200, "0123456789"), nil
				}
				return asktest.JSON(200, test.user), nil
			}}
			method, target, _ := strings.Cut(test.line, " ")
			v, err := p.Check(t.Context(), policytest.Request(t, s, backend, method, target, "", policytest.LoginLine))
			if err != nil || v.Status != test.status {
				t.Errorf("got %d %s, %v, want %d", v.Status, v.Code, err, test.status)
			}
			if n := len(backend.Questions()); n != test.asked {
				t.Errorf("asked %d questions, want %d", n, test.asked)
			}
		})
	}
}

func TestAccess_HandsOnThePlatformsWords(t *testing.T) {
	for body, p := range map[string]*Access{
		`{"code":"incorrect_password"}`:        {Rules: []policy.Rule{policy.MustRule("users", nil, "/wp/v2/posts")}},
		`{"code":"rest_cookie_invalid_nonce"}`: {LoginOnly: true},
	} {
		s := policytest.NewSite(t)
		policytest.Provision(t, s, p)
		v, err := p.Check(t.Context(), policytest.Request(t, s, asktest.Answering(403, body), "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth))
		if err != nil || v.Answer == nil || string(v.Answer.Body) != body {
			t.Errorf("%s: got %+v, %v", body, v, err)
		}
		if v.Rule != "" || v.Pos != "" || v.Yields {
			t.Errorf("%s: the platform refuses, and %+v names a rule", body, v)
		}
	}
}

func TestAccess_ParameterOutsideThePath(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow anyone GET /report/v1/:name"))
	policytest.Provision(t, s, p)
	for target, ok := range map[string]bool{
		"/wp-json/report/v1/a":           true,
		"/wp-json/report/v1/a?name=a":    true,
		"/wp-json/report/v1/a?name=b":    false,
		"/wp-json/report/v1/a?+name=b":   false,
		"/wp-json/report/v1/a?name[]=a":  false,
		"/wp-json/report/v1/a?names=b":   true,
		"/wp-json/report/v1/a?lang=fr&x": true,
	} {
		_, err := p.Check(t.Context(), policytest.Request(t, s, nil, "GET", target, ""))
		if (err == nil) != ok {
			t.Errorf("%s: error %v, want none: %v", target, err, ok)
		}
	}
}

func TestAccess_SignedRules(t *testing.T) {
	s := policytest.NewSite(t)
	s.Signatures = []string{"cookie"}
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow signed cookie /cookie/v1/**"))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, nil, "POST", "/wp-json/cookie/v1/store-auth", "")
	if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || r.Matched.Rule.Who() != policy.BySignature {
		t.Errorf("store-auth: %+v, %v, rule %v", v, err, r.Matched)
	}
	batch := `{"requests":[{"path":"/cookie/v1/store-auth"}]}`
	r = policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "POST", "/wp-json/batch/v1", batch, policytest.JSONType, policytest.BasicAuth)
	d := policytest.Alone("access", p).Judge(t.Context(), r)
	if d.Outcome != policy.Refuse {
		t.Errorf("a signed route inside a batch: %+v", d)
	}
}

// TestAccess_FirstRuleDecidesBesideBuiltIns: a signed rule opens store-auth only if it is
// the first that matches.
func TestAccess_FirstRuleDecidesBesideBuiltIns(t *testing.T) {
	s := policytest.NewSite(t)
	s.Signatures = []string{"cookie"}
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("deny POST /cookie/v1/**"), policytest.Line("allow signed cookie /cookie/v1/**"))
	policytest.Provision(t, s, p)
	for method, want := range map[string]int{"POST": 403, "PUT": 0} {
		v, err := p.Check(t.Context(), policytest.Request(t, s, nil, method, "/wp-json/cookie/v1/store-auth", ""))
		if err != nil || v.Status != want {
			t.Errorf("%s: got %+v, %v, want %d", method, v, err, want)
		}
	}
}

// TestAccess_BuiltInRulesOnlyTakeAway: a built-in rule does not open what the site
// denies, or allows to fewer callers.
func TestAccess_BuiltInRulesOnlyTakeAway(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("deny /wp/v2/users/** /feed/**"), policytest.Line("allow role editor /batch/**"), policytest.Line("allow role administrator /wp/v2/**"))
	policytest.Provision(t, s, p)
	for name, test := range map[string]struct {
		body, method, target string
		status               int
	}{
		"denied to all":            {policytest.AdminBody, "GET", "/wp-json/wp/v2/users", 403},
		"one user":                 {policytest.AdminBody, "GET", "/wp-json/wp/v2/users/1", 403},
		"administrators' route":    {policytest.AdminBody, "GET", "/wp-json/feed/troubleshooting", 403},
		"me is not guarded":        {policytest.AdminBody, "GET", "/wp-json/wp/v2/users/me", 403},
		"a role for the batch":     {policytest.AdminBody, "POST", "/wp-json/batch/v1", 403},
		"the role":                 {`{"id":2,"roles":["editor"],"capabilities":{}}`, "POST", "/wp-json/batch/v1", 0},
		"elsewhere, administrator": {policytest.AdminBody, "GET", "/wp-json/wp/v2/types", 0},
		"elsewhere, somebody else": {`{"id":2,"roles":["editor"],"capabilities":{}}`, "GET", "/wp-json/wp/v2/types", 403},
	} {
		v, err := p.Check(t.Context(), policytest.Request(t, s, asktest.Answering(200, test.body), test.method, test.target, "", policytest.BasicAuth, "X-Name: "+name))
		if err != nil || v.Status != test.status {
			t.Errorf("%s: got %+v, %v, want %d", name, v, err, test.status)
		}
		s.Identities.Forget()
	}
}

func TestAccess_LoginOnlySaysWhere(t *testing.T) {
	s := policytest.NewSite(t)
	c := policy.NewConfigured(Entry)
	other := policytest.Line("allow anyone /x/y")
	other.Pos = "Caddyfile:3"
	for _, o := range []policy.Option{other, policytest.Line("login_only")} {
		if err := c.Configure(o); err != nil {
			t.Fatal(err)
		}
	}
	chain, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{"access": c})
	if err != nil {
		t.Fatal(err)
	}
	v := chain.Judge(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")).Verdict
	if v.Rule != "login_only" || v.Pos != "Caddyfile:7" {
		t.Errorf("got %+v", v)
	}
}

func TestAccess_BadConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"allow":                           "allow needs whom",
		"allow anyone":                    "no route named",
		"allow role /x/y":                 "role needs a name",
		"allow role a,,b /x":              "not a list of names",
		"allow nobody /x":                 `"nobody" is not one of`,
		"allow anyone get /x":             "neither a method",
		"allow anyone GET,TRACE /x":       "neither a method",
		"allow anyone /wc/v3/orders/7":    "literal number",
		"allow anyone /wp-json/wp/v2/a":   "without the prefix, as /wp/v2/a",
		"deny /cms-json":                  "without the prefix",
		"allow anyone /a//b":              "empty segment",
		"allow anyone /a/**/b":            "only possible at the end",
		"allow anyone /a/b%20c":           "cannot match",
		"allow capability edit,manage /x": "not a list of names",
		"deny /x as 403":                  "only 404",
		"deny":                            "no route named",
		"recommended maybe":               "neither on nor off",
		"login_only yes":                  "takes no arguments",
		"access { observe }":              "takes no arguments here",
	} {
		err := new(Access).Configure(policytest.Line(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Caddyfile:7") {
			t.Errorf("%s: error %v, want %q with its position", text, err, want)
		}
	}
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow signed nobody /x"))
	if err := policytest.ProvisionError(policytest.NewSite(t), p); err == nil || !strings.Contains(err.Error(), `no signature "nobody"`) {
		t.Errorf("signed without its signature: %v", err)
	}
}

func TestAccess_NoQuestionsWhereNobodyNeedsToKnow(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Access)
	policytest.Configure(t, p, policytest.Line("allow anyone POST /complianz/v1/track"))
	policytest.Provision(t, s, p)
	backend := asktest.Failing(http.ErrServerClosed)
	v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", "/wp-json/complianz/v1/track", "", policytest.BasicAuth))
	if err != nil || v.Refused() || len(backend.Questions()) > 0 {
		t.Errorf("got %+v, %v after %d questions", v, err, len(backend.Questions()))
	}
}

// TestAccess_Untold: a user of whom the platform's answer tells no roles or no capabilities is a user,
// but nobody can say whether the user has them.
func TestAccess_Untold(t *testing.T) {
	const feed, posts, tags = "/wp-json/feed/troubleshooting", "/wp-json/wp/v2/posts", "/wp-json/wp/v2/tags"
	for _, test := range []struct {
		body, target string
		status       int // 0 where the call passes
		note         string
	}{
		{`{"id":1,"name":"admin"}`, posts, 0, ""},
		{`{"id":1,"name":"admin"}`, feed, 503, "no roles"},
		{`{"id":1,"name":"admin"}`, tags, 503, "no capabilities"},
		{`{"id":1,"capabilities":{"administrator":true}}`, feed, 503, "no roles"},
		{`{"id":1,"roles":["administrator"]}`, tags, 503, "no capabilities"},
		{`{"id":1,"roles":["administrator"]}`, feed, 0, ""},
		{`{"id":1,"roles":[],"capabilities":{}}`, feed, 403, ""},
		{`{"id":1,"roles":[],"capabilities":[]}`, tags, 403, ""},
		{`{"id":1,"capabilities":{"edit_posts":true}}`, tags, 0, ""},
		{`{"id":1,"roles":null,"capabilities":{}}`, feed, 503, "no roles"},
	} {
		s, p := policytest.NewSite(t), &Access{LoginOnly: true}
		policytest.Configure(t, p, policytest.Line("allow capability edit_posts /wp/v2/tags"))
		backend := asktest.Routed(map[string]*ask.Answer{"GET /wp/v2/users/me": asktest.JSON(200, test.body)})
		r := policytest.Request(t, s, backend, "GET", test.target, "", policytest.BasicAuth)
		d := policytest.Alone("access", policytest.Provision(t, s, p)).Judge(t.Context(), r)
		if d.Verdict.Status != test.status || (test.note == "") != (d.Verdict.Note == "") || !strings.Contains(d.Verdict.Note, test.note) {
			t.Errorf("%s on %s: %+v", test.body, test.target, d)
		}
	}
}

func TestAccess_CouldNotDecide(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"down":             asktest.Failing(ask.ErrUndecided),
		"not JSON":         asktest.Answering(200, `<html>`),
		"no id":            asktest.Answering(200, `{"name":"x"}`),
		"forbidden page":   asktest.Answering(403, `<html>`),
		"401 page":         asktest.Answering(401, `<html>login</html>`),
		"teapot":           asktest.Answering(418, `{"code":"x"}`),
		"bad capabilities": asktest.Answering(200, `{"id":1,"capabilities":"all"}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, &Access{LoginOnly: true})
			r := policytest.Request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
			d := policytest.Alone("access", p).Judge(t.Context(), r)
			status, code := http.StatusServiceUnavailable, policy.CodeUnavailable
			if name == "forbidden page" { // the call itself would get it, too
				status, code = http.StatusForbidden, policy.CodePlatform
			}
			if d.Outcome != policy.Refuse || d.Verdict.Status != status || d.Verdict.Code != code {
				t.Errorf("got %+v", d)
			}
		})
	}
}
