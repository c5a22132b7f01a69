package site_test

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// screens is a login of the admin screens.
func (c *client) screens(login string) []edit {
	cookie, nonce := c.site.Nonce(login)
	return []edit{withCookie(cookie), with(c.branded("X-CMS-Nonce"), nonce)}
}

// TestPublishPage: the editor publishes a page by REST (docs/project/interface 1, rule 10).
func TestPublishPage(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		editor := c.screens("editor")
		a := c.rest("POST", "/cms/v2/pages", `{"title":"About us","content":"x"}`, editor...).want(201)
		one := "/cms/v2/pages/" + id(int(a.get("id").(float64)))
		if a.get("type") != "page" || a.get("status") != "draft" {
			t.Fatalf("page %s", a.body)
		}
		c.rest("GET", one, "").want(403, "rest_forbidden")
		c.rest("PUT", one, `{"status":"publish"}`, c.screens("author")...).want(403, "rest_cannot_edit")
		c.rest("PUT", one, `{"status":"publish"}`, editor...).want(200)
		if got := c.rest("GET", "/cms/v2/pages", "").want(200).get("0", "title", "rendered"); got != "About us" {
			t.Fatalf("pages %v", got)
		}
		c.rest("GET", strings.Replace(one, "pages", "posts", 1), "").want(404, "rest_post_invalid_id")
		if page := c.send("GET", "/", "").want(200); strings.Contains(string(page.body), "About us") {
			t.Fatal("a page among the articles")
		}
		c.rest("POST", "/cms/v2/pages", `{"title":"x"}`, c.screens("author")...).want(403, "rest_cannot_create")
		c.rest("POST", "/cms/v2/pages", `{"title":"x"}`).want(401, "rest_cannot_create")
	})
}

// TestAutosave: the editor saves beside what is published, and in place what is a draft.
func TestAutosave(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		editor := c.screens("editor")
		posts := c.rest("GET", "/cms/v2/posts", "").want(200)
		one := "/cms/v2/posts/" + id(int(posts.get("0", "id").(float64)))
		before := posts.get("0", "title", "rendered")
		c.rest("POST", one+"/autosaves", `{"title":"Half"}`).want(401, "rest_cannot_edit")
		first := c.rest("POST", one+"/autosaves", `{"title":"Half"}`, editor...).want(200)
		again := c.rest("POST", one+"/autosaves", `{"title":"Whole"}`, editor...).want(200)
		if first.get("id") != again.get("id") || again.get("title", "raw") != "Whole" {
			t.Fatalf("autosave %s, then %s", first.body, again.body)
		}
		if got := c.rest("GET", one, "").get("title", "rendered"); got != before {
			t.Fatalf("published as %v", got)
		}
		if list := c.rest("GET", one+"/autosaves", "", editor...).want(200).json.([]any); len(list) != 1 {
			t.Fatalf("autosaves %v", list)
		}
		draft := c.rest("POST", "/cms/v2/posts", `{"title":"Draft"}`, editor...).want(201)
		saved := c.rest("POST", "/cms/v2/posts/"+id(int(draft.get("id").(float64)))+"/autosaves", `{"title":"Later"}`, editor...).want(200)
		if saved.get("id") != draft.get("id") || saved.get("title", "rendered") != "Later" {
			t.Fatalf("draft %s", saved.body)
		}
	})
}

// TestOwnPosts: authors edit and save what they wrote, as a draft and published, and nothing
// else (docs/project/interface 1, rule 10).
func TestOwnPosts(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		author, customer := c.screens("author"), c.screens("customer")
		made := c.rest("POST", "/cms/v2/posts", `{"title":"One"}`, author...).want(201)
		own := "/cms/v2/posts/" + id(int(made.get("id").(float64)))
		c.rest("GET", own, "").want(403, "rest_forbidden")
		c.rest("GET", own, "", author...).want(200)
		if saved := c.rest("POST", own+"/autosaves", `{"title":"Two"}`, author...).want(200); saved.get("id") != made.get("id") {
			t.Fatalf("autosave of a draft %s", saved.body)
		}
		c.rest("PUT", own, `{"status":"publish"}`, author...).want(200)
		if saved := c.rest("POST", own+"/autosaves", `{"title":"Three"}`, author...).want(200); saved.get("title", "raw") != "Three" || saved.get("id") == made.get("id") {
			t.Fatalf("autosave of a published post %s", saved.body)
		}
		if got := c.rest("PUT", own, `{"content":"x"}`, author...).want(200).get("title", "rendered"); got != "Two" {
			t.Fatalf("published as %v", got)
		}
		c.rest("GET", own+"/autosaves", "", author...).want(200)
		c.rest("PUT", own, `{"title":"x"}`, customer...).want(403, "rest_cannot_edit")
		c.rest("PUT", own, `{"title":"x"}`).want(401, "rest_cannot_edit")

		admins := c.rest("GET", "/cms/v2/posts", "").want(200).get("0", "id").(float64)
		for _, others := range []string{"/cms/v2/posts/" + id(int(admins)), "/cms/v2/posts/" + id(int(admins)) + "/autosaves"} {
			c.rest("POST", others, `{"title":"x"}`, author...).want(403, "rest_cannot_edit")
		}
		draft := c.rest("POST", "/cms/v2/posts", `{"title":"x"}`, c.screens("editor")...).want(201).get("id").(float64)
		c.rest("PUT", "/cms/v2/posts/"+id(int(draft)), `{"title":"y"}`, author...).want(403, "rest_cannot_edit")
		c.rest("GET", "/cms/v2/posts/"+id(int(draft)), "", author...).want(403, "rest_forbidden")
		c.rest("PUT", "/cms/v2/posts/999999", `{}`, author...).want(404, "rest_post_invalid_id")
	})
}

// TestWidgets: the widgets screen saves by REST.
func TestWidgets(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		admin := c.screens("admin")
		body := func(content string) string { return `{"instance":{"raw":{"content":"` + content + `"}}}` }
		a := c.rest("POST", "/cms/v2/widgets", body("one"), admin...).want(201)
		one := "/cms/v2/widgets/" + a.get("id").(string)
		c.rest("PUT", one, body("two"), admin...).want(200)
		if got := c.rest("GET", one, "", admin...).want(200).get("rendered"); got != "two" {
			t.Fatalf("widget %v", got)
		}
		if got := c.rest("GET", "/cms/v2/widgets", "", admin...).want(200).get("0", "rendered"); got != "two" {
			t.Fatalf("widgets %v", got)
		}
		c.rest("PUT", one, body("x")).want(401, "rest_cannot_manage_widgets")
		c.rest("PUT", one, body("x"), c.screens("customer")...).want(403, "rest_cannot_manage_widgets")
		c.rest("PUT", "/cms/v2/widgets/block-0", body("x"), admin...).want(404, "rest_widget_not_found")
	})
}
