package abilities

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestGlob: * stands for any part of a text, and all else for itself.
func TestGlob(t *testing.T) {
	t.Parallel()
	for pattern, texts := range map[string]map[string]bool{
		"shop/a":     {"shop/a": true, "shop/ab": false, "xshop/a": false, "": false},
		"shop/*":     {"shop/": true, "shop/a": true, "shop": false, "xshop/a": false},
		"*/a":        {"shop/a": true, "/a": true, "shop/ab": false},
		"*":          {"": true, "shop/a": true},
		"shop/*-get": {"shop/a-get": true, "shop/-get": true, "shop/get": false, "shop/a-get-b": false, "shop/a": false},
		"a*b*c":      {"abc": true, "axbxc": true, "acb": false, "abxc": true, "ab": false, "bc": false},
		"a*a":        {"a": false, "aa": true},
		"":           {"": true, "a": false},
	} {
		for text, fits := range texts {
			if Glob(pattern, text) != fits {
				t.Errorf("%q fits %q: %v", pattern, text, !fits)
			}
		}
	}
}

// parsed is the rule of a line.
func parsed(t *testing.T, line string) Rule {
	t.Helper()
	rules, err := abilityRules(policytest.Line(line))
	if err != nil || len(rules) != 1 {
		t.Fatal(line, rules, err)
	}
	return rules[0]
}

// TestRule_Fits: a line is about what its kind says. One that allows fits nothing by a name that may be another ability's;
// one that denies fits that, too.
func TestRule_Fits(t *testing.T) {
	t.Parallel()
	readonly, writes := new(ability), new(ability)
	readonly.Meta.Annotations.Readonly = true
	subjects := map[string]*Subject{
		"ability":  {ID: "shop/get", about: writes},
		"readonly": {ID: "shop/get", about: readonly},
		"unasked":  {ID: "shop/get"},
		"named":    {ID: "shop/get", Name: "shop-get"},
		"through":  {ID: "shop/get", Name: "run", by: "shop-run"},
		"unlisted": {Name: "shop-get"},
		"tool":     {Name: "search"},
		"resource": {URI: "shop://products"},
		"misnamed": {ID: "other/x", Name: "shop-get"},
		"unnamed":  {about: readonly},
		"nothing":  {},
	}
	for line, want := range map[string]string{
		"deny *":                       "ability misnamed named readonly through tool unasked unlisted",
		"allow readonly *":             "readonly",
		"allow shop/*":                 "ability named unasked readonly through",
		"allow shop/get":               "ability named unasked readonly through",
		"allow other/*":                "misnamed",
		"allow readonly shop/*":        "readonly",
		"allow readonly other/*":       "",
		"allow tool search":            "tool",
		"allow tool shop-*":            "unlisted",
		"allow tool *":                 "tool unlisted",
		"allow resource shop://*":      "resource",
		"allow resource shop://orders": "",
		"allow resource *":             "resource",
		"deny shop/*":                  "misnamed ability named unasked readonly through unlisted",
		"deny shop/get":                "misnamed ability named unasked readonly through unlisted",
		"deny tool shop-get":           "misnamed named unlisted",
		"deny tool shop-run":           "through",
		"deny tool run":                "through",
		"deny tool *":                  "misnamed tool named through unlisted",
		"deny resource shop://*":       "resource",
	} {
		r := parsed(t, line)
		for name, s := range subjects {
			wanted := slices.Contains(strings.Fields(want), name)
			if r.fits(s) != wanted {
				t.Errorf("%s fits %s: %v", line, name, !wanted)
			}
		}
	}
}

