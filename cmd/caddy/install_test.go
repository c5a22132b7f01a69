package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestDocument_InstallPath: where the install path is not the site's address, an
// administrator who is logged in gets rest_not_logged_in from the bare platform and from
// login_only, in the words of docs/project/interface 7. The cookie settings of rule 5.4 repair that
// on the platform, and session_cookies does at the gateway.
func TestDocument_InstallPath(t *testing.T) {
	const me = "GET /cms-json/cms/v2/users/me"
	message := func(r reply) {
		t.Helper()
		if got := r.want(401, "rest_not_logged_in").at("message"); got != "Only authenticated users can access the REST API." {
			t.Errorf("%s: message %v", r.line, got)
		}
	}
	t.Run("missed", func(t *testing.T) {
		w := newWorld(t, site.Options{Install: "/blog"}, "login_only")
		message(w.bare(me, "", w.browser(w.platform)...))
		message(w.gate(me, "", w.browser(w.gateway)...))
	})
	t.Run("settings", func(t *testing.T) {
		w := newWorld(t, site.Options{Install: "/blog", CookiePath: "/", CookieDomain: "example.test"}, "login_only")
		w.bare(me, "", w.browser(w.platform)...).want(200)
		w.gate(me, "", w.browser(w.gateway)...).want(200).passed()
	})
	t.Run("gateway", func(t *testing.T) {
		w := newWorld(t, site.Options{Install: "/blog"}, "login_only\nsession_cookies {\npath /\n}")
		w.gate(me, "", w.browser(w.gateway)...).want(200).passed()
	})
}

var dashboardNonce = regexp.MustCompile(`<meta name="rest-nonce" content="(\w+)">`)

// browser logs an administrator in at the install path /blog and returns what a browser
// sends with a call then: the cookies that reach it, and the nonce of the dashboard if one
// does.
func (w *world) browser(to string) []edit {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	host := func(r *http.Request) { r.Host = "example.test" }
	address := func(path string) *url.URL {
		return &url.URL{Scheme: "http", Host: "example.test", Path: w.branded(path)}
	}
	sent := func(path string) (edits []edit) {
		for _, cookie := range jar.Cookies(address(path)) {
			edits = append(edits, func(r *http.Request) { r.AddCookie(cookie) })
		}
		return append(edits, host)
	}
	login := w.send(to, "POST /blog/cms-login.php", "log=admin&pwd="+w.info.Users["admin"].Password, host).want(302)
	jar.SetCookies(address("/blog/cms-login.php"), (&http.Response{Header: login.header}).Cookies())
	nonce := dashboardNonce.FindStringSubmatch(w.send(to, "GET /blog/cms-admin/", "", sent("/blog/cms-admin/")...).want(200).body)
	if nonce == nil {
		w.t.Fatal("no nonce")
	}
	call := sent("/cms-json/cms/v2/users/me")
	if len(call) > 1 {
		call = append(call, header(w.branded("X-CMS-Nonce"), nonce[1]))
	}
	return call
}
