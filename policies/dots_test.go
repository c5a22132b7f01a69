package policies

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// judged says what becomes of a request without credentials: the word of its reading, the status
// of another refusal, or "passes".
func judged(t *testing.T, c *policy.Chain, method, target, body string, headers ...string) string {
	t.Helper()
	r := policytest.Request(t, c.Site(), asktest.Answering(http.StatusUnauthorized, `{"code":"rest_not_logged_in"}`), method, target, body, headers...)
	switch d := c.Judge(t.Context(), r); {
	case d.Outcome == policy.Pass:
		return "passes"
	case d.Verdict.Code == policy.CodeAmbiguous:
		return d.Policy + " " + d.Verdict.Rule
	default:
		return d.Policy + " " + string(d.Verdict.Code)
	}
}

// TestDots: a route that the platform runs as one with a dot is refused, whichever line names the
// one with the dot, and however the route is sent.
func TestDots(t *testing.T) {
	const bent = "call route_dot"
	acme := []string{"/acme/v1x0/secret", "/acme/v1/0/secret", "/ACME/V1-0/secret", "/acme/v1~0/secret"}
	for _, test := range []struct {
		name, lines string
		routes      []string // that are refused, below /wp-json
		honest      string   // what becomes of the route with its dot
		route       string
	}{
		{"deny", "deny /acme/v1.0/secret", acme, "access rest_forbidden", "/acme/v1.0/secret"},
		{"deny, of another method", "deny POST /acme/v1.0/secret", acme, "passes", "/acme/v1.0/secret"},
		{"deny with a wildcard", "deny /*/v1.0/*", acme, "access rest_forbidden", "/acme/v1.0/secret"},
		{"deny below", "deny /acme/v1.0/**", acme, "access rest_forbidden", "/acme/v1.0/secret/x"},
		{"allow", "allow anyone /acme/v1.0/secret; login_only", acme, "passes", "/acme/v1.0/secret"},
		{"allow users, in front of anyone", "allow users /acme/v1.0/secret; allow anyone /acme/**", acme, "access rest_forbidden", "/acme/v1.0/secret"},
		{"rate_limit", "rate_limit 1/1h /acme/v1.0/secret", acme, "passes", "/acme/v1.0/secret"},
		{"redact", "redact /acme/v1.0/secret key", acme, "passes", "/acme/v1.0/secret"},
		{"strip_query", "strip_query lang /acme/v1.0/secret", acme, "passes", "/acme/v1.0/secret?lang=de"},
		{"signature", "signature acme; allow signed acme /acme/v1.0/secret", acme, "signature rest_invalid_signature", "/acme/v1.0/secret"},
		{"two dots", "deny /acme/v1.0/x.y", []string{"/acme/v1.0/x-y", "/acme/v1-0/x.y", "/acme/v1/0/x/y"}, "access rest_forbidden", "/acme/v1.0/x.y"},
		{"deny plugin", "deny plugin activitypub", []string{"/activitypub/1_0/oauth/clients", "/activitypub/1/0/oauth/clients"}, "access rest_forbidden", "/activitypub/1.0/oauth/clients"},
		{"the core's, with and without a line", "redact authors", []string{"/oembed/1_0/embed?url=x", "/oembed/1/0/embed?url=x", "/oembed/1%C30/proxy"}, "passes", "/oembed/1.0/embed?url=x"},
		{"a wildcard in place of a known namespace", "deny /*/*/embed", []string{"/oembed/1/0/embed"}, "access rest_forbidden", "/oembed/1.0/embed"},
		{"an id with a dot", "deny /acme/v1/:name", nil, "passes", "/acme/v2/a.b"},
		{"no dot in its place", "deny /acme/v1.0/secret", nil, "passes", "/acme/v10/secret"},
		{"two bytes", "deny /acme/v1.0/secret", nil, "passes", "/acme/v1%C3%A90/secret"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := chainOf(t, strings.Split(test.lines, "; ")...)
			method := "GET"
			if test.name == "deny plugin" {
				method = "POST"
			}
			if got := judged(t, c, method, "/wp-json"+test.route, ""); got != test.honest {
				t.Errorf("%s: %s, want %s", test.route, got, test.honest)
			}
			for _, route := range test.routes {
				if got := judged(t, c, method, "/wp-json"+route, ""); got != bent {
					t.Errorf("%s: %s", route, got)
				}
			}
		})
	}
}

