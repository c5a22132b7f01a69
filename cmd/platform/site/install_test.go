package site_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

const loginOnlyMessage = "Only authenticated users can access the REST API."

// notLoggedIn checks a refusal with the words of docs/project/interface 7; real sites have others.
func (a *answer) notLoggedIn(wp bool) {
	a.t.Helper()
	want := loginOnlyMessage
	if wp {
		want = "You are not currently logged in."
	}
	if got := a.want(401, "rest_not_logged_in").get("message"); got != want {
		a.t.Fatalf("message %q, want %q", got, want)
	}
}

// TestNotLoggedIn: a login cookie without a nonce is no login, in a sub-folder and
// elsewhere (docs/project/interface 5 and 7).
func TestNotLoggedIn(t *testing.T) {
	for _, base := range []string{"", "/blog"} {
		both(t, site.Options{Base: base}, func(t *testing.T, c *client) {
			t.Helper()
			cookie, _ := c.site.Nonce("admin")
			c.rest("GET", "/cms/v2/users/me", "").notLoggedIn(c.wp)
			c.rest("GET", "/cms/v2/users/me", "", withCookie(cookie)).notLoggedIn(c.wp)
			c.rest("POST", "/cms/v2/posts", `{"title":"x"}`).want(401, "rest_cannot_create")
			c.rest("GET", "/consent/v1/log", "").want(403, "rest_forbidden")
			c.rest("GET", "/cms/v2/posts", "", withCookie(cookie)).want(200)
			if !c.wp {
				c.rest("POST", "/cms/v2/posts", `{"title":"x"}`, withCookie(cookie)).notLoggedIn(false)
				c.rest("GET", "/consent/v1/log", "", withCookie(cookie)).notLoggedIn(false)
			}
		})
	}
}

// browser logs an administrator in at the install path and returns the cookies that a
// browser sends with a REST call, and the nonce of the dashboard.
func (c *client) browser(install string) (cookies []*http.Cookie, nonce string) {
	c.t.Helper()
	// A test request has the host example.com.
	address := func(path string) *url.URL { return &url.URL{Scheme: "http", Host: "example.com", Path: path} }
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	visit := func(method, path, body string) *answer {
		var sent []edit
		for _, cookie := range jar.Cookies(address(install + c.branded(path))) {
			sent = append(sent, withCookie(cookie))
		}
		a := c.at(install, method, path, body, sent...)
		jar.SetCookies(address(install+c.branded(path)), a.Cookies())
		return a
	}
	form := url.Values{"log": {"admin"}, "pwd": {c.info.Users["admin"].Password}}
	landing := visit("POST", "/cms-login.php", form.Encode()).want(302).Header.Get("Location")
	if landing != install+c.branded("/cms-admin/") {
		c.t.Fatalf("login leads to %s", landing)
	}
	found := nonceMeta.FindSubmatch(visit("GET", "/cms-admin/", "").want(200).body)
	if found == nil {
		c.t.Fatal("no nonce")
	}
	return jar.Cookies(address(c.base + c.branded("/cms-json/cms/v2/users/me"))), string(found[1])
}

// at sends a request to a path under folder.
func (c *client) at(folder, method, path, body string, edits ...edit) *answer {
	c.t.Helper()
	elsewhere := *c
	elsewhere.base = folder
	return elsewhere.send(method, path, body, edits...)
}

// TestInstallPath: where the site's address is not the install path, login cookies do not
// reach REST calls, and the settings of the cookies repair that (docs/project/interface 5, rules 3
// and 4).
func TestInstallPath(t *testing.T) {
	for _, options := range []site.Options{{Install: "/blog"}, {Base: "/shop", Install: "/blog"}} {
		both(t, options, func(t *testing.T, c *client) {
			t.Helper()
			c.send("GET", "/cms-login.php", "").want(404)
			cookies, nonce := c.browser("/blog")
			if len(cookies) > 0 {
				t.Fatalf("cookies %v", cookies)
			}
			header := with(c.branded("X-CMS-Nonce"), nonce)
			c.rest("GET", "/cms/v2/users/me", "").notLoggedIn(c.wp)
			if c.wp {
				c.rest("GET", "/cms/v2/users/me", "", header).want(403, "rest_cookie_invalid_nonce")
			} else {
				c.rest("GET", "/cms/v2/users/me", "", header).notLoggedIn(false)
				c.rest("POST", "/cms/v2/posts", `{"title":"x"}`, header).notLoggedIn(false)
				c.rest("GET", "/consent/v1/log", "", header).notLoggedIn(false)
			}
			c.rest("GET", "/cms/v2/users/me", "", c.as("admin")).want(200)
			if url := c.rest("GET", "/", "").want(200).get("url"); url != "http://example.com/blog" {
				t.Fatalf("url %v", url)
			}
		})
		options.CookiePath, options.CookieDomain = "/", "example.com"
		both(t, options, func(t *testing.T, c *client) {
			t.Helper()
			cookies, nonce := c.browser("/blog")
			sent := []edit{with(c.branded("X-CMS-Nonce"), nonce)}
			for _, cookie := range cookies {
				sent = append(sent, withCookie(cookie))
			}
			c.rest("GET", "/cms/v2/users/me", "", sent...).want(200)
			form := url.Values{"log": {"admin"}, "pwd": {c.info.Users["admin"].Password}}
			for _, line := range c.at("/blog", "POST", "/cms-login.php", form.Encode()).Header.Values("Set-Cookie") {
				if !strings.Contains(line, "; Path=/;") || !strings.Contains(line, "; Domain=example.com") {
					t.Errorf("%s", line)
				}
			}
		})
	}
}
