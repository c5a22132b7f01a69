package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestAbilities(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		shop := map[bool]string{true: "woocommerce", false: "shop"}[c.wp]
		base := c.branded("/cms-abilities/v1/abilities")
		run := func(name string) string { return base + "/" + name + "/run" }
		c.rest("GET", base, "").want(map[bool]int{true: 401, false: 403}[c.wp], "rest_forbidden")
		a := c.rest("GET", base, "", c.as("customer")).want(200)
		if strings.Contains(string(a.body), "get-environment-info") || !strings.Contains(string(a.body), shop+"/orders-query") {
			t.Fatalf("list %s", a.body)
		}
		c.rest("GET", base+"/core/get-site-info", "", c.as("admin")).want(200)
		c.rest("GET", base+"/core/get-environment-info", "", c.as("admin")).want(404, "rest_ability_not_found")
		c.rest("GET", run("core/get-environment-info"), "", c.as("admin")).want(404, "rest_ability_not_found")

		c.rest("POST", run("core/get-site-info"), "").want(405, "rest_ability_invalid_method")
		c.rest("GET", run("core/get-site-info"), "").want(401, "rest_ability_cannot_execute")
		c.rest("GET", run("core/get-site-info"), "", c.as("customer")).want(403, "rest_ability_cannot_execute")
		c.rest("GET", run("core/get-site-info"), "", c.as("admin")).want(200)
		c.rest("GET", run("core/get-user-info"), "", c.as("customer")).want(200)
		c.rest("GET", run(shop+"/orders-query")+"?input[status]=processing", "", c.as("manager")).want(200)
		c.rest("GET", run(shop+"/orders-query")+"?input[x]=1", "", c.as("manager")).want(400, "ability_invalid_input")

		status := run(shop + "/order-update-status")
		order := c.info.Orders[0]
		input := fmt.Sprintf(`{"input":{"id":%d,"status":"completed"}}`, order)
		c.rest("POST", status, input, c.as("customer")).want(403, "rest_ability_cannot_execute")
		c.rest("POST", status, `{"input":{"id":1}}`, c.as("manager")).want(400, "ability_invalid_input")
		c.rest("POST", status, input, c.as("manager")).want(200)
		if c.record(order).Status != "completed" {
			t.Fatal("status not set")
		}
		sub := fmt.Sprintf(`{"input":{"id":%d,"status":"completed"}}`, c.info.Subscriptions[0])
		c.rest("POST", status, sub, c.as("manager")).want(500)
		if c.record(c.info.Subscriptions[0]).Status != "active" {
			t.Fatal("subscription changed")
		}
		// The ability that runs is the effective name.
		hidden := fmt.Sprintf(`{"name":%q,"input":{"id":%d,"status":"failed"}}`, shop+"/order-update-status", order)
		c.rest("POST", run("core/get-site-info"), hidden, c.as("manager")).want(200)
		if c.record(order).Status != "failed" {
			t.Fatal("the body's name did not count")
		}
		mug := c.info.Products[1]
		c.rest("DELETE", run(shop+"/product-delete")+"?input[id]="+id(mug), "", c.as("manager")).want(200)
		if _, ok := c.site.Record(mug); ok {
			t.Fatal("product still there")
		}
		c.rest("GET", c.branded("/cms-abilities/v1/categories"), "", c.as("customer")).want(200)
	})
}

// TestAbilities_Core: abilities are part of the platform from 6.9 on; before, a plugin
// brings them (docs/project/interface 9, rule 3).
func TestAbilities_Core(t *testing.T) {
	for _, row := range []struct {
		core   string
		plugin bool
		there  bool
	}{{"6.8", false, false}, {"6.8", true, true}, {"6.9", false, true}, {"6.9", true, true}, {"7.0", false, true}} {
		both(t, site.Options{Core: row.core, Abilities: row.plugin}, func(t *testing.T, c *client) {
			t.Helper()
			for _, route := range []string{"", "/core/get-site-info", "/core/get-site-info/run"} {
				a := c.rest("GET", c.branded("/cms-abilities/v1/abilities"+route), "", c.as("admin"))
				if row.there {
					a.want(200)
				} else {
					a.want(404, "rest_no_route")
				}
			}
		})
	}
}
