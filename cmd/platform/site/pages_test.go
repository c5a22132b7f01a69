package site_test

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestPages(t *testing.T) {
	both(t, site.Options{Base: "/blog"}, func(t *testing.T, c *client) {
		for target, want := range map[string]string{
			"/": "Hello world", "/shop": "Mug", "/my-account/": "not logged in", "/stream": "data: 4", "/robots.txt": "Disallow: /blog/",
			"/cms-content/themes/plain/style.css": "font-family",
		} {
			if a := c.send("GET", target, "").want(200); !strings.Contains(string(a.body), want) {
				t.Errorf("%s: %s", target, a.body)
			}
		}
		c.send("GET", "/no-such-page/", "").want(404)
		c.send("GET", "/about-cms-json/", "").want(404)
		c.send("POST", "/cms-admin/async-upload.php", "x").want(403)
		cookie, _ := c.site.Nonce("author")
		if a := c.send("POST", "/cms-admin/async-upload.php", "12345", withCookie(cookie)).want(200); string(a.body) != "5\n" {
			t.Errorf("upload %q", a.body)
		}
	})
}
