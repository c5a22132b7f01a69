package main

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestCORS: scripts of other origins can read a refusal, and preflights work.
func TestCORS(t *testing.T) {
	for _, platform := range []string{"cms", "wordpress"} {
		t.Run(platform, func(t *testing.T) {
			w := newWorld(t, site.Options{Release: "10.7", Platform: platform}, "login_only", behind)
			origin := header("Origin", "https://app.example.test")
			names := []string{
				"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
				"Access-Control-Expose-Headers",
			}
			same := func(r, bare reply) {
				t.Helper()
				for _, name := range names {
					if got, want := r.header.Get(name), bare.header.Get(name); !strings.EqualFold(got, want) || got == "" {
						t.Errorf("%s: %s %q, the platform's %q", r.line, name, got, want)
					}
				}
				if !strings.Contains(strings.Join(r.header.Values("Vary"), ","), "Origin") {
					t.Errorf("%s: Vary %v", r.line, r.header["Vary"])
				}
			}
			bare := w.bare("GET /cms-json/no/such/route", "", origin).want(404)
			same(w.gate("GET /cms-json/cms/v2/posts", "", origin).refusedWith(401, "rest_not_logged_in"), bare)
			same(w.gate("POST /cms-json/cookie/v1/upload-logo", "", origin).refusedWith(403, "rest_forbidden"), bare)
			same(w.gate("GET /cms-json/cms/v2/posts", "", origin, func(r *http.Request) { r.SetBasicAuth("admin", "no") }).want(401, "incorrect_password"), bare)
			if r := w.gate("GET /cms-json/cms/v2/posts", ""); r.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("without an origin: %v", r.header)
			}

			asks := header("Access-Control-Request-Method", "POST")
			preflight := w.gate("OPTIONS /cms-json/cms/v2/posts", "", origin, asks).want(200).passed().unasked()
			same(preflight, bare)
			missing := w.gate("OPTIONS /cms-json/no/such/route", "", origin, asks).want(preflight.status).passed()
			for _, r := range []reply{preflight, missing} { // neither shows whether the route exists
				r.header.Del("Date")
				if r.body != "" || r.header.Get("Allow") != "" || r.header.Get("Link") != "" || len(r.header) != len(preflight.header) {
					t.Errorf("%s: %v %s", r.line, r.header, r.body)
				}
			}
			w.gate("OPTIONS /?rest_route=/cms/v2/posts", "", origin, asks).want(200).passed()
			for name, r := range map[string]reply{
				"no origin":        w.gate("OPTIONS /cms-json/cms/v2/posts", "", asks),
				"asks for nothing": w.gate("OPTIONS /cms-json/cms/v2/posts", "", origin),
				"is a GET":         w.gate("OPTIONS /cms-json/cms/v2/users?_method=GET", "", origin, asks),
				"is a POST":        w.gate("OPTIONS /cms-json/cms/v2/posts", "", origin, asks, header("X-HTTP-Method-Override", "POST")),
				"pretends":         w.gate("GET /cms-json/cms/v2/users?_method=OPTIONS", "", origin, asks),
			} {
				if r.status != 401 || r.reached != 0 {
					t.Errorf("%s: %d, reached %d", name, r.status, r.reached)
				}
			}
			w.gate("OPTIONS /cms-json/cms/v2/posts", `{"a":1}`, origin, asks).want(200).passed().unasked() // forwarded without the body
			with := w.gate("OPTIONS /cms-json/cms/v2/posts", "", origin, asks, w.as("admin")).want(200).passed()
			if with.asked == 0 || with.body == "" {
				t.Error("a request with credentials is no preflight")
			}
		})
	}
}

// TestNoStore: answers to requests with credentials, and refusals, are never cached; all
// other answers are unchanged.
func TestNoStore(t *testing.T) {
	for _, off := range []bool{false, true} {
		directive := ""
		if off {
			directive = "no_store off"
		}
		w := newWorld(t, site.Options{Release: "10.7"}, directive, behind)
		w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get(mark) == "" {
				return false
			}
			rw.Header().Set("Cache-Control", "public, max-age=600")
			io.WriteString(rw, "{}")
			return true
		})
		cookie, nonce := w.session("admin")
		for name, edits := range map[string][]edit{
			"authorization": {w.as("admin")}, "cookie and nonce": {cookie, nonce}, "cookie": {cookie}, "cart token": {header("Cart-Token", "x")},
			"MCP key": {header("X-MCP-API-Key", "x")}, "nothing": nil, "nonce alone": {nonce}, "other cookie": {header("Cookie", "tracking=1")},
		} {
			private := name != "nothing" && name != "nonce alone" && name != "other cookie" && !off
			r := w.gate("GET /cms-json/cms/v2/posts", "", edits...)
			if got := r.header.Get("Cache-Control"); (got == "no-store") != private {
				t.Errorf("off %t, %s: %q", off, name, got)
			}
		}
		if got := w.gate("GET /cms-json/shop/v3/orders?consumer_key=a&consumer_secret=b", "").header.Get("Cache-Control"); (got == "no-store") == off {
			t.Errorf("off %t, query key: %q", off, got)
		}
		if got := w.gate("GET /a-page", "", w.as("admin")).header.Get("Cache-Control"); got != "public, max-age=600" {
			t.Errorf("a page: %q", got)
		}
		if got := w.gate("POST /cms-json/cookie/v1/upload-logo", "").header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("a refusal: %q", got)
		}
	}
}

