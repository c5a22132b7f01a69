package site_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestComputedRefund: E5 by release. Before 11.1 the field is ignored, and
// nothing is booked.
func TestComputedRefund(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		order := c.info.Orders[0]
		item := c.record(order).Items[0]
		route := fmt.Sprintf("/shop/v3/orders/%d/refunds", order)
		body := fmt.Sprintf(`{"compute_totals":true,"api_refund":false,"line_items":[{"id":%d,"quantity":1}]}`, item.ID)
		schema := c.rest("OPTIONS", "/shop/v3/orders/0/refunds", "").get("endpoints", "1", "args", "compute_totals")
		a := c.rest("POST", route, body, c.as("manager")).want(201)
		want, known := "", false
		if release == "11.1" {
			want, known = "20.00", true
		}
		if a.get("amount") != want || (schema != nil) != known {
			t.Fatalf("amount %v, schema %v", a.get("amount"), schema)
		}
		refund := c.record(int(a.get("id").(float64)))
		if refund.Type != "shop_order_refund" || refund.Amount != want || refund.ParentID != order {
			t.Fatalf("stored %+v", refund)
		}
		line := a.get("line_items", "0").(map[string]any)
		if line["quantity"] != float64(-1) || line["total"] != map[bool]string{true: "-20.00", false: "0.00"}[known] {
			t.Fatalf("line %v", line)
		}
		if got := c.rest("GET", "/shop/v3/orders/"+id(order), "", c.as("manager")).get("refunds", "0", "total"); got != "-"+want {
			t.Fatalf("listed with %v", got)
		}
	})
}

func TestRefunds(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		manager := c.as("manager")
		refunds := func(n int) string { return fmt.Sprintf("/shop/v3/orders/%d/refunds", n) }
		c.rest("POST", refunds(c.info.Orders[1]), `{"amount":"5.00","reason":"late"}`, manager).want(201)
		c.rest("POST", refunds(c.info.Orders[1]), `{"amount":"5000"}`, manager).want(500, c.branded("shop_rest_cannot_create_order_refund"))
		c.rest("POST", refunds(c.info.Orders[1]), `{"amount":"nan"}`, manager).want(500)
		c.rest("POST", refunds(c.info.Subscriptions[0]), `{"amount":"1.00"}`, manager).want(201)
		c.rest("POST", refunds(99999), `{"amount":"1.00"}`, manager).want(500, c.branded("shop_rest_invalid_order_id"))
		c.rest("GET", refunds(99999), "", manager).want(200)
		other := fmt.Sprintf(`{"order_id":%d,"amount":"1.00"}`, c.info.Orders[0])
		if a := c.rest("POST", refunds(c.info.Orders[1]), other, manager).want(201); a.get("parent_id") != float64(c.info.Orders[0]) {
			t.Fatalf("refunded %v", a.get("parent_id"))
		}
		c.rest("GET", refunds(c.info.Orders[2])+"/"+id(c.refund()), "", manager).want(200)
		c.rest("GET", refunds(c.info.Orders[0])+"/"+id(c.refund()), "", manager).want(404, c.branded("shop_rest_shop_order_refund_invalid_id"))

		preview := refunds(c.info.Orders[0]) + "/preview"
		body := fmt.Sprintf(`{"line_items":[{"line_item_id":%d,"quantity":1}]}`, c.record(c.info.Orders[0]).Items[0].ID)
		if release != "11.1" {
			c.rest("POST", preview, body, manager).want(404, "rest_no_route")
			return
		}
		a := c.rest("POST", preview, body, manager).want(200)
		if a.get("total") != "20.00" || a.get("max_refundable") != "54.00" {
			t.Fatalf("preview %s", a.body)
		}
		if n := len(c.rest("GET", refunds(c.info.Orders[0]), "", manager).json.([]any)); n != 1 {
			t.Fatalf("%d refunds after a preview", n)
		}
		c.rest("POST", preview, `{"line_items":[{"id":1,"line_item_id":1}]}`, manager).want(400, "rest_invalid_param")
		c.rest("POST", preview, body).want(401)
		c.rest("GET", preview, "", manager).want(404, "rest_no_route")
		all := c.rest("POST", refunds(c.info.Orders[1]), `{"compute_totals":true}`, manager)
		all.want(500) // a part is refunded already
		whole := c.rest("POST", refunds(c.info.Orders[3]), `{"compute_totals":true}`, manager).want(201)
		if whole.get("amount") != "15.00" || c.record(c.info.Orders[3]).Status != "refunded" {
			t.Fatalf("whole order: %s", whole.body)
		}
	})
}

