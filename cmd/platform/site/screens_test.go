package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestConsentLogScreen: the log screen lists what visitors chose, to administrators
// (docs/project/interface 2).
func TestConsentLogScreen(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		const screen = "/cms-admin/admin.php?page=consent-log"
		c.rest("POST", c.info.Routes.Consent, `{"choice":"<b>all"}`).want(200)
		admin, _ := c.site.Nonce("admin")
		manager, _ := c.site.Nonce("manager")
		c.send("GET", screen, "").want(403)
		c.send("GET", screen, "", withCookie(manager)).want(403)
		page := string(c.send("GET", screen, "", withCookie(admin)).want(200).body)
		if !strings.Contains(page, "all") || strings.Contains(page, "<b>") {
			t.Fatalf("screen %s", page)
		}
	})
}

// TestAnalyticsPage: from 11.1 on nothing of the request is in its output (docs/project/interface 9,
// rule 4).
func TestAnalyticsPage(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		screen := "/cms-admin/admin.php?page=" + map[bool]string{true: "wc", false: "shop"}[c.wp] + "-admin&path=/analytics/NEEDLE"
		manager, _ := c.site.Nonce("manager")
		c.send("GET", screen, "").want(403)
		page := string(c.send("GET", screen, "", withCookie(manager)).want(200).body)
		if !strings.Contains(page, "USD") || strings.Contains(page, "NEEDLE") != (release != "11.1") {
			t.Fatalf("page %s", page)
		}
		odd := string(c.send("GET", screen+"</script><b>", "", withCookie(manager)).want(200).body)
		if strings.Contains(odd, "<b>") {
			t.Fatalf("page %s", odd)
		}
	})
}

// TestEditorAssets: with its flag the editor loads shared bundles in place of files a block;
// the front end's stay (docs/project/interface 2).
func TestEditorAssets(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		editor, _ := c.site.Nonce("editor")
		load := func() (files int, front string) {
			page := string(c.send("GET", "/cms-admin/post.php?post=11&action=edit", "", withCookie(editor)).want(200).body)
			return strings.Count(page, "<script src=") + strings.Count(page, `rel="stylesheet"`), string(c.send("GET", "/shop/", "").want(200).body)
		}
		c.send("GET", "/cms-admin/post.php", "").want(403)
		before, front := load()
		c.rest("PUT", features, `{"unified_editor_assets":true}`, c.as("admin")).want(200)
		after, same := load()
		if before != 6 || after != 2 || front != same {
			t.Fatalf("%d files, then %d; the front end stays: %t", before, after, front == same)
		}
	})
}

// TestGalleryVideos: with its flag videos of product galleries are stored by the site
// (docs/project/interface 2).
func TestGalleryVideos(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		const address = "https://video.example.test/a.mp4"
		store := func() string {
			a := c.rest("PUT", "/shop/v3/products/"+id(c.info.Products[0]), fmt.Sprintf(`{"gallery_videos":[%q]}`, address), c.as("manager")).want(200)
			return fmt.Sprint(a.get("gallery_videos", "0"))
		}
		if got := store(); got != address {
			t.Fatalf("off: %s", got)
		}
		c.rest("PUT", features, `{"product_gallery_video":true}`, c.as("admin")).want(200)
		if got := store(); !strings.HasPrefix(got, "http://example.com/"+map[bool]string{true: "wp", false: "cms"}[c.wp]+"-content/uploads/") {
			t.Fatalf("on: %s", got)
		}
	})
}
