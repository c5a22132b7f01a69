package policies

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestSessionCookies(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(SessionCookies)
	policytest.Configure(t, p, policytest.Line("session_cookies", policytest.Line("path /"), policytest.Line("domain shop.example")))
	policytest.Provision(t, s, p)
	const ended = "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
	a := &ask.Answer{Header: http.Header{"Set-Cookie": {
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; path=/blog/wp-content/plugins; secure; HttpOnly",
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; path=/blog/wp-admin; secure; HttpOnly",
		"wordpress_logged_in_abc=admin%7C1; path=/blog/; HttpOnly; SameSite=Lax",
		"wordpress_abc=y; Path=/blog/wp-admin; Domain=old.example",
		"wordpress_test_cookie=WP+Cookie+check; path=/blog/",
		"wordpress_here=1; PATH = / ;domain=.Shop.example; secure",
		"wordpress_bare=1",
		"wp-settings-1=a; path=/blog/",
		"other=1; path=/blog/", "other=1; path=/blog/",
	}}}
	if err := p.Rewrite(nil, a); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"wordpress_sec_abc=; path=/blog/wp-content/plugins; secure; HttpOnly" + ended,
		"wordpress_sec_abc=; path=/blog/wp-admin; secure; HttpOnly" + ended,
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; secure; HttpOnly; Path=/; Domain=shop.example",
		"wordpress_logged_in_abc=; path=/blog/; HttpOnly; SameSite=Lax" + ended,
		"wordpress_logged_in_abc=admin%7C1; HttpOnly; SameSite=Lax; Path=/; Domain=shop.example",
		"wordpress_abc=; Path=/blog/wp-admin; Domain=old.example" + ended,
		"wordpress_abc=y; Path=/; Domain=shop.example",
		"wordpress_test_cookie=WP+Cookie+check; path=/blog/",
		"wordpress_here=1; PATH = / ;domain=.Shop.example; secure",
		"wordpress_bare=" + ended,
		"wordpress_bare=1; Path=/; Domain=shop.example",
		"wp-settings-1=a; path=/blog/",
		"other=1; path=/blog/", "other=1; path=/blog/",
	}
	if got := a.Header["Set-Cookie"]; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, bad := range []*SessionCookies{{}, {Path: "blog"}, {Path: "/;x"}, {Domain: "a b"}} {
		if err := policytest.ProvisionError(s, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func TestNoStore(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(NoStore))
	for target, want := range map[string]policy.Rewrite{"/wp-json/wp/v2/posts": policy.RewriteHeader, "/page": policy.RewriteNothing} {
		if got := p.Rewrites(policytest.Request(t, s, nil, "GET", target, "", policytest.BasicAuth)); got != want {
			t.Errorf("%s: got %d", target, got)
		}
	}
	if got := p.Rewrites(policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")); got != policy.RewriteNothing {
		t.Error("an anonymous answer is rewritten")
	}
	for in, want := range map[string]string{"": "no-store", "max-age=60": "no-store", "private, no-store": "private, no-store"} {
		a := &ask.Answer{Header: http.Header{"Cache-Control": {in}}}
		if err := p.Rewrite(nil, a); err != nil || a.Header.Get("Cache-Control") != want {
			t.Errorf("%q became %q", in, a.Header.Get("Cache-Control"))
		}
	}
}

func TestStripQuery(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(StripQuery)
	policytest.Configure(t, p, policytest.Line("strip_query lang /wp/v2/**"))
	policytest.Provision(t, s, p)
	for target, want := range map[string]string{
		"/wp-json/wp/v2/posts?lang=fr":                   "",
		"/wp-json/wp/v2/posts?a=1&lang=fr&b=%zz&+lang=x": "a=1&b=%zz",
		"/wp-json/wp/v2/posts?lang[]=fr&language=de":     "language=de",
		"/?rest_route=/wp/v2/posts&lang=fr":              "rest_route=/wp/v2/posts",
		"/wp-json/wc/v3/orders?lang=fr":                  "lang=fr",
		"/page?lang=fr":                                  "lang=fr",
	} {
		r := policytest.Request(t, s, nil, "GET", target, "")
		changed := p.Change(r, r.HTTP)
		if r.HTTP.URL.RawQuery != want || changed != (want != strings.SplitN(target, "?", 2)[1]) {
			t.Errorf("%s: query is %q (%v), want %q", target, r.HTTP.URL.RawQuery, changed, want)
		}
	}
	for _, text := range []string{"strip_query rest_route /x", "strip_query _method /x", "strip_query lang", "strip_query a.b /x", "strip_query lang x"} {
		if err := new(StripQuery).Configure(policytest.Line(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestAbilities_ListBesideUnread: the platform's list is filtered, also where a limit has looked for a
// message in the body of the call and found none.
func TestAbilities_ListBesideUnread(t *testing.T) {
	c := chainOf(t, "rate_limit 5/1m tools/call /wp-abilities/**", "abilities")
	var p *abilities.Abilities
	for _, m := range c.Policies() {
		if found, ok := m.Policy.(*abilities.Abilities); ok {
			p = found
			policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("allow shop/query")))
			policytest.Provision(t, c.Site(), p)
		}
	}
	for _, body := range []string{`{}`, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`} {
		r := policytest.Request(t, c.Site(), policytest.ShopOffers(policytest.AdminBody), "GET", "/wp-json/wp-abilities/v1/abilities", body, policytest.JSONType, policytest.BasicAuth)
		if d := c.Judge(t.Context(), r); d.Outcome != policy.Pass || message.Read(r) == nil || p.Rewrites(r) != policy.RewriteBody {
			t.Fatalf("%s: %+v, %v", body, d.Verdict, d.Err)
		}
		a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"shop/update"}]`)
		if err := p.Rewrite(r, a); err != nil || string(a.Body) != `[{"name":"shop/query"}]` {
			t.Errorf("%s: %s, %v", body, a.Body, err)
		}
	}
}