func TestProducts(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		shirt, mug := c.info.Products[0], c.info.Products[1]
		manager := c.as("manager")
		a := c.rest("GET", "/shop/v3/products/"+id(shirt), "", manager).want(200)
		if d := a.get("description").(string); !strings.Contains(d, "<div class=") || strings.Contains(d, "<!--") {
			t.Fatalf("description %q", d)
		}
		if len(c.rest("GET", fmt.Sprintf("/shop/v3/products/%d/variations", shirt), "", manager).want(200).ids()) != 2 {
			t.Fatal("variations")
		}
		search := func(query string) []int {
			return c.rest("GET", "/shop/v3/products?"+query, "", manager).want(200).ids()
		}
		if got := search("search=mug"); !slices.Equal(got, []int{mug}) {
			t.Fatalf("search %v", got)
		}
		// The condition binds to all OR groups from 11.1, before to the last only.
		want := []int{shirt, mug}
		if release == "11.1" {
			want = []int{mug}
		}
		if got := search("search=shirt+OR+mug&include=" + id(mug)); !slices.Equal(got, want) {
			t.Fatalf("search with include %v, want %v", got, want)
		}
		c.rest("GET", "/shop/v3/products/99999", "", manager).want(404, c.branded("shop_rest_product_invalid_id"))
		c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"-1"}`, manager).want(400, "rest_invalid_param")
		c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"12.34"}`).want(401, c.branded("shop_rest_cannot_edit"))
		symbols := map[string]string{"MOP": "P", "ZMW": "ZK"}
		if release == "11.1" {
			symbols = map[string]string{"MOP": "MOP$", "ZMW": "K"}
		}
		for code, symbol := range symbols {
			if got := c.rest("GET", "/shop/v3/data/currencies/"+code, "", manager).want(200).get("symbol"); got != symbol {
				t.Fatalf("%s is %v", code, got)
			}
		}
		c.rest("GET", "/shop/v3/data/currencies/XXX", "", manager).want(404)
		page := c.send("POST", map[bool]string{true: "/?woocommerce-ajax", false: "/?shop-ajax"}[c.wp]+"=get_variation", "product_id="+id(shirt))
		if !strings.Contains(string(page.want(200).body), `"variation_id":`) {
			t.Fatalf("variation %s", page.body)
		}
	})
}

func TestActivityCounts(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		const counts = "/shop-analytics/activity-panel/counts"
		view := c.branded("shop_rest_cannot_view")
		if release == "11.1" {
			a := c.rest("GET", counts, "", c.as("manager")).want(200)
			if a.get("orders_to_fulfill_count") != float64(1) || a.get("products_low_in_stock_count") != float64(1) {
				t.Fatalf("counts %s", a.body)
			}
			c.rest("GET", counts, "").want(401, view)
			c.rest("GET", counts, "", c.as("customer")).want(403, view)
		} else {
			c.rest("GET", counts, "", c.as("manager")).want(404, "rest_no_route")
		}
		a := c.rest("GET", "/shop-analytics/orders?status[]=processing&status[]=on-hold&per_page=1", "", c.as("manager")).want(200)
		if a.Header.Get(c.branded("X-cms-Total")) != "1" {
			t.Fatalf("orders %v", a.Header)
		}
		if got := c.rest("GET", "/shop-analytics/products/count-low-in-stock?status=publish", "", c.as("manager")).want(200).get("total"); got != float64(1) {
			t.Fatalf("low stock %v", got)
		}
		c.rest("GET", "/shop-analytics/products/reviews?status=hold&per_page=1", "", c.as("editor")).want(200)
		c.rest("GET", "/shop-analytics/products/reviews", "", c.as("customer")).want(403, view)
	})
}

func TestSharedState(t *testing.T) {
	c := newClient(t, site.Options{})
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 20 {
				c.rest("GET", "/shop/v3/orders?_embed&_fields=id", "", c.as("manager"))
				c.rest("PUT", "/shop/v3/orders/"+id(c.info.Orders[0]), `{"status":"completed"}`, c.as("manager"))
				c.send(http.MethodGet, "/shop/", "")
				c.site.Info()
				c.site.Record(c.info.Orders[0])
				c.site.Dispatched()
			}
		}()
	}
	for range 4 {
		<-done
	}
}
