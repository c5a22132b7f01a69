package site_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

var (
	flagBox       = regexp.MustCompile(`<input type="checkbox" name="(\w+)" value="1"( checked)?>`)
	settingsNonce = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="(\w+)">`)
)

// settings is the address of the screen with the flags.
func (c *client) settings() string {
	page := map[bool]string{true: "wc-settings", false: "shop-settings"}[c.wp]
	return "/cms-admin/admin.php?page=" + page + "&tab=advanced&section=features"
}

// flags are those that the screen shows, and those of them that are on.
func (a *answer) flags() (known, on []string) {
	for _, box := range flagBox.FindAllStringSubmatch(string(a.body), -1) {
		known = append(known, box[1])
		if box[2] != "" {
			on = append(on, box[1])
		}
	}
	return known, on
}

// TestSettings: an administrator enables the flags of docs/project/interface 2 in the settings, and
// nobody else does (docs/project/interface 1, rule 9, and 3).
func TestSettings(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		want := []string{"unified_editor_assets", "product_gallery_video"}
		if release == "11.1" {
			want = append(want, "order_withdrawal")
		}
		cookie, nonce := c.site.Nonce("admin")
		admin := withCookie(cookie)
		a := c.send("GET", c.settings(), "", admin).want(200)
		if !strings.Contains(string(a.body), "<title>Settings &gt; Advanced &gt; Features</title>") {
			t.Fatalf("screen %s", a.body)
		}
		if known, on := a.flags(); !slices.Equal(known, want) || len(on) > 0 {
			t.Fatalf("on %v of %v, want none of %v", on, known, want)
		}
		hidden := settingsNonce.FindStringSubmatch(string(a.body))
		if hidden == nil || hidden[1] != c.branded("_cmsnonce") || hidden[2] != nonce {
			t.Fatalf("nonce %v", hidden)
		}
		form := url.Values{hidden[1]: {nonce}, "product_gallery_video": {"1"}}.Encode()

		manager, managersNonce := c.site.Nonce("manager")
		managers := url.Values{hidden[1]: {managersNonce}, "product_gallery_video": {"1"}}.Encode()
		c.send("GET", c.settings(), "").want(403)
		c.send("GET", c.settings(), "", withCookie(manager)).want(403)
		c.send("POST", c.settings(), form).want(403)
		c.send("POST", c.settings(), managers, withCookie(manager)).want(403)
		c.send("POST", c.settings(), "product_gallery_video=1", admin).want(403)
		c.send("POST", c.settings(), managers, admin).want(403)
		c.send("POST", c.settings()+"&"+hidden[1]+"="+nonce, "product_gallery_video=1", admin).want(403)
		c.send("GET", c.settings()+"&product_gallery_video=1&"+hidden[1]+"="+nonce, "", admin).want(200)
		if on, _ := c.rest("GET", features, "", c.as("admin")).enabled(); len(on) > 0 {
			t.Fatalf("on are %v", on)
		}

		_, on := c.send("POST", c.settings(), form, admin).want(200).flags()
		viaREST, _ := c.rest("GET", features, "", c.as("admin")).enabled()
		if one := []string{"product_gallery_video"}; !slices.Equal(on, one) || !slices.Equal(viaREST, one) {
			t.Fatalf("on are %v, by REST %v", on, viaREST)
		}
		if _, on := c.send("POST", c.settings(), hidden[1]+"="+nonce, admin).want(200).flags(); len(on) > 0 {
			t.Fatalf("not ticked, but on: %v", on)
		}
	})
}

// TestSettings_Withdrawal: the screen switches the withdrawal flow on, and the dashboard
// leads to it.
func TestSettings_Withdrawal(t *testing.T) {
	both(t, site.Options{Base: "/blog"}, func(t *testing.T, c *client) {
		t.Helper()
		cookie, nonce := c.site.Nonce("admin")
		link := `href="/blog` + c.branded(c.settings()) + `"`
		page := string(c.send("GET", "/cms-admin/", "", withCookie(cookie)).want(200).body)
		if !strings.Contains(strings.ReplaceAll(page, "&amp;", "&"), link) {
			t.Fatalf("no %s in %s", link, page)
		}
		c.send("GET", "/my-account/withdraw-order/", "").want(404)
		c.send("POST", c.settings(), c.branded("_cmsnonce=")+nonce+"&order_withdrawal=1", withCookie(cookie)).want(200)
		c.send("GET", "/my-account/withdraw-order/", "").want(200)
		c.send("GET", "/cms-admin/admin.php?page=nosuch", "", withCookie(cookie)).want(404)
	})
}
