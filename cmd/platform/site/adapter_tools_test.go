package site_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestAdapter_Lists: what a server says that it offers.
func TestAdapter_Lists(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		a := c.agent("admin")
		for _, row := range []struct{ route, method, key, name, want string }{
			{c.info.Routes.Tools, "tools/list", "tools", "name", "mcp-adapter-discover-abilities mcp-adapter-execute-ability mcp-adapter-get-ability-info"},
			{c.info.Routes.Tools, "resources/list", "resources", "uri", ""},
			{c.info.Routes.Tools, "prompts/list", "prompts", "name", ""},
			{c.info.Routes.ShopTools, "tools/list", "tools", "name", "shop-order-update-status shop-orders-query shop-product-delete shop-product-update shop-products-query shop-stock-count store_hours"},
			{c.info.Routes.ShopTools, "resources/list", "resources", "uri", "shop://products"},
			{c.info.Routes.ShopTools, "prompts/list", "prompts", "name", "shop-answer-customer"},
		} {
			got := a.message(row.route, `{"jsonrpc":"2.0","id":1,"method":"`+row.method+`"}`).want(200)
			var names []string
			for i := range got.get("result", row.key).([]any) {
				names = append(names, strings.Replace(got.get("result", row.key, fmt.Sprint(i), row.name).(string), c.shop()+"-", "shop-", 1))
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != row.want {
				t.Errorf("%s %s: %s", row.route, row.method, got)
			}
		}
		got := a.message(c.info.Routes.ShopTools, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		hints := map[string]any{}
		for i := range got.get("result", "tools").([]any) {
			tool := got.get("result", "tools", fmt.Sprint(i)).(map[string]any)
			hints[tool["name"].(string)] = tool["annotations"].(map[string]any)["destructiveHint"]
		}
		if hints[c.shop()+"-product-delete"] != true || hints[c.shop()+"-product-update"] != false {
			t.Errorf("destructive: %v", hints)
		}
	})
}

// TestAdapter_Default: the three tools of the default server (docs/platform IV.3, 5 to 7).
func TestAdapter_Default(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		a, shop, mug := c.agent("admin"), c.shop(), c.info.Products[1]
		tool := func(name, arguments string) *answer {
			t.Helper()
			return a.call(c.info.Routes.Tools, "mcp-adapter-"+name, strings.ReplaceAll(arguments, "<shop>", shop)).want(200)
		}
		found := string(tool("discover-abilities", "{}").body)
		for id, there := range map[string]bool{"products-query": true, "product-delete": true, "stock-count": false, "product-catalog": false} {
			if strings.Contains(found, fmt.Sprintf(`"name":"%s/%s"`, shop, id)) != there {
				t.Errorf("%s found: %t in %s", id, !there, found)
			}
		}
		for _, row := range []struct {
			tool, arguments, text string
			ran                   string
		}{
			{"get-ability-info", `{"ability_name":"<shop>/product-delete"}`, `"destructive":true`, ""},
			{"get-ability-info", `{"ability_name":"core/get-site-info"}`, "is not exposed via MCP", ""},
			{"execute-ability", `{"ability_name":"<shop>/products-query","parameters":{"search":"mug"}}`, `"name":"Mug"`, "shop/products-query"},
			{"execute-ability", `{"ability_name":"<shop>/products-query","parameters":[],"x":1}`, `"name":"Mug"`, "shop/products-query"},
			{"execute-ability", `{"ability_name":"x/y","parameters":{},"ability_name":"<shop>/products-query"}`, `"name":"Mug"`, "shop/products-query"},
			{"execute-ability", fmt.Sprintf(`{"ability_name":"<shop>/product-update","parameters":{"id":"%d","stock_quantity":3}}`, mug), `"stock_quantity":3`, "shop/product-update"},
			{"execute-ability", `{"ability_name":"<shop>/product-catalog","parameters":{}}`, `"name":"Mug"`, "shop/product-catalog"},
			{"execute-ability", `{"ability_name":"<shop>/answer-customer","parameters":{"topic":"a cup"}}`, "about a cup", "shop/answer-customer"},
			{"execute-ability", `{"ability_name":"<shop>/products-query"}`, "is not of type object", ""},
			{"execute-ability", `{"ability_name":"<shop>/products-query","parameters":"x"}`, "is not of type object", ""},
			{"execute-ability", `{"ability_name":"<shop>/products-query","parameters":{"x":1}}`, "has invalid input", ""},
			{"execute-ability", `{"AbilityName":"<shop>/products-query","parameters":{}}`, "name is required", ""},
			{"execute-ability", `{"ability_name":["<shop>/products-query"],"parameters":{}}`, "name is required", ""},
			{"execute-ability", `{"ability_name":"<shop>/products-query ","parameters":{}}`, "not found", ""},
			{"execute-ability", `{"ability_name":"<shop>-products-query","parameters":{}}`, "not found", ""},
			{"execute-ability", `{"ability_name":"mcp-adapter/execute-ability","parameters":{}}`, "not found", ""},
			{"execute-ability", `{"ability_name":"<shop>/stock-count","parameters":{}}`, "is not exposed via MCP", ""},
			{"execute-ability", `{"ability_name":"core/get-site-info","parameters":{}}`, "is not exposed via MCP", ""},
		} {
			before, got := len(c.site.Ran()), tool(row.tool, row.arguments)
			ran := strings.Join(c.ranSince(before), " ")
			if ran != row.ran || !strings.Contains(fmt.Sprint(got.get("result", "content", "0", "text")), row.text) {
				t.Errorf("%s %s: ran %q, %s", row.tool, row.arguments, ran, got.body)
			}
			if isError := got.get("result", "isError"); row.tool == "execute-ability" && isError != (row.ran == "") {
				t.Errorf("%s %s: isError %v", row.tool, row.arguments, isError)
			}
		}
		tool("execute-ability", fmt.Sprintf(`{"ability_name":"<shop>/product-delete","parameters":{"id":%d}}`, mug))
		if _, there := c.site.Record(mug); there {
			t.Error("the product is still there")
		}
	})
}

