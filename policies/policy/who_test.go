package policy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRule_Admits: whom each rule admits. Roles and capabilities count for a user alone whom the platform has named,
// whatever else says that a caller has them: a shop key has none, though it belongs to somebody who does.
func TestRule_Admits(t *testing.T) {
	t.Parallel()
	roles, capabilities := []string{"author", "editor"}, map[string]bool{"edit_posts": true, "edit_users": false}
	callers := map[string]caller.Caller{
		"nobody":        {},
		"nobody, named": {Roles: roles, Capabilities: capabilities},
		"user":          {Kind: caller.User, ID: 5},
		"editor":        {Kind: caller.User, ID: 6, Roles: roles, Capabilities: capabilities},
		"super admin":   {Kind: caller.User, ID: 7, Administrator: true},
		"any right":     {Kind: caller.User, EveryRight: true},
		"key":           {Kind: caller.KeyHolder, Roles: roles, Capabilities: capabilities},
		"key, any":      {Kind: caller.KeyHolder, EveryRight: true},
		"unverified":    {Kind: caller.Unverified, Roles: roles, Capabilities: capabilities},
		"scoped key":    {Kind: caller.KeyHolder, Scopes: []string{"stock", "orders"}},
		"scoped user":   {Kind: caller.User, ID: 8, Scopes: []string{"reports"}},
	}
	accepted := []string{"any right", "editor", "key", "key, any", "scoped key", "scoped user", "super admin", "unverified", "user"}
	for allow, want := range map[string][]string{
		"users":                    accepted,
		"role editor":              {"any right", "editor"},
		"role customer,author":     {"any right", "editor"},
		"role customer":            {"any right"},
		"role administrator":       {"any right", "super admin"},
		"capability edit_posts":    {"any right", "editor", "super admin"},
		"capability edit_users":    {"any right", "super admin"},
		"capability read":          {"any right", "super admin"},
		"scope orders":             {"scoped key"},
		"scope reports,stock":      {"scoped key", "scoped user"},
		"scope editor":             nil,
		"anyone":                   nil, // of whom nobody needs to be asked
		"signed payments":          nil, // by the request, not by who sends it
		"capability administrator": {"any right", "super admin"},
	} {
		rule := policy.MustRule(allow, nil, "/a/v1/b")
		var got []string
		for name, c := range callers {
			if rule.Admits(c) {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("allow %s admits %q, want %q", allow, got, want)
		}
	}
	deny := policy.Rule{Deny: true, Routes: []string{"/a/v1/b"}}.MustCompile()
	for name, c := range callers {
		if deny.Admits(c) {
			t.Errorf("deny admits %s", name)
		}
	}
}

// TestRule_AdmitsRights: a rule that asks for roles or capabilities is judged on what the platform says of the caller,
// and not where it says nothing of them.
func TestRule_AdmitsRights(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		allow, body string
		admitted    bool
		untold      string
	}{
		"role":                    {"role customer", policytest.ClientBody, true, ""},
		"another role":            {"role editor", policytest.ClientBody, false, ""},
		"capability":              {"capability read", policytest.ClientBody, true, ""},
		"another capability":      {"capability manage_options", policytest.AdminBody, true, ""},
		"withdrawn capability":    {"capability gone", policytest.AdminBody, false, ""},
		"no capability":           {"capability edit_posts", policytest.ClientBody, false, ""},
		"user":                    {"users", policytest.ClientBody, true, ""},
		"role, none told":         {"role customer", `{"id":5,"capabilities":{"read":true}}`, false, "roles"},
		"capability, none told":   {"capability read", `{"id":5,"roles":["customer"]}`, false, "capabilities"},
		"role, no capabilities":   {"role customer", `{"id":5,"roles":["customer"]}`, true, ""},
		"no role, no capability":  {"role editor", `{"id":5,"roles":["customer"]}`, false, ""},
		"capability, no role":     {"capability read", `{"id":5,"capabilities":{"read":true}}`, true, ""},
		"no capability, no roles": {"capability edit", `{"id":5,"capabilities":{"read":true}}`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := asktest.Answering(200, tt.body)
			r := policytest.Request(t, policytest.NewSite(t), platform, "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
			who, answer, err := r.Who(t.Context())
			if answer != nil || err != nil {
				t.Fatal(answer, err)
			}
			rule := policy.MustRule(tt.allow, nil, "/**")
			admitted, err := rule.AdmitsRights(t.Context(), r, who)
			if admitted != tt.admitted || (err == nil) != (tt.untold == "") || err != nil && !strings.Contains(err.Error(), tt.untold) {
				t.Errorf("%t, %v", admitted, err)
			}
		})
	}
}

// TestRule_AdmitsRights_Asks: a super admin is no member of the site and has neither role nor capability there. Only a rule
// that asks for one makes the gateway ask for more than who it is.
func TestRule_AdmitsRights_Asks(t *testing.T) {
	t.Parallel()
	for allow, asked := range map[string]int{"role administrator": 2, "capability edit_posts": 2, "scope orders": 1} {
		platform := asktest.Routed(map[string]*ask.Answer{
			"GET /wp/v2/users/me": asktest.JSON(http.StatusOK, `{"id":1,"roles":[],"capabilities":[]}`), "GET /wp/v2/settings": asktest.JSON(http.StatusOK, `{"title":"Site"}`),
		})
		r := policytest.Request(t, policytest.NewSite(t), platform, "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
		who, _, err := r.Who(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rule := policy.MustRule(allow, nil, "/**")
		admitted, err := rule.AdmitsRights(t.Context(), r, who)
		if err != nil || admitted != (asked == 2) || len(platform.Questions()) != asked {
			t.Errorf("%s: %t after %d questions, %v", allow, admitted, len(platform.Questions()), err)
		}
	}
}

// TestRule_CompileWho: a line names whom it admits as its word wants it.
func TestRule_CompileWho(t *testing.T) {
	t.Parallel()
	for allow, want := range map[string]string{
		"anyone": "", "users": "", "role editor": "", "role editor,author": "", "capability edit_posts": "", "signed a,b": "", "scope a,b": "",
		"anyone x":         "anyone takes no name",
		"users x":          "users takes no name",
		"role":             "role needs a name",
		"capability":       "capability needs a name",
		"signed":           "signed needs a name",
		"scope":            "scope needs a name",
		"role a,,b":        `"a,,b" is not a list of names`,
		"role a,":          `"a," is not a list of names`,
		"capability a,b":   `"a,b" is not a list of names`,
		"capabilty a":      "did you mean capability?",
		"rest":             "is not one of anyone, users, role, capability, signed, scope",
		"plugin complianz": "is not one of anyone, users, role, capability, signed, scope",
	} {
		r := policy.Rule{Allow: allow}
		if err := r.CompileWho(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("allow %s: %v, want %s", allow, err, want)
		}
	}
	var names [][]string
	for _, allow := range []string{"role a,b", "signed c", "scope d", "capability e"} {
		r := policy.MustRule(allow, nil, "/**")
		names = append(names, r.Roles(), r.SignedBy(), r.Names())
	}
	if want := [][]string{{"a", "b"}, nil, {"a", "b"}, nil, {"c"}, {"c"}, nil, nil, {"d"}, nil, nil, {"e"}}; !slices.EqualFunc(names, want, slices.Equal) {
		t.Errorf("roles, signatures and names %q, want %q", names, want)
	}
}