// TestRule_Names: a line names what it writes out.
func TestRule_Names(t *testing.T) {
	t.Parallel()
	for line, tt := range map[string]struct{ named, other Subject }{
		"allow shop/get":                {Subject{ID: "shop/get"}, Subject{Name: "shop/get", URI: "shop/get"}},
		"allow shop/*":                  {Subject{ID: "shop/*"}, Subject{ID: "shop/get"}},
		"allow tool search":             {Subject{Name: "search"}, Subject{URI: "search"}},
		"allow resource shop://product": {Subject{URI: "shop://product"}, Subject{Name: "shop://product"}},
	} {
		r := parsed(t, line)
		if !r.names(&tt.named) || r.names(&tt.other) || r.names(new(Subject)) {
			t.Errorf("%s names %v, %v, %v", line, r.names(&tt.named), r.names(&tt.other), r.names(new(Subject)))
		}
		if name, at := r.line(); name != "abilities "+line || at != "Caddyfile:7" {
			t.Errorf("%s is called %s at %s", line, name, at)
		}
	}
	none := new(Rule)
	if name, at := none.line(); name != ruleNone || at != "" || none.names(new(Subject)) {
		t.Errorf("no rule is called %s at %s", name, at)
	}
}

// TestRule_AdmitsCallers: a line without whom admits everybody, and so does one for anyone.
func TestRule_AdmitsCallers(t *testing.T) {
	t.Parallel()
	editor := caller.Caller{Kind: caller.User, ID: 5, Roles: []string{"editor"}}
	for line, want := range map[string][2]bool{ // an editor, nobody
		"allow shop/*": {true, true}, "allow anyone shop/*": {true, true}, "allow users shop/*": {true, false},
		"allow role editor shop/*": {true, false}, "allow role author shop/*": {false, false},
	} {
		r := parsed(t, line)
		if r.admits(editor) != want[0] || r.admits(caller.Caller{}) != want[1] || r.forAnyone() != want[1] {
			t.Errorf("%s admits an editor %v, nobody %v", line, r.admits(editor), r.admits(caller.Caller{}))
		}
	}
}

// TestAbilityRules: what a line may say, and in which order.
func TestAbilityRules(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"allow":                        "takes one pattern or several",
		"allow users":                  "says whom, but not what",
		"allow role editor":            "says whom, but not what",
		"allow role":                   "says whom, but not what",
		"allow readonly":               "takes one pattern or several",
		"deny":                         "takes one pattern or several",
		"deny users shop/*":            "stands where a pattern does",
		"deny readonly shop/*":         "readonly goes with allow alone",
		"allow shop/* users":           "stands where a pattern does",
		"allow signed pay shop/*":      "not signatures",
		"allow capability a,b shop/*":  "not a list of names",
		"allow shop":                   "cannot be the id of an ability",
		"allow shop_get":               "stands behind the word tool",
		"allow shop/get!":              "cannot be the id of an ability",
		"allow reedonly shop/*":        "did you mean readonly?",
		"allow tool shop/get":          "without the word tool",
		"allow tool a!":                "cannot be the name of a tool",
		"allow resource products":      "cannot be the address of a resource",
		"allow resource shop://a\x7f":  "cannot be the address of a resource",
		"allow resource shop://\u00fc": "cannot be the address of a resource",
	} {
		if rules, err := abilityRules(policytest.Line(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", line, rules, err, want)
		}
	}
	for _, r := range []Rule{{Kind: KindResource, Pattern: "shop://a b"}, {Kind: KindResource, Pattern: ""}, {Pattern: ""}, {Kind: KindTool, Pattern: ""}, {Kind: "x", Pattern: "a/b"}, {Deny: true, Allow: "users", Pattern: "a/b"}} {
		if err := r.compile(); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
	for _, pattern := range []string{"shop://a!", "shop://a~"} {
		if err := (&Rule{Kind: KindResource, Pattern: pattern}).compile(); err != nil {
			t.Error(err)
		}
	}
	if rules, err := abilityRules(policytest.Line("allow users readonly shop/* other/get")); err != nil || len(rules) != 2 || rules[1].Pattern != "other/get" || rules[1].Kind != KindReadonly || rules[1].Allow != "users" {
		t.Errorf("%+v, %v", rules, err)
	}
	block := policytest.Line("allow shop/*", policytest.Line("x"))
	if _, err := abilityRules(block); err == nil {
		t.Error("a block")
	}
	if rules, err := abilityRules(policy.Option{Name: "allow", Args: []string{"", "shop/*"}}); err == nil {
		t.Errorf("an empty pattern: %+v", rules)
	}
	if _, err := abilityRules(policytest.Line("confirm")); err == nil {
		t.Error("no pattern")
	}
}
