package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// freshText is what makes the address of a question one of its own.
var freshText = regexp.MustCompile(`&restwarden=[A-Z2-7]{26}`)

// TestIdentity_Drops: a change that ends somebody's rights takes effect at once.
func TestIdentity_Drops(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only\nallow role editor,administrator /cms/v2/posts", behind)
	id := func(login string) int { return w.gate("GET /cms-json/cms/v2/users/me", "", w.as(login)).want(200).id() }
	warm := func(edits ...edit) {
		t.Helper()
		posts(w, edits...).want(200)
		posts(w, edits...).want(200).unasked()
	}
	t.Run("logout", func(t *testing.T) {
		cookie, nonce := w.session("editor")
		warm(cookie, nonce)
		dashboard := w.gate("GET /cms-admin/", "", cookie).want(200).body
		_, link, _ := strings.Cut(dashboard, `href="`)
		link, _, _ = strings.Cut(link, `"`)
		link = strings.ReplaceAll(link, "&amp;", "&")
		w.gate("GET /cms-login.php?action=logout&_cmsnonce=wrong", "", cookie).want(403)
		posts(w, cookie, nonce).want(200).unasked() // the change failed, so that nothing is dropped
		w.gate("GET "+link, "", cookie).want(302)
		if r := posts(w, cookie, nonce).stopped(); r.status == 200 {
			t.Error("logged out, and still in")
		}
	})
	t.Run("password", func(t *testing.T) {
		cookie, nonce := w.session("editor")
		warm(cookie, nonce)
		w.gate("POST /cms-json/cms/v2/users/me", `{"password":"another one"}`, cookie, nonce).want(200)
		if r := posts(w, cookie, nonce).stopped(); r.status == 200 {
			t.Error("the sessions ended, and this one is still in")
		}
	})
	t.Run("role", func(_ *testing.T) {
		editor := id("editor")
		warm(w.as("editor"))
		w.gate(fmt.Sprintf("POST /cms-json/cms/v2/users/%d", editor), `{"roles":["customer"]}`, w.as("author")).want(403)
		w.gate(fmt.Sprintf("POST /cms-json/cms/v2/users/%d", editor), `{"roles":["customer"]}`, w.as("admin")).want(200)
		posts(w, w.as("editor")).refusedWith(403, "rest_forbidden")
		w.gate(fmt.Sprintf("POST /cms-json/cms/v2/users/%d?_method=PUT", editor), `{"roles":["author","editor"]}`, w.as("admin")).want(200)
		posts(w, w.as("editor")).want(200) // one of several roles is enough
	})
	t.Run("application passwords", func(_ *testing.T) {
		at := "/cms-json/cms/v2/users/me/application-passwords"
		created := w.gate("POST "+at, `{"name":"second"}`, w.as("editor")).want(201)
		secret, _ := created.at("password").(string)
		second := func(r *http.Request) { r.SetBasicAuth("editor", secret) }
		warm(second)
		warm(w.as("editor"))
		w.gate("DELETE "+at+"/no-such-uuid", "", w.as("editor")).want(404)
		posts(w, second).want(200).unasked()
		uuid, _ := created.at("uuid").(string)
		w.gate("DELETE "+at+"/"+uuid, "", w.as("editor")).want(200)
		posts(w, second).want(401, "incorrect_password").stopped()
		posts(w, w.as("editor")).want(200)
		// A caller who tries before the password exists is not locked out after it does.
		posts(w, second).want(401)
		w.gate("DELETE "+at, "", w.as("editor")).want(200, `"deleted":true`)
		posts(w, w.as("editor")).want(401, "incorrect_password").stopped()
	})
	t.Run("batch", func(t *testing.T) {
		created := w.gate("POST /cms-json/cms/v2/users", `{"username":"temp","email":"t@example.test","password":"x","roles":["editor"]}`, w.as("admin")).want(201)
		cookie, nonce := w.session("temp")
		warm(cookie, nonce)
		w.gate("POST /cms-json/batch/v1", fmt.Sprintf(`{"requests":[{"method":"POST","path":"/cms/v2/users/%d","body":{"password":"y"}}]}`, created.id()), w.as("admin")).want(207)
		if r := posts(w, cookie, nonce).stopped(); r.status == 200 {
			t.Error("a batch ended the sessions, and this one is still in")
		}
	})
	t.Run("deletion", func(t *testing.T) {
		created := w.gate("POST /cms-json/cms/v2/users", `{"username":"leaver","email":"l@example.test","password":"x","roles":["editor"]}`, w.as("admin")).want(201)
		cookie, nonce := w.session("leaver")
		warm(cookie, nonce)
		w.gate(fmt.Sprintf("DELETE /cms-json/cms/v2/users/%d?force=true&reassign=1", created.id()), "", w.as("admin")).want(200)
		if r := posts(w, cookie, nonce).stopped(); r.status == 200 {
			t.Error("deleted, and still in")
		}
	})
}