// TestAdapter_Names: the id of an ability and the name of its tool, by every door.
func TestAdapter_Names(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		a, shop, shirt := c.agent("manager"), c.shop(), c.info.Products[0]
		list := c.rest("GET", c.branded("/cms-abilities/v1/abilities"), "", c.as("manager")).want(200)
		public := map[string]any{}
		for i := range list.json.([]any) {
			meta := list.get(fmt.Sprint(i), "meta").(map[string]any)
			public[list.get(fmt.Sprint(i), "name").(string)] = meta["mcp"]
		}
		for id, want := range map[string]string{
			"core/get-site-info": "<nil>", shop + "/products-query": "map[public:true type:tool]",
			shop + "/product-catalog": "map[public:true type:resource]", shop + "/answer-customer": "map[public:true type:prompt]",
		} {
			if got, there := public[id]; !there || fmt.Sprint(got) != want {
				t.Errorf("%s: meta.mcp %v, want %s", id, got, want)
			}
		}
		if _, there := public[shop+"/stock-count"]; there {
			t.Error("the ability of the shop's own server is shown in REST")
		}
		a.call(c.info.Routes.ShopTools, shop+"-product-update", fmt.Sprintf(`{"id":%d,"name":"Blouse"}`, shirt)).want(200)
		a.call(c.info.Routes.ShopTools, shop+"-order-update-status", fmt.Sprintf(`{"id":%d,"status":"completed"}`, c.info.Subscriptions[0])).want(200)
		if r, _ := c.site.Record(shirt); r.Items[0].Name != "Blouse" || c.record(c.info.Subscriptions[0]).Status != "active" {
			t.Errorf("the product is %+v", r)
		}
		a.call(c.info.Routes.ShopTools, shop+"-product-delete", fmt.Sprintf(`{"id":%d}`, shirt)).want(200)
		if _, there := c.site.Record(shirt); there {
			t.Error("the product is still there")
		}
		if got := strings.Join(c.ranSince(0), " "); got != "shop/product-update shop/order-update-status shop/product-delete" {
			t.Errorf("ran %s", got)
		}
	})
}
