package policy_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/condition"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRuleOption: a line says whom, then methods, then routes, and is written as it was read.
func TestRuleOption(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"allow anyone /a/v1/b", "allow users GET,POST /a/v1/b /a/v1/c/*", "allow role editor,author PUT /a/v1/b", "allow capability edit_posts /a/v1/**",
		"allow signed pay POST /a/v1/b", "allow scope orders GET /a/v1/b", "deny /a/v1/b", "deny DELETE /a/v1/b", "deny DELETE /a/v1/b /a/v1/c", "deny /a/v1/b as 404",
	} {
		r, err := policy.RuleOption(policytest.Line(line))
		if err != nil || r.Line() != line || r.String() != line || r.At != "Caddyfile:7" {
			t.Errorf("%s became %s, %v", line, r.Line(), err)
		}
	}
	for line, want := range map[string]string{
		"allow":                      "allow needs whom, then routes",
		"allow role":                 "allow needs whom, then routes",
		"allow /a/v1/b":              "allow needs whom, then routes",
		"allow /a/v1/b GET":          "allow needs whom, then routes",
		"allow nobody /a/v1/b":       `"nobody" is not one of`,
		"allow role /a/v1/b":         "role needs a name before methods and routes",
		"allow role GET /a/v1/b":     "role needs a name before methods and routes",
		"allow users":                "no route named",
		"allow users x /a/v1/b":      "neither a method (in upper case) nor a route",
		"allow users /a/v1/b GET":    `"GET"`,
		"allow users tools/call /a":  "a method of agents' messages",
		"deny as 404":                "neither a method",
		"deny /a/v1/b as 403":        "only 404 is possible",
		"deny /a/v1/b as":            `"as"`,
		"allow users /a/v1/b as 404": `"as"`,
	} {
		if r, err := policy.RuleOption(policytest.Line(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", line, r.Line(), err, want)
		}
	}
	for want, r := range map[string]policy.Rule{
		"either allows somebody or denies": {Routes: []string{"/a"}},
		"as 404 goes with deny":            {Allow: "users", As404: true, Routes: []string{"/a"}},
		"deny takes no conditions":         {Deny: true, Routes: []string{"/a"}, Conditions: new(condition.Conditions)},
		"is not one of":                    {Allow: "x", Routes: []string{"/a"}},
	} {
		if err := r.Compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
	}
}

// TestRule_OnlyTakesAway: built-in rules and those of `deny plugin` open nothing, and are called after what they are.
func TestRule_OnlyTakesAway(t *testing.T) {
	t.Parallel()
	own := policy.MustRule("users", []string{"GET"}, "/a/v1/b")
	builtIn, closed, plugin, deny := own, own, own, policy.Rule{Deny: true, Routes: []string{"/a/v1/b"}}.MustCompile()
	builtIn.As(policy.OriginBuiltIn, "")
	deny.As(policy.OriginBuiltIn, "")
	closed.TakesAway("deny plugin acme")
	plugin.From = "acme"
	for name, r := range map[string]*policy.Rule{
		"built-in: only users GET /a/v1/b": &builtIn, "built-in: nobody /a/v1/b": &deny, "deny plugin acme": &closed,
	} {
		if !r.OnlyTakesAway() || r.String() != name {
			t.Errorf("%s takes away: %v", r, r.OnlyTakesAway())
		}
	}
	for name, r := range map[string]*policy.Rule{"allow users GET /a/v1/b": &own, "plugin acme": &plugin} {
		if r.OnlyTakesAway() || r.String() != name {
			t.Errorf("%s takes away: %v", r, r.OnlyTakesAway())
		}
	}
}

// TestMatch_Depends: what decides on a call beside route, method and caller.
func TestMatch_Depends(t *testing.T) {
	t.Parallel()
	plain, named := policy.MustRule("users", nil, "/a/v1/b"), policy.MustRule("users", nil, "/a/v1/:id")
	limited := policy.Rule{Allow: "users", Routes: []string{"/a/v1/b"}, Conditions: &condition.Conditions{Only: []string{"x"}}}.MustCompile()
	seen := map[string]bool{}
	for name, tt := range map[string]struct {
		rule    *policy.Rule
		depends bool
	}{"none": {nil, false}, "plain": {&plain, false}, "named": {&named, true}, "limited": {&limited, true}} {
		m := policy.Match{Rule: tt.rule}
		if tt.rule != nil {
			m.Route = &tt.rule.Target().Routes()[0]
		}
		text := m.Depends()
		if (text != "") != tt.depends || text != "" && seen[text] {
			t.Errorf("%s: %q", name, text)
		}
		seen[text] = true
	}
}

