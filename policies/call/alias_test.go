package call

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// aliasReader reads for a site with rewrite rules to rest_route.
func aliasReader(base string, aliases ...string) *Reader {
	site := Config{Platform: wordpress(), Base: base}
	for _, text := range aliases {
		pattern, route, _ := strings.Cut(text, " ")
		site.Aliases = append(site.Aliases, Alias{pattern, route})
	}
	return NewReader(site)
}

// TestAliases: which paths a rule makes calls, and of which route, as WordPress 6.8 with PHP
// 8.2 does (docs/platform I.1.4).
func TestAliases(t *testing.T) {
	const api = "^api/(.+) /$1"
	for _, tt := range []struct{ base, aliases, target, want string }{
		{"", api, "/api/wp/v2/users", "GET /wp/v2/users"},
		{"", api, "/api/wp/v2/users/", "GET /wp/v2/users"},
		{"", api, "//api/wp/v2/users//", "GET /wp/v2/users"},
		{"", api, "/api/WP/v2/Users", "GET /WP/v2/Users"},
		{"", api, "/api/wc/v3/orders/7", "GET /wc/v3/orders/7 id 7"},
		{"", api, "/api/wc/v3/orders/7?id=9", "GET /wc/v3/orders/7 id 9"},
		{"", api, "/api/wc/v3/orders/7?_method=put", "PUT /wc/v3/orders/7 id 7"},
		{"", api, "/api/wp/v2/tags/%C3%BC", "GET /wp/v2/tags/%C3%BC"},
		{"", api, "/API/wp/v2/users", "400 path"}, // rules keep case, and a cache may not
		{"", api, "/api", "page"},
		{"", api, "/api/", "page"},
		{"", api, "/", "page"},
		{"", api, "/index.php", "page"},
		{"", api, "/docs/api/users", "page"},
		{"", api, "/apis/wp/v2/users", "page"},
		{"", api, "/caf%C3%A9/", "page"},
		{"", api, "/wp-json/wp/v2/users", "GET /wp/v2/users"},
		// Decoded once, as the platform does where the raw text does not fit.
		{"", api, "/%61pi/wp/v2/users", "GET /wp/v2/users"},
		{"", api, "/api%2Fwp/v2/users", "GET /wp/v2/users"},
		{"", api, "/%61pi/wp/v2/users/a+b", "400 path"},
		{"", api, "/%61pi/wp/v2/users/%2561", "400 path"},
		{"", api, "/%2561pi/wp/v2/users", "400 path"},
		{"", api, "/api/wp/v2/%75sers", "400 route"},
		{"", api, "/api/wp%2Fv2/users", "400 path"},
		{"", api, "/api/wp/v2/users%0Ax", "400 path"},
		{"", api, "/api/wp/v2/users%0A", "400 path"},
		{"", api, "/api//wp/v2/users", "400 route"},
		{"", api, "/api/wp/v2/o'x", "400 path"},
		{"", api, "/api/../wp/v2/users", "400 path"},
		// Two readings of one request.
		{"", api, "/api/wp/v2/users?rest_route=/wp/v2/users", "GET /wp/v2/users"},
		{"", api, "/api/wp/v2/posts?rest_route=/wp/v2/users", "400 two_routes"},
		{"", api, "/api/wp/v2/posts?rest_route=", "400 two_routes"},
		{"", "^wp-json/old/(.+) /$1", "/wp-json/old/wp/v2/users", "400 two_routes"},
		{"", "^(?:wp-json|api)/(.+) /$1", "/wp-json/wp/v2/users", "GET /wp/v2/users"},
		// Scripts.
		{"", api, "/index.php/api/wp/v2/users", "400 script_path"},
		{"", api, "/index.php/%61pi/wp/v2/users", "400 script_path"},
		{"", api, "/wp-trackback.php/api/wp/v2/users", "400 script_path"},
		{"", api, "/api/wp/v2/users/x.php/", "400 script_path"},
		{"", "^apix.php$ /wp/v2/users", "/a/pi/x.php/", "400 script_path"},
		{"", api, "/" + strings.Repeat("x.php/", 50), "400 script_path"},
		{"", api, "/feed/x.php/y", "page"},
		// The first rule that fits wins.
		{"", "^api/v2/(.+) /wp/v2/$1|" + api, "/api/v2/users", "GET /wp/v2/users"},
		{"", api + "|^api/v2/(.+) /wp/v2/$1", "/api/v2/users", "GET /v2/users"},
		// Patterns are anchored at the beginning alone, and mean bytes.
		{"", "users$ /wp/v2/users", "/users", "GET /wp/v2/users"},
		{"", "users /wp/v2/users", "/users-of-ours", "GET /wp/v2/users"},
		{"", "a|b/(?:.+)x /wp/v2/users", "/c/b/ax", "GET /wp/v2/users"},
		{"", "^users$ /wp/v2/users", "/users%0A", "400 path"},
		{"", "^u.$ /wp/v2/users", "/u%C3%BC", "page"},
		{"", "^u..$ /wp/v2/users", "/u%C3%BC", "GET /wp/v2/users"},
		{"", "^ключ/(.+) /$1", "/%D0%BA%D0%BB%D1%8E%D1%87/wp/v2/users", "GET /wp/v2/users"},
		{"", "^@([a-z]+)$ /activitypub/1.0/actors/$1", "/@anna", "GET /activitypub/1.0/actors/anna"},
		{"", "^@([a-z]+)$ /activitypub/1.0/actors/$1", "/%40anna", "GET /activitypub/1.0/actors/anna"},
		{"", `^\.well-known/webfinger /activitypub/1.0/webfinger`, "/.well-known/webfinger?resource=acct:a@b", "GET /activitypub/1.0/webfinger"},
		{"", `^\.well-known/webfinger /activitypub/1.0/webfinger`, "/.well-known//webfinger", "400 path"},
		{"", "^api(/.+)$ $1", "/api/wp/v2/users", "GET /wp/v2/users"},
		{"", "^api/(.*)$ $1", "/api/0", "page"},
		// Below the home address, which the platform cuts off without regard to case and boundary.
		{"/blog", api, "/blog/api/wp/v2/users", "GET /wp/v2/users"},
		{"/blog", api, "/api/wp/v2/users", "404 outside_base"},
		{"/blog", api, "/BLOG/api/wp/v2/users", "404 outside_base"},
		{"/blog", api, "/blogapi/wp/v2/users", "404 outside_base"},
		{"/blog", api, "/blog", "page"},
	} {
		rd := aliasReader(tt.base, strings.Split(tt.aliases, "|^")...)
		if parts := strings.Split(tt.aliases, "|^"); len(parts) > 1 {
			rd = aliasReader(tt.base, parts[0], "^"+parts[1])
		}
		c := rd.Read(request(http.MethodGet, tt.target, "", ""), nil)
		if got := describe(c); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.aliases, tt.target, got, tt.want)
		}
		if c.Kind == Single && strings.Contains(tt.target, "api/") && c.FormName() != "alias" && c.FormName() != "query" {
			t.Errorf("%s %s: the form is %s", tt.aliases, tt.target, c.FormName())
		}
		if c.Kind == Single && c.Form == Aliased && c.Base != tt.base {
			t.Errorf("%s %s: below %q", tt.aliases, tt.target, c.Base)
		}
		c.Close()
	}
}

