package site_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

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

// TestCheckoutTotal_Type: the field is an integer in whatever spelling, or
// empty; anything else is refused before an order exists.
func TestCheckoutTotal_Type(t *testing.T) {
	const checkout = "/shop/store/v1/checkout"
	both(t, site.Options{}, func(t *testing.T, c *client) {
		for _, bad := range []string{`[1]`, `[2000]`, `{"a":1}`, `false`, `true`, `"abc"`, `2000.5`, `"2000x"`} {
			s := c.shopper("/shop/store/v1", c.info.Products[1])
			a := c.rest("POST", checkout, `{"expected_total":`+bad+`}`, s.token).want(400, "rest_invalid_param")
			if a.get("message") != "Invalid parameter(s): expected_total" || a.get("data", "params", "expected_total") == nil {
				t.Fatalf("%s: %s", bad, a.body)
			}
		}
		if got := c.site.Info().Orders; !slices.Equal(got, c.info.Orders) {
			t.Fatalf("an order was confirmed: %v", got)
		}
		for _, good := range []string{`2000`, `"2000"`, `2000.0`, `2e3`, `" 2000 "`, `null`, `""`} {
			s := c.shopper("/shop/store/v1", c.info.Products[1])
			c.rest("POST", checkout, `{"expected_total":`+good+`}`, s.token).want(200)
		}
		for _, stale := range []string{`1999`, `0`, `-2000`, `"2e9"`} {
			s := c.shopper("/shop/store/v1", c.info.Products[1])
			c.rest("POST", checkout, `{"expected_total":`+stale+`}`, s.token).want(409, c.branded("shop_rest_checkout_total_mismatch"))
		}
	})
	old := newClient(t, site.Options{Release: "10.8"})
	s := old.shopper("/shop/store/v1", old.info.Products[1])
	old.rest("POST", checkout, `{"expected_total":[1]}`, s.token).want(200)
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
		// Whatever else is sent, and nobody is refused for it.
		for _, other := range []edit{with("X-WP-Nonce", "old"), with("Authorization", "Bearer x"), with("Authorization", "Basic eDp5")} {
			if got := c.rest("GET", cart, "", withCookie(cookie), other).want(200).Header.Get("User-ID"); got != "3" {
				t.Fatalf("user %q", got)
			}
			if got := c.rest("GET", cart, "", other).want(200).Header.Get("User-ID"); got != "0" {
				t.Fatalf("user %q", got)
			}
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