// TestTarget: GET names HEAD, no method names all, and a batch is in the target where one of its parts is.
func TestTarget(t *testing.T) {
	t.Parallel()
	for methods, has := range map[string]string{
		"":       "GET HEAD POST PUT PATCH DELETE OPTIONS PROPFIND",
		"GET":    "GET HEAD",
		"HEAD":   "HEAD",
		"POST":   "POST",
		"DELETE": "DELETE",
	} {
		target, err := policy.NewTarget(strings.Fields(methods), []string{"/a/v1/b"})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range policy.MethodsApart {
			want := slices.Contains(strings.Fields(has), m)
			if target.HasMethod(m) != want || target.MethodSet().Has(i) != want {
				t.Errorf("%q has %s: %v, %v", methods, m, target.HasMethod(m), target.MethodSet().Has(i))
			}
		}
	}
	target, err := policy.NewTarget([]string{"GET"}, []string{"/a/v1/b", "/a/v1/c/*"})
	if err != nil {
		t.Fatal(err)
	}
	one := func(method, target string) *call.Call {
		return policytest.Request(t, policytest.NewSite(t), nil, method, "/wp-json"+target, "").Call
	}
	for _, tt := range []struct {
		method, target, route string
		why                   policy.Mismatch
	}{
		{"GET", "/a/v1/b", "/a/v1/b", ""}, {"HEAD", "/a/v1/c/5", "/a/v1/c/*", ""}, {"POST", "/a/v1/b", "", policy.OtherMethod}, {"GET", "/a/v1/d", "", policy.OtherRoute},
	} {
		c := one(tt.method, tt.target)
		if route := target.Route(c); (route == nil) != (tt.route == "") || route != nil && route.String() != tt.route || target.Matches(c) != (tt.route != "") {
			t.Errorf("%s %s: %v", tt.method, tt.target, route)
		}
		if tt.route == "" && target.WhyNot(c) != tt.why {
			t.Errorf("%s %s: %v", tt.method, tt.target, target.WhyNot(c))
		}
	}
	for method, matches := range map[string]bool{"GET": true, "DELETE": false} {
		batch := &call.Call{Kind: call.Batch, Method: "POST", Parts: []*call.Call{one("GET", "/a/v1/d"), one(method, "/a/v1/b")}}
		if target.Matches(batch) != matches {
			t.Errorf("a batch with %s: %v", method, !matches)
		}
	}
	for _, wrong := range []struct{ methods, routes []string }{{[]string{"TRACE"}, []string{"/a"}}, {nil, nil}, {nil, []string{"a"}}} {
		if _, err := policy.NewTarget(wrong.methods, wrong.routes); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

// conditioned is a rule for users with a block.
func conditioned(t *testing.T, methods string, block ...policy.Option) (policy.Rule, error) {
	t.Helper()
	o := policytest.Line(strings.Join(strings.Fields("allow users "+methods+" /a/v1/:id"), " "))
	o.Block = block
	return policy.RuleOption(o)
}

// TestConditionsOption: each line of a block is a condition, and is there once.
func TestConditionsOption(t *testing.T) {
	t.Parallel()
	quoted := policytest.Line("only = x")
	quoted.Quoted = true
	r, err := conditioned(t, "", policytest.Line("only a only"), policytest.Line("optional a"), policytest.Line("from 10.0.0.0/8"), policytest.Line("between 08:00-18:00 UTC"), policytest.Line("a = 1"), quoted)
	if err != nil || r.Conditions == nil || len(r.Conditions.Members) != 2 || r.Conditions.Between != "08:00-18:00 UTC" || len(r.Conditions.Only) != 2 || len(r.Conditions.From) != 1 {
		t.Errorf("%+v, %v", r.Conditions, err)
	}
	nested := policytest.Line("only a")
	nested.Block = []policy.Option{policytest.Line("b")}
	for want, block := range map[string][]policy.Option{
		"only takes no block":                {nested},
		"only is a word of conditions":       {policytest.Line("only = x")},
		"only needs what it is about":        {policytest.Line("only")},
		"from needs what it is about":        {policytest.Line("from")},
		"only: ":                             {policytest.Line("only a"), policytest.Line("only b")},
		"between: ":                          {policytest.Line("between 08:00-18:00"), policytest.Line("between 09:00-18:00")},
		"between needs hours such as":        {policytest.Line("between")},
		"between takes hours such as":        {policytest.Line("between 08:00-18:00 UTC now")},
		"the hours are written as":           {policytest.Line("between 8-18")},
		"not a network":                      {policytest.Line("from here")},
		"a: a condition is only, optional":   {policytest.Line("a")},
		"a x: a condition is only, optional": {policytest.Line("a x 5")},
		"values stand behind each other":     {policytest.Line("a = 1 2")},
		"nothing compares it":                {policytest.Line("optional a")},
	} {
		if _, err := conditioned(t, "", block...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := conditioned(t, "", policytest.Line("between 08:00-18:00"), policytest.Line("from 10.0.0.0/8"), policytest.Line("a = 1")); err != nil {
		t.Error("hours before networks:", err)
	}
	for methods, right := range map[string]bool{
		"": true, "POST": true, "GET,DELETE": true, "GET": false, "HEAD": false, "OPTIONS": false, "GET,HEAD,OPTIONS": false,
	} {
		if _, err := conditioned(t, methods, policytest.Line("only a")); (err == nil) != right {
			t.Errorf("only with %q: %v", methods, err)
		}
	}
	deny := policytest.Line("deny /a/v1/b")
	deny.Block = []policy.Option{policytest.Line("only a")}
	if _, err := policy.RuleOption(deny); err == nil || !strings.Contains(err.Error(), "deny takes no block") {
		t.Error(err)
	}
	if c, err := policy.AroundOption([]string{"10.0.0.0/8"}, "", policytest.Line("between 08:00-18:00")); err != nil || c.Between == "" || len(c.From) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestMatch_Unmet: a ":name" has the value of the path in every place that has one, a credential may stand beside what
// `only` names, and conditions about the client hold at their hours.
func TestMatch_Unmet(t *testing.T) {
	t.Parallel()
	r, err := conditioned(t, "", policytest.Line("only a"), policytest.Line("from 192.0.2.0/24"), policytest.Line("between 08:00-09:00 UTC"))
	if err != nil {
		t.Fatal(err)
	}
	m := policy.Match{Rule: &r, Route: &r.Target().Routes()[0]}
	for _, tt := range []struct{ target, body, want string }{
		{"", `{"a":1}`, ""},
		{"", `{"b":1}`, "only a"},
		{"", `{"id":5,"a":1}`, ""},
		{"?id=5", `{"id":"5"}`, ""},
		{"?id=6", `{"id":5}`, "parameter_outside_path"},
		{"", `{"id":null}`, ""},
		{"", `{"id":[5]}`, "parameter_outside_path"},
		{"", `{"id":{"5":5}}`, "parameter_outside_path"},
		{"", `{"id":6}`, "parameter_outside_path"},
		{"?consumer_key=ck_1&consumer_secret=cs_1", `{"a":1}`, ""},
		{"", `{"a":1,"a":2}`, "body"},
	} {
		req := policytest.Request(t, policytest.NewSite(t), nil, "POST", "/wp-json/a/v1/5"+tt.target, tt.body, policytest.JSONType)
		got, err := m.Unmet(req)
		if err != nil {
			got = err.Error()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.target, tt.body, got, tt.want)
		}
	}
	plain := policy.MustRule("users", nil, "/a/v1/:id")
	without := policy.Match{Rule: &plain, Route: &plain.Target().Routes()[0]}
	for _, tt := range []struct {
		client string
		hour   int
		want   string
	}{{"192.0.2.7", 8, ""}, {"192.0.2.7", 9, "between 08:00-09:00 UTC"}, {"198.51.100.7", 8, "from 192.0.2.0/24"}} {
		site := policytest.NewSite(t)
		req := policytest.Request(t, site, nil, "POST", "/wp-json/a/v1/5", `{"b":1}`, policytest.JSONType)
		req.Client = netip.MustParseAddr(tt.client)
		site.Now = func() time.Time { return time.Date(2026, 7, 1, tt.hour, 0, 0, 0, time.UTC) }
		if got := m.UnmetAround(req); got != tt.want {
			t.Errorf("%s at %d: %q, want %q", tt.client, tt.hour, got, tt.want)
		}
		if got := without.UnmetAround(req); got != "" {
			t.Errorf("a rule without conditions: %q", got)
		}
		if got, err := without.Unmet(req); got != "" || err != nil {
			t.Errorf("a rule without conditions: %q, %v", got, err)
		}
	}
}

// TestMatch_ProtectNames: what the platform would take for a ":name" is what stands in the path.
func TestMatch_ProtectNames(t *testing.T) {
	t.Parallel()
	rule := policy.MustRule("users", nil, "/a/v1/:id")
	for _, tt := range []struct {
		target, body string
		right        bool
	}{
		{"", "", true},
		{"?id=5", "", true},
		{"?id=6", "", false},
		{"?other=6", "", true},
		{"?id[]=5", "", false},
		{"", `{"id":5}`, true},
		{"", `{"id":"5"}`, true},
		{"", `{"id":6}`, false},
		{"", `{"id":null}`, true},
		{"", `{"id":[5]}`, false},
		{"", `{"id":5,"id":5}`, false},
	} {
		req := policytest.Request(t, policytest.NewSite(t), nil, "POST", "/wp-json/a/v1/5"+tt.target, tt.body, policytest.JSONType)
		m, ok := rule.Match(req.Call)
		if !ok {
			t.Fatal("the rule does not match")
		}
		if err := m.ProtectNames(req.Call); (err == nil) != tt.right {
			t.Errorf("%s %s: %v", tt.target, tt.body, err)
		}
	}
	if _, ok := rule.Match(policytest.Request(t, policytest.NewSite(t), nil, "GET", "/wp-json/a/v1/5/6", "").Call); ok {
		t.Error("another route matches")
	}
}
