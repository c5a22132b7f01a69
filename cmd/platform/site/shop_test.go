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
		search := func(query string) []int { return c.rest("GET", "/shop/v3/products?"+query, "", manager).want(200).ids() }
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

// shopper is a guest with a cart.
type shopper struct {
	*client
	token edit
}

func (c *client) shopper(route string, products ...int) shopper {
	a := c.rest("GET", route+"/cart", "").want(200)
	s := shopper{c, with("Cart-Token", a.Header.Get("Cart-Token"))}
	for _, p := range products {
		c.rest("POST", route+"/cart/add-item", fmt.Sprintf(`{"id":%d,"quantity":2}`, p), s.token).want(201)
	}
	return s
}

// TestCheckoutTotal: E10 by release, in both spellings of the namespace.
func TestCheckoutTotal(t *testing.T) {
	for _, route := range []string{"/shop/store/v1", "/shop/store"} {
		t.Run(strings.TrimPrefix(route, "/"), func(t *testing.T) {
			releases(t, func(t *testing.T, c *client, release string) {
				mug := c.info.Products[1]
				s := c.shopper(route, mug)
				if got := c.rest("GET", route+"/cart?_fields=totals", "", s.token).get("totals", "total_price"); got != "2000" {
					t.Fatalf("total %v", got)
				}
				c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"12.34"}`, c.as("manager")).want(200)
				a := c.rest("POST", route+"/checkout", `{"expected_total":2000}`, s.token)
				if release != "11.1" {
					order := int(a.want(200).get("order_id").(float64))
					if c.record(order).Type != "shop_order" {
						t.Fatal("no order")
					}
					return
				}
				a.want(409, c.branded("shop_rest_checkout_total_mismatch"))
				if a.get("data", "cart", "totals", "total_price") != "2468" {
					t.Fatalf("data.cart %v", a.get("data", "cart"))
				}
				if got := c.site.Info().Orders; !slices.Equal(got, c.info.Orders) {
					t.Fatalf("an order was confirmed: %v", got)
				}
				c.rest("POST", route+"/checkout", `{"expected_total":""}`, s.token).want(200)
				s = c.shopper(route, mug)
				c.rest("POST", route+"/checkout", `{"expected_total":"2468"}`, s.token).want(200)
				s = c.shopper(route, mug)
				c.rest("POST", route+"/checkout", `{"expected_total":2468,"billing_address":{"country":"GB"}}`, s.token).
					want(409, c.branded("shop_rest_checkout_total_mismatch"))
				c.rest("POST", route+"/checkout", `{"expected_total":2962,"billing_address":{"country":"GB","email":"a@example.test"}}`, s.token).want(200)
				c.rest("POST", route+"/checkout", `{"expected_total":1}`, s.token).want(409, c.branded("shop_rest_cart_empty"))
			})
		})
	}
}

func TestCartSession(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		mug := c.info.Products[1]
		add := fmt.Sprintf(`{"id":%d}`, mug)
		const cart = "/shop/store/v1/cart"
		c.rest("POST", cart+"/add-item", add).want(401, c.branded("shop_rest_missing_nonce"))
		c.rest("POST", cart+"/add-item", add, with("Nonce", "x")).want(403, c.branded("shop_rest_invalid_nonce"))
		c.rest("POST", cart+"/add-item", add, with("Cart-Token", "x.y")).want(401, c.branded("shop_rest_missing_nonce"))
		c.rest("GET", "/shop/store/v1/checkout", "").want(401, c.branded("shop_rest_missing_nonce"))

		first := c.rest("GET", cart, "").want(200)
		session := withCookie(first.Cookies()[0])
		nonce := with("Nonce", first.Header.Get("Nonce"))
		added := c.rest("POST", cart+"/add-item", add, session, nonce).want(201)
		if got := c.rest("GET", cart, "", session); got.get("items_count") != float64(1) || got.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("cart %s", got.body)
		}
		c.rest("POST", cart+"/update-customer", `{"shipping_address":{"country":"GB"}}`, session, nonce).want(200)
		if got := c.rest("GET", cart, "", session).get("totals", "total_tax"); got != "200" {
			t.Fatalf("tax %v", got)
		}
		c.rest("GET", "/shop/store/v1/checkout", "", session, nonce).want(200)
		key := added.get("items", "0", "key").(string)
		c.rest("POST", cart+"/update-item", `{"key":"`+key+`","quantity":4}`, session, nonce).want(200)
		c.rest("POST", cart+"/remove-item", `{"key":"`+key+`"}`, session, nonce).want(200)
		c.rest("POST", cart+"/remove-item", `{"key":"`+key+`"}`, session, nonce).want(409, c.branded("shop_rest_cart_invalid_key"))
		c.rest("POST", cart+"/add-item", `{"id":99999}`, session, nonce).want(400, c.branded("shop_rest_cart_invalid_product"))
		c.rest("GET", "/shop/store/v1/products", "").want(200)

		// A login cookie is a user here without the REST nonce.
		cookie, _ := c.site.Nonce("customer")
		mine := c.rest("GET", cart, "", withCookie(cookie)).want(200)
		if mine.Header.Get("User-ID") != "3" {
			t.Fatalf("user %q", mine.Header.Get("User-ID"))
		}
		c.rest("POST", cart+"/add-item", add, withCookie(cookie), with("Nonce", mine.Header.Get("Nonce"))).want(201)
		order := c.rest("POST", "/shop/store/v1/checkout", "{}", withCookie(cookie), with("Nonce", mine.Header.Get("Nonce"))).want(200)
		if r := c.record(int(order.get("order_id").(float64))); r.CustomerID != 3 {
			t.Fatalf("order %+v", r)
		}
	})
}

func TestPayForOrder(t *testing.T) {
	c := newClient(t, site.Options{})
	s := c.shopper("/shop/store/v1")
	r := c.record(c.info.Orders[1])
	route := "/shop/store/v1/checkout/" + id(r.ID)
	c.rest("POST", route, `{"key":"x","billing_email":"customer@example.test"}`, s.token).want(401, "shop_rest_invalid_order")
	c.rest("POST", route, `{"key":"`+r.Key+`","billing_email":"customer@example.test"}`, s.token).want(200)
}

func TestStoreBatch(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		s := c.shopper("/shop/store/v1", c.info.Products[1])
		body := c.branded(`{"requests":[{"path":"/shop/store/v1/cart/update-customer","body":{"billing_address":{"country":"GB"}}},
			{"path":"/shop/store/v1/checkout","body":{"expected_total":1}},{"path":"/shop/store/v1/checkout"}]}`)
		a := c.rest("POST", "/shop/store/v1/batch", body, s.token).want(207)
		for i, want := range []float64{200, 409, 200} {
			if got := a.get("responses", id(i), "status"); got != want {
				t.Fatalf("part %d: %v, want %v: %s", i, got, want, a.body)
			}
		}
		for _, path := range []string{"/shop/v3/orders/1", "/shop/store/v1/batch", "///"} {
			c.rest("POST", "/shop/store/v1/batch", c.branded(`{"requests":[{"path":"`+path+`"}]}`)).want(400, c.branded("shop_rest_invalid_path"))
		}
		c.rest("POST", "/batch/v1", body).want(207)
		if got := len(c.site.Info().Orders); got != len(c.info.Orders)+1 {
			t.Fatalf("%d orders", got)
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
