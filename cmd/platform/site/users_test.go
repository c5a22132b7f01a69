package site_test

import (
	"slices"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// slugs are the user names of a list answer.
func (a *answer) slugs() []string {
	var out []string
	for i := range a.json.([]any) {
		out = append(out, a.get(id(i), "slug").(string))
	}
	return out
}

func TestUsers(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		a := c.rest("GET", "/cms/v2/users", "").want(200)
		if got := a.slugs(); !slices.Equal(got, []string{"admin", "manager", "customer", "editor", "author"}) {
			t.Fatalf("anonymous sees %v", got)
		}
		if a.get("0", "email") != nil || a.get("0", "roles") != nil {
			t.Fatalf("anonymous sees %s", a.body)
		}
		a = c.rest("GET", "/cms/v2/users?per_page=2&page=3&context=edit", "", c.as("admin")).want(200)
		if len(a.slugs()) != 1 || a.Header.Get(c.branded("X-CMS-Total")) != "5" {
			t.Fatalf("page %s of %s", a.body, a.Header)
		}
		for query, want := range map[string][]string{
			"orderby=id&order=desc&offset=2":     {"customer", "manager", "admin"},
			"orderby=slug":                       {"admin", "author", "customer", "editor", "manager"},
			"orderby=name&order=desc&per_page=1": {"manager"},
			"orderby=registered_date&per_page=1": {"admin"},
			"offset=9":                           nil,
			"offset=1&page=3&per_page=2":         {"manager", "customer"},
		} {
			if got := c.rest("GET", "/cms/v2/users?"+query, "").want(200).slugs(); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		c.rest("GET", "/cms/v2/users?orderby=password", "").want(400, "rest_invalid_param")
		c.rest("GET", "/cms/v2/users?order=up", "").want(400, "rest_invalid_param")
		c.rest("GET", "/cms/v2/users?offset=-1", "").want(400, "rest_invalid_param")
		c.rest("GET", "/cms/v2/users?per_page=0", "").want(400, "rest_invalid_param")
		c.rest("GET", "/cms/v2/users?per_page=101", "").want(400, "rest_invalid_param")
		c.rest("GET", "/cms/v2/users?context=edit", "").want(401, "rest_forbidden_context")
		c.rest("GET", "/cms/v2/users?roles=customer", "").want(401, "rest_user_cannot_view")
		c.rest("GET", "/cms/v2/users/1", "").want(200)
		c.rest("GET", "/cms/v2/users/3", "").want(200)
		c.rest("GET", "/cms/v2/users/99", "").want(404, "rest_user_invalid_id")
		c.rest("GET", "/cms/v2/users?search=adm", "").want(200)

		c.rest("POST", "/cms/v2/users/3", `{"roles":["administrator"]}`, c.as("customer")).want(403, "rest_cannot_edit_roles")
		c.rest("POST", "/cms/v2/users/1", `{"name":"x"}`, c.as("manager")).want(403, "rest_cannot_edit")
		c.rest("POST", "/cms/v2/users/3", `{"roles":["editor","customer"]}`, c.as("admin")).want(200)
		a = c.rest("GET", "/cms/v2/users/me?context=edit", "", c.as("customer")).want(200)
		if a.get("capabilities", "edit_others_posts") != true {
			t.Fatalf("new role not in force: %s", a.body)
		}
		c.rest("POST", "/cms/v2/users", `{"username":"new","email":"n@example.test","password":"x"}`, c.as("admin")).want(201)
		listed := slices.Contains(c.rest("GET", "/cms/v2/users", "").slugs(), "new")
		if c.wp { // a real site shows authors of published posts
			c.rest("GET", "/cms/v2/users/6", "").want(401, "rest_user_cannot_view")
		} else {
			c.rest("GET", "/cms/v2/users/6", "").want(200)
		}
		if listed == c.wp {
			t.Fatalf("a user without posts is listed: %t", listed)
		}
		c.rest("DELETE", "/cms/v2/users/6?force=true&reassign=1", "", c.as("admin")).want(200)
		c.rest("GET", "/cms/v2/users/6", "", c.as("admin")).want(404, "rest_user_invalid_id")
	})
}

func TestShopManagerCapabilities(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		a := c.rest("GET", "/cms/v2/users/me?context=edit", "", c.as("manager")).want(200)
		if a.get("capabilities", "edit_shop_orders") != true || a.get("capabilities", "manage_options") == true {
			t.Fatalf("capabilities %v", a.get("capabilities"))
		}
	})
}

func TestIndexAndTaxonomies(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		a := c.rest("GET", "/", "").want(200)
		route := c.branded(`/shop/v3/orders/(?P<id>[\d]+)`)
		if a.get("routes", route, "endpoints", "1", "args", "id", "type") != "integer" {
			t.Fatalf("index lacks %s", route)
		}
		if !slices.Contains(a.get("namespaces").([]any), any(c.branded("cms/v2"))) {
			t.Fatalf("namespaces %v", a.get("namespaces"))
		}
		a = c.rest("GET", "/shop/v3?namespace="+c.branded("cms/v2"), "").want(200)
		if a.get("namespace") != c.branded("cms/v2") {
			t.Fatalf("namespace %v", a.get("namespace"))
		}
		if c.rest("GET", "/cms/v2/taxonomies", "").want(200).get("category", "slug") != "category" {
			t.Fatal("no taxonomies")
		}
	})
}

func TestCoreBatch(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		body := c.branded(`{"requests":[{"path":"/cms/v2/posts","body":{"title":"A","status":"publish"}},
			{"method":"PUT","path":"//host/cms/v2/users/2?id=3","body":{"name":"B"}},
			{"method":"PUT","path":"/shop/v3/orders/1"},{"path":"///"},{"path":"/cms/v2/none"}]}`)
		a := c.rest("POST", "/batch/v1", body, c.as("admin")).want(207)
		for i, want := range []float64{201, 200, 400, 400, 404} {
			if got := a.get("responses", id(i), "status"); got != want {
				t.Fatalf("part %d: %v, want %v: %s", i, got, want, a.body)
			}
		}
		if a.get("responses", "1", "body", "id") != float64(3) {
			t.Fatalf("the query's id did not count: %s", a.body)
		}
		if a.get("responses", "2", "body", "code") != "rest_batch_not_allowed" {
			t.Fatalf("orders in a batch: %s", a.body)
		}
		a = c.rest("POST", "/batch/v1", c.branded(`{"validation":"require-all-validate","requests":[{"path":"/cms/v2/posts"},{"path":"/cms/v2/none"}]}`), c.as("admin")).want(207)
		if a.get("failed") != "validation" || a.get("responses", "0") != nil {
			t.Fatalf("validation %s", a.body)
		}
		c.rest("GET", c.branded("/batch/v1?_method=POST&requests[0][path]=/cms/v2/posts"), "", c.as("admin")).want(207)
		c.rest("POST", "/batch/v1", "{}").want(400, "rest_missing_callback_param")
	})
}