// TestStripQuery: the multilingual plugin's parameter (docs/project/interface 7) is dropped from
// the editor's calls only.
func TestStripQuery(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7", Fault: "multilingual"}, "strip_query lang /cms/v2/taxonomies /cms/v2/posts/**")
	w.bare("GET /cms-json/cms/v2/taxonomies?lang=de", "").want(500)
	w.gate("GET /cms-json/cms/v2/taxonomies?lang=de", "").want(200, "category")
	w.gate("GET /cms-json/cms/v2/taxonomies?a=1&%20lang=de&lang=fr", "").want(200, "category")
	w.gate("GET /?rest_route=/cms/v2/taxonomies&lang=de", "").want(200, "category")
	w.gate("GET /cms-json/cms/v2/users?lang=de", "", w.as("admin")).want(500).passed()
	w.gate("GET /shop/?lang=de", "").want(200).passed()
}

// TestSessionCookies: login cookies of a sub-folder install reach the REST
// interface at the root (docs/project/interface 5, rules 3 and 4).
func TestSessionCookies(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7", Base: "/blog"}, "session_cookies {\npath /\ndomain example.test\n}", behind)
	login := "log=admin&pwd=" + w.info.Users["admin"].Password
	bare := w.bare("POST /cms-login.php", login).want(302)
	through := w.gate("POST /cms-login.php", login).want(302).passed()
	for _, line := range bare.header.Values("Set-Cookie") {
		if !strings.Contains(line, "Path=/blog/") {
			t.Errorf("the bare cookie: %s", line)
		}
	}
	var set, ended []string
	for _, line := range through.header.Values("Set-Cookie") {
		switch {
		case strings.Contains(line, "Max-Age=0") && strings.Contains(line, "Path=/blog/"):
			ended = append(ended, line)
		case strings.HasSuffix(line, "; Path=/; Domain=example.test") && !strings.Contains(line, "/blog") && strings.Contains(line, "HttpOnly"):
			set = append(set, line)
		default:
			t.Errorf("%s", line)
		}
	}
	if len(set) != 2 || len(ended) != 2 || !strings.HasPrefix(set[0], "cms_logged_in_") || strings.HasPrefix(set[1], "cms_logged_in_") {
		t.Errorf("%q, ended %q", set, ended)
	}
	if other := w.gate("GET /cms-json/shop/store/v1/cart", "").want(200).header.Get("Set-Cookie"); !strings.Contains(other, "Path=/blog/") {
		t.Errorf("another cookie: %s", other)
	}
}

// TestSessionCookies_Browser: a browser logs in to a sub-folder install, works in the admin
// screens and through REST at the root, and logs out, whatever it held before.
func TestSessionCookies_Browser(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7", Base: "/blog"}, "session_cookies {\npath /\n}\nlogin_only", behind)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := func(line, body string, send func(string, string, ...edit) reply) reply {
		at, err := url.Parse(w.gateway + "/blog" + w.branded(strings.Fields(line)[1]))
		if err != nil {
			t.Fatal(err)
		}
		r := send(line, body, func(r *http.Request) {
			for _, c := range jar.Cookies(at) {
				r.AddCookie(c)
			}
		})
		jar.SetCookies(at, (&http.Response{Header: r.header}).Cookies())
		return r
	}
	login := func(user string) string { return "log=" + user + "&pwd=" + w.info.Users[user].Password }
	kept("POST /cms-login.php", login("editor"), w.bare).want(302) // from before the policy
	kept("POST /cms-login.php", login("admin"), w.gate).want(302)
	dashboard := kept("GET /cms-admin/", "", w.gate).want(200).body
	_, nonce, _ := strings.Cut(dashboard, `"rest-nonce" content="`)
	_, logout, _ := strings.Cut(dashboard, "action=logout")
	if len(nonce) < 10 || len(logout) < 10 {
		t.Fatal(dashboard)
	}
	if r := kept("GET /cms-json/cms/v2/users/me?_cmsnonce="+nonce[:10], "", w.gate).want(200); r.at("slug") != "admin" {
		t.Errorf("who: %s", r.body)
	}
	logout, _, _ = strings.Cut(logout, `"`)
	kept("GET /cms-login.php?action=logout"+html.UnescapeString(logout), "", w.gate).want(302)
	for _, path := range []string{"/blog/", "/blog/cms-admin/", "/"} {
		if left := jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(w.gateway, "http://"), Path: path}); len(left) > 0 {
			t.Errorf("%s: %v after the logout", path, left)
		}
	}
}

// TestRateLimit: one visitor sends too many consents, in every spelling.
func TestRateLimit(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "rate_limit 3/1h POST /consent/v1/consent")
	from := func(address string) edit { return header("X-Forwarded-For", address) }
	for _, line := range []string{"POST /cms-json/consent/v1/consent", "POST /?rest_route=/Consent/v1/consent", "GET /cms-json/consent/v1/consent/?_method=POST"} {
		w.gate(line, "", from("192.0.2.1")).want(200).passed()
	}
	r := w.gate("POST /cms-json/consent/v1/consent", "", from("192.0.2.1")).refusedWith(429, "rest_too_many_requests")
	if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
	}
	w.gate("POST /cms-json/consent/v1/consent", "", from("192.0.2.2")).want(200).passed()
	w.gate("GET /cms-json/cms/v2/posts", "", from("192.0.2.1")).want(200).passed()
}