// TestIdentity_Sites: the question goes to the site of the client's request, and
// describes the client in the same way.
func TestIdentity_Sites(t *testing.T) {
	for name, c := range map[string]struct {
		options site.Options
		line    string
		asked   string
	}{
		"pretty":     {site.Options{}, "GET /cms-json/cms/v2/posts", "/cms-json/cms/v2/users/me?context=edit"},
		"query":      {site.Options{}, "GET /?rest_route=/cms/v2/posts", "/?rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit"},
		"form":       {site.Options{}, "POST /", "/?rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit"},
		"sub-folder": {site.Options{Base: "/blog"}, "GET /cms-json/cms/v2/posts", "/blog/cms-json/cms/v2/users/me?context=edit"},
		"sub-query":  {site.Options{Base: "/blog"}, "GET /index.php?rest_route=/cms/v2/posts", "/blog/?rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit"},
		"plain":      {site.Options{Permalinks: "plain"}, "GET /index.php?rest_route=/cms/v2/posts", "/?rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit"},
		"wordpress":  {site.Options{Platform: "wordpress"}, "GET /cms-json/cms/v2/posts", "/wp-json/wp/v2/users/me?context=edit"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.options, "login_only", behind)
			body := ""
			if strings.HasPrefix(c.line, "POST") {
				body = "rest_route=/cms/v2/posts&title=x"
			}
			var seen *http.Request
			w.tap.answerWith(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get(mark) != "" {
					seen = r.Clone(context.Background())
				}
				return false
			})
			cookie, nonce := w.session("admin")
			r := w.gate(c.line, body, cookie, nonce, func(r *http.Request) {
				r.Host = "shop.example.test"
				r.AddCookie(&http.Cookie{Name: "tracking", Value: "1"})
			}, header("X-Forwarded-For", "192.0.2.9"), header("X-Forwarded-Proto", "https"), header("X-Forwarded-Host", "shop.example.test"),
				header("User-Agent", "a browser"), header("Range", "bytes=0-1"), header("X-Own", "1"))
			if r.status >= 300 || r.asked != 1 {
				t.Fatalf("%d %.200s, %d questions", r.status, r.body, r.asked)
			}
			q := w.tap.asked(0)[0]
			// The front controller may be named or not.
			if q.Method != http.MethodGet || strings.Replace(freshText.ReplaceAllString(q.RequestURI, ""), "/index.php?", "/?", 1) != c.asked || q.Host != "shop.example.test" {
				t.Errorf("asked %s %s of %s, want %s", q.Method, q.RequestURI, q.Host, c.asked)
			}
			for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "User-Agent", w.branded("X-CMS-Nonce")} {
				name = http.CanonicalHeaderKey(name)
				if got, want := q.Header.Get(name), seen.Header.Get(name); got != want || got == "" {
					t.Errorf("%s: %q in the question, %q in the request", name, got, want)
				}
			}
			for _, name := range []string{"Range", "X-Own", mark} {
				if q.Header.Get(name) != "" {
					t.Errorf("%s in the question", name)
				}
			}
			if cookies := q.Header.Get("Cookie"); strings.Contains(cookies, "tracking") || !strings.Contains(cookies, "_logged_in_") {
				t.Errorf("cookies of the question: %s", cookies)
			}
		})
	}
}