// TestDots_EveryForm: the same by every way to name a route, in parts of a batch, for preflights,
// by an override that a server may drop, and in a lockdown of a policy that observes.
func TestDots_EveryForm(t *testing.T) {
	c := chainOf(t, "deny /acme/v1.0/secret", "recommended off", "rate_limit 9/1h /acme/v1.0/secret")
	for name, test := range map[string][]string{
		"query":        {"GET", "/?rest_route=/acme/v1x0/secret", ""},
		"query, slash": {"GET", "/?rest_route=/acme/v1/0/secret", ""},
		"query, odd":   {"GET", "/?rest_route=/acme/v1%3C0/secret%20", ""},
		"form":         {"POST", "/", "rest_route=/acme/v1x0/secret", policytest.FormType},
		"override":     {"POST", "/wp-json/acme/v1x0/secret", "", policytest.Override + "PUT"},
		"batch":        {"POST", "/wp-json/batch/v1", `{"requests":[{"path":"/wp/v2/posts"},{"path":"/acme/v1-0/secret"}]}`, policytest.JSONType},
	} {
		got := judged(t, c, test[0], test[1], test[2], test[3:]...)
		if want := "call route_dot"; got != want && name != "query, odd" || !strings.HasPrefix(got, "call ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for route, want := range map[string]policy.Outcome{"/acme/v1x0/secret": policy.Refuse, "/acme/v1.0/secret": policy.Pass} {
		r := policytest.Request(t, c.Site(), nil, "OPTIONS", "/wp-json"+route, "")
		if r.Preflight = true; c.Judge(t.Context(), r).Outcome != want {
			t.Errorf("a preflight of %s", route)
		}
	}
	c = chainOf(t, "deny /acme/v1.0/secret", "allow anyone /acme/**", "call observe")
	r := policytest.Request(t, c.Site(), nil, "GET", "/wp-json/acme/v1x0/secret", "")
	if d := c.Judge(t.Context(), r); d.Outcome != policy.WouldRefuse || d.Verdict.Rule != "route_dot" || !strings.Contains(d.Why(), "a dot") {
		t.Errorf("observed: %+v", d)
	}
	r.InForce.Locked = true
	if d := c.Judge(t.Context(), r); d.Outcome != policy.Refuse || d.Policy != access.LockdownName || d.Verdict.Rule != "route_dot" {
		t.Errorf("locked down: %+v", d)
	}
}

// TestDots_Embedded: an embedded object of such a route is one of no certain call.
func TestDots_Embedded(t *testing.T) {
	c := chainOf(t, "deny /acme/v1.0/secret", "redact /acme/v1.0/secret key")
	for href, want := range map[string]string{"/acme/v1.0/secret": "rest_forbidden", "/acme/v1x0/secret": "rest_forbidden", "/acme/v2.0/open": `"key":1`} {
		r := policytest.Request(t, c.Site(), nil, "GET", "/wp-json/wp/v2/posts/1?_embed", "")
		r.Call.Key = routes.Key(r.Call.Route)
		a := asktest.JSON(200, `{"_links":{"x":[{"embeddable":true,"href":"https://example.com/wp-json`+href+`"}]},"_embedded":{"x":[{"key":1}]}}`)
		for _, m := range c.Policies() {
			if access, ok := m.Policy.(*access.Access); ok {
				if err := access.Rewrite(r, a); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !jsontext.Value(a.Body).IsValid() || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %s", href, a.Body)
		}
	}
}

// TestDots_Tools: a server of tools that the REST root shows is known by every spelling of its dot.
func TestDots_Tools(t *testing.T) {
	s := policytest.NewSite(t)
	discover.Of(s).PutTools("example.com", index.New([]string{"/ai/v1.0/server"}, []string{"ai/v1.0"}))
	for _, route := range []string{"/ai/v1.0/server", "/ai/v1x0/server", "/ai/v1/0/server", "/AI/v1-0/server"} {
		if !discover.Of(s).HasTools("example.com", route) {
			t.Errorf("%s is no server of tools", route)
		}
	}
	if discover.Of(s).HasTools("example.com", "/ai/v10/server") {
		t.Error("another route is one")
	}
}

// TestDots_Allocate nothing on the calls of a site with many dots.
func TestDots_Allocate(t *testing.T) {
	c := chainOf(t, "deny /acme/v1.0/secret /other/2.0/** /*/v3.0/x", "deny plugin activitypub")
	r := policytest.Request(t, c.Site(), nil, "GET", "/wp-json/acme/v1.0/secretly/"+strings.Repeat("x", 900), "")
	if n := testing.AllocsPerRun(100, func() {
		if r.Call.Bent(c.Site().Dots()) {
			t.Fatal("it is not bent")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
