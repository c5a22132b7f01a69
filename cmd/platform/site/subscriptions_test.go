package site_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestSubscriptions(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		sub := c.info.Subscriptions[0]
		a := c.rest("GET", "/shop/v3/subscriptions/"+id(sub), "", c.as("manager")).want(200)
		if a.get("billing_period") != "month" || a.get("next_payment_date") == "" || a.get("parent_id") == float64(0) {
			t.Fatalf("subscription %s", a.body)
		}
		body := `{"billing_period":"week","billing_interval":2,"next_payment_date":"2027-01-01T00:00:00"}`
		c.rest("PATCH", "/shop/v3/subscriptions/"+id(sub), body, c.as("manager")).want(200)
		r := c.record(sub)
		if r.Type != "shop_subscription" || r.BillingPeriod != "week" || r.BillingInterval != 2 || r.Schedule["next_payment"] != "2027-01-01T00:00:00" {
			t.Fatalf("stored %+v", r)
		}
		invalid := c.branded("shop_rest_shop_subscription_invalid_id")
		c.rest("PUT", "/shop/v3/subscriptions/"+id(c.info.Orders[0]), `{}`, c.as("manager")).want(400, invalid)
		c.rest("GET", "/shop/v3/subscriptions/"+id(c.info.Orders[0]), "", c.as("manager")).want(404, invalid)
		c.rest("PUT", "/shop/v3/subscriptions/"+id(sub), `{"billing_period":"x"}`, c.as("manager")).want(400, "rest_invalid_param")
		c.rest("PUT", "/shop/v3/subscriptions/"+id(sub), `{"end_date":"soon"}`, c.as("manager")).want(400, "rest_invalid_param")
		if got := c.rest("GET", "/shop/v3/subscriptions", "", c.as("manager")).ids(); !slices.Equal(got, c.info.Subscriptions) {
			t.Fatalf("list %v", got)
		}
		a = c.rest("POST", "/shop/v3/subscriptions", `{"billing_period":"day"}`, c.as("manager")).want(201)
		c.rest("DELETE", fmt.Sprintf("/shop/v3/subscriptions/%v?force=true", a.get("id")), "", c.as("manager")).want(200)
	})
}

// TestSubscriptions_Versions: shop/v2 has the routes of shop/v3 (docs/project/interface 1, rule 4); v1 has none.
func TestSubscriptions_Versions(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		t.Helper()
		const all = "/shop/v2/subscriptions"
		manager, one := c.as("manager"), all+"/"+id(c.info.Subscriptions[0])
		if got := c.rest("GET", all, "", manager).want(200).ids(); !slices.Equal(got, c.info.Subscriptions) {
			t.Fatalf("list %v", got)
		}
		c.rest("PUT", one, `{"billing_period":"year"}`, manager).want(200)
		if got := c.rest("GET", one, "", manager).want(200).get("billing_period"); got != "year" {
			t.Fatalf("billing period %v", got)
		}
		made := c.rest("POST", all, `{"billing_period":"day"}`, manager).want(201)
		c.rest("DELETE", fmt.Sprintf("%s/%v?force=true", all, made.get("id")), "", manager).want(200)
		c.rest("GET", all, "", c.as("customer")).want(403, c.branded("shop_rest_cannot_view"))
		c.rest("GET", "/shop/v1/subscriptions", "", manager).want(404, "rest_no_route")
	})
}

func TestToolServer(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		route := map[bool]string{true: "/woocommerce/mcp", false: "/shop/mcp"}[c.wp]
		tool := map[bool]string{true: "woocommerce", false: "shop"}[c.wp] + "-orders-update"
		sub := c.info.Subscriptions[0]
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"id":%d}}}`, tool, sub)
		key := with("X-MCP-API-Key", c.info.Keys.ReadWriteKey)
		newClient(t, site.Options{Release: release, Platform: c.info.Platform}).rest("POST", route, body, key).want(404, "rest_no_route")
		c.rest("POST", "/shop-admin/v1/features", `{"mcp_integration":true}`, c.as("admin")).want(400, "rest_invalid_param")
		c.rest("POST", route, body).want(401)
		a := c.rest("POST", route, body, key).want(200)
		converted := c.record(sub).Type == "shop_order"
		if converted != (release == "10.7") || a.get("result", "isError") == converted {
			t.Fatalf("converted %v: %s", converted, a.body)
		}
	}, func(o *site.Options) { o.ToolServer = true })
}