// TestIdentity_Key: a request that differs in anything relevant is asked about anew.
func TestIdentity_Key(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only\ncredentials header X-Site-Key\ncredentials cookie site")
	cookie, nonce := w.session("admin")
	same := []edit{cookie, nonce}
	with := func(e ...edit) []edit { return append(append([]edit{}, same...), e...) }
	addCookie := func(name string) edit {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: name, Value: "1"}) }
	}
	posts(w, same...).want(200)
	for name, e := range map[string][]edit{
		"another cookie": with(addCookie("tracking")), "another agent": with(header("User-Agent", "x")), "language": with(header("Accept-Language", "de")),
	} {
		if r := posts(w, e...); r.asked != 0 || r.status != 200 {
			t.Errorf("%s: %d questions, status %d", name, r.asked, r.status)
		}
	}
	for name, e := range map[string][]edit{
		"host":                  with(func(r *http.Request) { r.Host = "other.example.test" }),
		"scheme":                with(header("X-Forwarded-Proto", "https")),
		"nonce":                 {cookie, header("X-CMS-Nonce", "0123456789")},
		"second login cookie":   with(addCookie("cms_logged_in_second")),
		"authorization":         with(w.as("customer")),
		"credential header":     with(header("X-Site-Key", "1")),
		"credential cookie":     with(addCookie("site")),
		"MCP key":               with(header("X-MCP-API-Key", "a:b")),
		"another user, no more": {w.as("customer")},
	} {
		if r := posts(w, e...); r.asked != 1 {
			t.Errorf("%s: %d questions, status %d", name, r.asked, r.status)
		}
	}
}

// TestIdentity_Rules: roles, capabilities and users, of one who has several.
func TestIdentity_Rules(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, `login_only
		credentials header X-Staff
		allow role shop_manager,bookkeeper /a/**
		allow capability publish_posts /b/**
		allow users /c/**
		allow anyone /d/**
		deny /e/**
		deny /f/** as 404`)
	w.whoAnswers(func(rw http.ResponseWriter, r *http.Request) {
		says(200, map[string]string{
			"both":   `{"id":1,"roles":["customer","bookkeeper"],"capabilities":{"publish_posts":true}}`,
			"not":    `{"id":2,"roles":["customer"],"capabilities":{"publish_posts":false,"shop_manager":true,"bookkeeper":true}}`,
			"nearly": `{"id":3,"roles":["Shop_Manager"],"capabilities":{"publish_posts":"true"}}`,
			"none":   `{"id":4,"roles":[],"capabilities":[]}`,
		}[r.Header.Get("X-Staff")])(rw, r)
	})
	for caller, want := range map[string][6]int{ // by route; the platform has none of them: 404
		"both": {404, 404, 404, 404, 403, 404}, "not": {403, 403, 404, 404, 403, 404}, "nearly": {403, 403, 404, 404, 403, 404},
		"none": {403, 403, 404, 404, 403, 404}, "": {401, 401, 401, 404, 403, 404},
	} {
		for i, route := range []string{"/a/x", "/b/x", "/c/x", "/d/x", "/e/x", "/f/x"} {
			r := w.gate("GET /cms-json"+route, "", func(r *http.Request) {
				if caller != "" {
					r.Header.Set("X-Staff", caller)
				}
			})
			if passes := want[i] == 404 && route != "/f/x"; r.status != want[i] || (r.reached == 1) != passes {
				t.Errorf("%q %s: %d %s, reached %d; want %d", caller, route, r.status, r.body, r.reached, want[i])
			}
		}
	}
}