// FuzzAliases: a path that the platform's own steps make a call of is never a page.
func FuzzAliases(f *testing.F) {
	for _, seed := range []string{
		"/api/wp/v2/users", "/%61pi/x", "/api%2Fx", "//api/x", "/BLOG/api/x", "/blogapi/x", "/api/x%0A", "/api/'x", "/x.php/api/y",
		"/api/a+b", "/%2561pi/x", "/api/0", "/@me", "/%40me", "/u%C3%BC", "/api/x.php/", "/a/pi/.php/",
	} {
		f.Add(seed)
	}
	rules := []string{"^api/(.+)", "^@([^/]+)$", "^u..$", "x|api"}
	readers := map[string]*Reader{}
	for _, base := range []string{"", "/blog"} {
		readers[base] = aliasReader(base, rules[0]+" /$1", rules[1]+" /wp/v2/$1", rules[2]+" /wp/v2/users", rules[3]+" /x")
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || !strings.HasPrefix(target, "/") {
			return
		}
		for base, rd := range readers {
			r := &http.Request{Method: http.MethodGet, URL: u, ProtoMajor: 1, Header: http.Header{}}
			c := rd.Read(r, nil)
			if again := rd.Read(r, nil); describe(again) != describe(c) {
				t.Fatalf("%q: %s, then %s", target, describe(c), describe(again))
			}
			text := strings.Trim(phpSlashes(u.EscapedPath()), "/")
			if home := strings.Trim(base, "/"); len(text) >= len(home) && strings.EqualFold(text[:len(home)], home) {
				text = strings.Trim(text[len(home):], "/")
			}
			if text == "" || text == "0" || text == "index.php" {
				continue
			}
			for _, text := range []string{text, phpvars.Decode(text)} {
				for _, rule := range rules {
					fits := regexp.MustCompile("^" + rule).MatchString(wide(strings.TrimSuffix(text, "\n")))
					if fits && c.Kind == Page {
						t.Fatalf("%q, base %q: a page, but %s fits %q", target, base, rule, text)
					}
				}
			}
		}
	})
}

// TestAliases_Bodies: an aliased call is a call in all else, too.
func TestAliases_Bodies(t *testing.T) {
	runReads(t, aliasReader("", "^api/(.+) /$1"), []readTest{
		{"POST", "/api/wc/v3/orders/7", formType, "id=9", "POST /wc/v3/orders/7 id 9"},
		{"PUT", "/api/wc/v3/orders/7", jsonType, `{"id":9}`, "PUT /wc/v3/orders/7 id 9"},
		{"POST", "/api/wp/v2/posts", formType, "rest_route=/wp/v2/users", "400 two_routes"},
		{"POST", "/api/batch/v1", jsonType, `{"requests":[{"path":"/wp/v2/posts"}]}`, "batch POST /batch/v1 | POST /wp/v2/posts"},
	})
}

