package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// pluginAccess is the policy access with the lines of a Caddyfile, plugin lines expanded.
func pluginAccess(t *testing.T, platform string, lines ...string) *Access {
	t.Helper()
	site := policytest.NewSite(t)
	names, _ := platforms.ByName(platform)
	site.Platform = names
	p := policy.NewConfigured(Entry)
	for _, text := range lines {
		words := strings.Fields(text)
		o := policy.Option{Name: words[0], Args: words[1:], Pos: "Caddyfile:1"}
		all := []policy.Option{o}
		if IsPluginLine(o) {
			var err error
			if all, err = ExpandPlugins(o, names); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range all {
			if !slices.Contains(Entry.Words, o.Name) {
				continue
			}
			if err := p.Configure(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	access, _ := p.Policy.(*Access)
	if err := access.Provision(site, policy.Settings{}); err != nil {
		t.Fatal(err)
	}
	return access
}

// passes tells whether the rules let a caller without a login make a call.
func (p *Access) passes(method, route string) bool {
	c := review.CallOf(method, strings.ToLower(route))
	guard, own := p.decide(&policy.Request{Call: c})
	for _, m := range []policy.Match{guard, own} {
		if m.Rule != nil && m.Rule.Who() != policy.Anyone {
			return false
		}
	}
	return true
}

// TestExpandPlugins_Every: every plugin of the catalogue expands, alone and with its risky
// routes closed. What it needs passes without a login, what is only risky does not, and the
// built-in rules stay.
func TestExpandPlugins_Every(t *testing.T) {
	for _, p := range plugins.All() {
		access := pluginAccess(t, "wordpress", "login_only", "allow plugin "+p.Slug+" for visitors,payments,services,sites,apps,setup", "deny plugin "+p.Slug)
		open := pluginAccess(t, "wordpress", "allow anyone /**", "deny plugin "+p.Slug)
		for _, n := range p.Needed {
			for _, method := range n.Methods {
				route := example(n.Route)
				want := !riskier(p, method, route, n.Route)
				if access.passes(method, route) != want {
					t.Errorf("%s: %s %s passes: %t", p.Slug, method, route, !want)
				}
			}
		}
		for _, r := range p.Risky {
			for _, method := range r.Methods {
				route := example(r.Route)
				if want := needed(p, method, route, r.Route); access.passes(method, route) != want || open.passes(method, route) != want {
					t.Errorf("%s: %s %s passes: %t", p.Slug, method, route, !want)
				}
			}
		}
		for _, route := range []string{"/wp/v2/users", "/wp/v2/users/7", "/batch/v1", "/x/troubleshooting", "/x/v1/upload-logo", "/x/v1/store-auth"} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				if access.passes(method, route) || open.passes(method, route) {
					t.Errorf("%s opens %s %s", p.Slug, method, route)
				}
			}
		}
	}
}

// example is a route that a pattern matches and that no row names.
func example(pattern string) string {
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		if s == "*" || s == "**" {
			segments[i] = "zz"
		}
	}
	return strings.Join(segments, "/")
}

// riskier tells whether a risky row, narrower than the needed one, names a call.
func riskier(p *plugins.Plugin, method, route, needed string) bool {
	return slices.ContainsFunc(p.Risky, func(r plugins.Risk) bool {
		return r.Route != needed && slices.Contains(r.Methods, method) && routes.MustPattern(r.Route).Match(strings.ToLower(route)) &&
			!routes.MustPattern(r.Route).Covers(routes.MustPattern(needed))
	})
}

// needed tells whether a needed row, no wider than the risky one, names a call.
func needed(p *plugins.Plugin, method, route, risky string) bool {
	return slices.ContainsFunc(p.Needed, func(n plugins.Need) bool {
		return slices.Contains(n.Methods, method) && routes.MustPattern(n.Route).Match(strings.ToLower(route)) && routes.MustPattern(risky).Covers(routes.MustPattern(n.Route))
	})
}

// TestExpandPlugins_Rewrites: a line of either kind makes the plugin's rewrite rules known, and
// what the plugin needs open is open under them, too.
func TestExpandPlugins_Rewrites(t *testing.T) {
	names, _ := platforms.ByName("wordpress")
	for _, text := range []string{"allow plugin activitypub", "deny plugin activitypub"} {
		options, err := ExpandPlugins(policytest.Line(text), names)
		if err != nil {
			t.Fatal(err)
		}
		site := call.Config{Platform: names}
		for _, o := range options {
			if o.Name == "alias" {
				site.Aliases = append(site.Aliases, call.Alias{Pattern: o.Args[0], Route: o.Args[1]})
			}
		}
		for target, want := range map[string]string{
			"/.well-known/webfinger?resource=acct:a@example.com": "/activitypub/1.0/webfinger",
			"/.well-known/nodeinfo":                              "/activitypub/1.0/nodeinfo/discovery",
			"/@anna":                                             "/activitypub/1.0/actors/anna",
		} {
			c := call.NewReader(site).Read(httptest.NewRequest(http.MethodGet, target, http.NoBody), nil)
			access := pluginAccess(t, "wordpress", "login_only", text)
			if allowed := strings.HasPrefix(text, "allow"); c.Key != want || access.passes(c.Method, c.Key) != allowed {
				t.Errorf("%s: %s is %s, open %v", text, target, c.Key, !allowed)
			}
		}
	}
}

// TestExpandPlugins_Groups: a line opens what its groups need, and those of the default.
func TestExpandPlugins_Groups(t *testing.T) {
	usual := pluginAccess(t, "wordpress", "login_only", "allow plugin woocommerce")
	payments := pluginAccess(t, "wordpress", "login_only", "allow plugin woocommerce for payments")
	apps := pluginAccess(t, "wordpress", "login_only", "allow plugin woocommerce for apps,payments")
	const visitor, payment, app = "/wc/store/v1/checkout", "/wc/v3/paypal-webhooks", "/wc-admin/mobile-app/qr-login-scan"
	for _, test := range []struct {
		name   string
		access *Access
		want   [3]bool
	}{{"usual", usual, [3]bool{true, true, false}}, {"payments", payments, [3]bool{false, true, false}}, {"apps", apps, [3]bool{false, true, true}}} {
		got := [3]bool{test.access.passes("POST", visitor), test.access.passes("POST", payment), test.access.passes("POST", app)}
		if got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestExpandPlugins_Neutral: on a platform with other names the rows of the core and of the
// shop have those names.
func TestExpandPlugins_Neutral(t *testing.T) {
	access := pluginAccess(t, "cms", "login_only", "allow plugin woocommerce", "allow plugin contact-form-7", "deny plugin wordpress")
	for route, want := range map[string]bool{
		"/shop/store/v1/checkout": true, "/wc/store/v1/checkout": false, "/shop/v3/paypal-webhooks": true,
		"/contact-form-7/v1/contact-forms/5/feedback": true,
	} {
		if access.passes("POST", route) != want {
			t.Errorf("%s passes: %t", route, !want)
		}
	}
	if open := pluginAccess(t, "cms", "deny plugin wordpress"); open.passes("GET", "/cms/v2/media") || !open.passes("GET", "/cms/v2/posts") {
		t.Error("deny plugin wordpress has the names of another platform")
	}
}

// TestGuards: a guard of a plugin gives way to a line for its very route, and to no wider one.
func TestGuards(t *testing.T) {
	for lines, want := range map[string]bool{
		"deny plugin wordpress":                                           false,
		"deny plugin wordpress; allow anyone GET /wp/v2/search":           true,
		"allow anyone GET /wp/v2/search; deny plugin wordpress":           true,
		"deny plugin wordpress; allow anyone GET /wp/v2/**":               false,
		"deny plugin wordpress; recommended off":                          false,
		"deny plugin wordpress; allow plugin wordpress; allow anyone /**": false,
	} {
		access := pluginAccess(t, "wordpress", strings.Split(lines, "; ")...)
		if got := access.passes("GET", "/wp/v2/search"); got != want {
			t.Errorf("%s: passes %t", lines, got)
		}
	}
}

// TestGuards_OtherPlugin: what one plugin needs is open, though it is risky with another one.
// A built-in rule gives way to no plugin.
func TestGuards_OtherPlugin(t *testing.T) {
	const connect = "/jetpack/v4/remote_authorize"
	if access := pluginAccess(t, "wordpress", "login_only", "allow plugin jetpack", "deny plugin woocommerce"); !access.passes("POST", connect) {
		t.Error("deny plugin woocommerce cuts off jetpack")
	}
	if access := pluginAccess(t, "wordpress", "login_only", "deny plugin woocommerce"); access.passes("POST", connect) {
		t.Error("the route is open by nothing")
	}
	access := &Access{LoginOnly: true, Rules: []policy.Rule{{Allow: "anyone", Routes: []string{"/wp/v2/users"}, From: "wordpress"}}}
	if err := access.Provision(policytest.NewSite(t), policy.Settings{}); err != nil || access.passes("GET", "/wp/v2/users") {
		t.Errorf("a plugin has opened the users, %v", err)
	}
}

// TestGuards_Refusal: the log names the plugin and the line, and offers no remedy.
func TestGuards_Refusal(t *testing.T) {
	access := pluginAccess(t, "wordpress", "deny plugin wordpress")
	r := policytest.Request(t, policytest.NewSite(t), nil, http.MethodGet, "/wp-json/wp/v2/media", "")
	v, err := access.Check(context.Background(), r)
	if err != nil || !v.Refused() || v.Rule != "deny plugin wordpress" || v.Pos != "Caddyfile:1" || v.Origin != policy.OriginPlugin {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestPluginLine_Words: an error about a line says what to write, or where the name is missing.
func TestPluginLine_Words(t *testing.T) {
	platform, _ := platforms.ByName("wordpress")
	for _, test := range []struct {
		args     []string
		imported string
		want     string
	}{
		{[]string{"plugin", "woocommerce", "for", "visitors,", "payments"}, "", "with commas: visitors,payments"},
		{[]string{"plugin", "cf7,woocommerce"}, "", "names are separated by spaces"},
		{[]string{"plugin"}, "", "needs the name of a plugin: is an environment variable"},
		{[]string{"plugin"}, "Caddyfile:9", "does the import of the snippet give one"},
	} {
		_, err := ExpandPlugins(policy.Option{Name: "allow", Args: test.args, Imported: test.imported}, platform)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.args, err)
		}
	}
}

// TestVerdict_Origin: a refusal says where its rule comes from, whatever the rule's text.
func TestVerdict_Origin(t *testing.T) {
	const form, users, search = "/wp-json/contact-form-7/v1/contact-forms/5/feedback", "/wp-json/wp/v2/users", "/wp-json/wp/v2/search"
	for name, c := range map[string]struct {
		lines          []string
		method, target string
		origin         policy.Origin
	}{
		"the default":        {[]string{"login_only"}, "POST", form, policy.OriginDefault},
		"a rule":             {[]string{"deny POST /contact-form-7/v1/**"}, "POST", form, policy.OriginOwn},
		"a rule that allows": {[]string{"allow users /contact-form-7/v1/**"}, "POST", form, policy.OriginOwn},
		"a built-in rule":    {nil, "GET", users, policy.OriginBuiltIn},
		"a line deny plugin": {[]string{"deny plugin wordpress"}, "GET", search, policy.OriginPlugin},
	} {
		access := pluginAccess(t, "wordpress", c.lines...)
		r := policytest.Request(t, policytest.NewSite(t), nil, c.method, c.target, "")
		v, err := access.Check(t.Context(), r)
		if err != nil || !v.Refused() || v.Origin != c.origin {
			t.Errorf("%s: %q by %q, %v", name, v.Origin, v.Rule, err)
		}
	}
}