// TestAliases_Rewrites: behind rewrites both paths must say the same.
func TestAliases_Rewrites(t *testing.T) {
	rd := aliasReader("", "^api/(.+) /$1")
	for _, tt := range [][3]string{
		{"/api/wp/v2/users", "/index.php", "GET /wp/v2/users"},
		{"/api/wp/v2/users", "/wp-json/wp/v2/users", "GET /wp/v2/users"},
		{"/api/wp/v2/users", "/hello", "400 rewritten_path"},
		{"/hello", "/api/wp/v2/users", "400 rewritten_path"},
		{"/api/wp/v2/users", "/api/wp/v2/posts", "400 rewritten_path"},
	} {
		c := rd.Read(request(http.MethodGet, tt[1], "", ""), &url.URL{Path: tt[0]})
		if got := describe(c); got != tt[2] || c.Kind == Single && c.Form != Aliased {
			t.Errorf("%s -> %s: %s (%s), want %s", tt[0], tt[1], got, c.FormName(), tt[2])
		}
	}
}

// TestAlias_Validate: what PHP might read otherwise, and a route that a match might not fill.
func TestAlias_Validate(t *testing.T) {
	for text, want := range map[string]string{
		"^api/(.+) /$1":           "",
		"^api/(?P<r>.+)$ /$1":     "",
		"^(?:a|b)/(.+)/(.*) /$2":  "",
		`^api\/([\w\-.]+)/?$ /$1`: "",
		"^api/(.*)? /$1":          "group 1 of the pattern may be absent",
		"^api(/.+)?$ /x$1":        "group 1 of the pattern may be absent",
		"^a/(x)|b/(y) /$1":        "group 1 of the pattern may be absent",
		"^api/(?:(x)/)+ /$1":      "group 1 of the pattern may be absent or stand several times",
		"^api/(.+) /$1/$3":        "the pattern has no group 3",
		"^api/(.+) /$12":          "one digit from 1 to 9",
		"^api/(.+) /$0":           "one digit from 1 to 9",
		"^api/(.+) /$":            "one digit from 1 to 9",
		"^api/(.+) wp/$1":         "begins neither with /",
		"^api/(.+) /$1?x=1":       "plain segments",
		"^api/(.+) /$1&_method=x": "plain segments",
		"^api/(.+) /a/../$1":      "plain segments",
		"^(?=api)/(.+) /$1":       "RE2 cannot hold it",
		`^(a)\1/(.+) /$2`:         "no back references",
		`^a\K(.+) /$1`:            "has no meaning",
		"^a++/(.+) /$1":           "RE2 cannot hold it",
		"^api/(.+ /$1":            "RE2 cannot hold it",
		"^a#b /x":                 "ends a pattern at #",
		"^a{,3}(.+) /$1":          "releases of PHP differ",
		"(?i)^ключ/(.+) /$1":      "ASCII letters only",
		"$ /wp/v2/users":          "the home page",
		" /x":                     "the home page",
	} {
		pattern, route, _ := strings.Cut(text, " ")
		err := Alias{pattern, route}.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPrefixes: each name of the prefix makes calls, and the first is that of the site.
func TestPrefixes(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress(), Prefix: "rest", Prefixes: []string{"api", "cms-json"}})
	runReads(t, rd, []readTest{
		{"GET", "/rest/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/api/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/cms-json/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/api/rest/wp/v2/users", "", "", "400 path"},
	})
	if rd.prefixes[0] != "rest" {
		t.Error(rd.prefixes)
	}
}

// TestAliases_Between: what PHP's filters and cuts of caches make of a path is held against the
// aliases, too.
func TestAliases_Between(t *testing.T) {
	rd := aliasReader("", "^api/(.+) /$1")
	for target, want := range map[string]string{
		"/index.php/ap%60i/wp/v2/users":        "400 path",
		"/ap%01i/wp/v2/users":                  "400 path",
		"/api/wc/store/v1/products/%D7%A9":     "GET /wc/store/v1/products/%D7%A9",
		"/%C3%BCber/apis":                      "page",
		"/apgclid=x&i/wp/v2/users":             "400 path",
		"/api/wp/v2/usersgclid=x":              "400 path",
		"/apiclid=x/wp/v2/users":               "page",
		"/xapgclid=~&gclid=x&i/wp/v2/users":    "page",
		"/%61pgclid=x~&i/wp/v2/users":          "400 path",
		"/shop/&utm_source=a+b,c&gclid=x":      "page",
		"/shop/&utm_source=a&gclid=x":          "page",
		"/a&utm_source=a,b&gclid=x":            "400 path", // whatever stands behind
		"/api/wp/v2/posts?utm_source=x&page=2": "GET /wp/v2/posts",
	} {
		c := rd.Read(request(http.MethodGet, target, "", ""), nil)
		if got := describe(c); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		c.Close()
	}
}
