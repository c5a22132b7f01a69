package site_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestOrderItems_Refused: a line that makes no sense is refused, and no line of
// the order changes, on orders and subscriptions alike.
func TestOrderItems_Refused(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		order := c.record(c.info.Orders[0])
		mug, item := c.info.Products[1], order.Items[0]
		rows := []struct{ lines, code string }{
			{`"x"`, "rest_invalid_param"},
			{`[1]`, "rest_invalid_param"},
			{`["x"]`, "rest_invalid_param"},
			{`[[]]`, "rest_invalid_param"},
			{`[null]`, "rest_invalid_param"},
			{`5`, "rest_invalid_param"},
			{`[{}]`, "shop_rest_required_product_reference"},
			{`[{"quantity":2}]`, "shop_rest_required_product_reference"},
			{`[{"product_id":99999}]`, "order_item_product_invalid_product_id"},
			{`[{"product_id":"x"}]`, "order_item_product_invalid_product_id"},
			{fmt.Sprintf(`[{"product_id":%d,"variation_id":99999}]`, mug), "order_item_product_invalid_variation_id"},
			{fmt.Sprintf(`[{"product_id":%d,"quantity":-1}]`, mug), "rest_invalid_param"},
			{fmt.Sprintf(`[{"product_id":%d,"quantity":0}]`, mug), "rest_invalid_param"},
			{fmt.Sprintf(`[{"product_id":%d,"quantity":"x"}]`, mug), "rest_invalid_param"},
			{fmt.Sprintf(`[{"product_id":%d},{"product_id":99999}]`, mug), "order_item_product_invalid_product_id"},
			{fmt.Sprintf(`[{"id":%d,"quantity":0},{"id":1}]`, item.ID), "shop_rest_invalid_item_id"},
			{fmt.Sprintf(`[{"id":%d,"quantity":-1}]`, item.ID), "rest_invalid_param"},
			{fmt.Sprintf(`[{"id":%d,"quantity":1.5}]`, item.ID), "rest_invalid_param"},
			{fmt.Sprintf(`[{"id":%d,"product_id":99999}]`, item.ID), "order_item_product_invalid_product_id"},
			{fmt.Sprintf(`[{"id":%d,"variation_id":99999}]`, item.ID), "order_item_product_invalid_variation_id"},
		}
		for _, row := range rows {
			body := `{"line_items":` + row.lines + `}`
			c.rest("PUT", "/shop/v3/orders/"+id(order.ID), body, c.as("manager")).want(400, c.branded(row.code))
			if got := c.record(order.ID); !reflect.DeepEqual(got, order) {
				t.Fatalf("%s: changed to %+v", row.lines, got.Items)
			}
		}
		for _, lines := range []string{`"x"`, `[1]`, `[{"product_id":99999}]`} {
			body := `{"line_items":` + lines + `}`
			c.rest("POST", "/shop/v3/orders", body, c.as("manager")).want(400)
			c.rest("PUT", "/shop/v3/subscriptions/"+id(c.info.Subscriptions[0]), body, c.as("manager")).want(400)
		}
	})
}

// TestOrderItems_Price: a line is priced anew only where it holds something else.
func TestOrderItems_Price(t *testing.T) {
	c := newClient(t, site.Options{})
	order, mug := c.info.Orders[1], c.info.Products[1]
	item := c.record(order).Items[0] // two mugs, 20.00
	set := func(fields string) site.Item {
		t.Helper()
		c.rest("PUT", "/shop/v3/orders/"+id(order), fmt.Sprintf(`{"line_items":[{"id":%d%s}]}`, item.ID, fields), c.as("manager")).want(200)
		return c.record(order).Items[0]
	}
	if got := set(`,"total":"15.00"`); got.Total != 1500 {
		t.Fatalf("given total: %+v", got)
	}
	c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"99.00"}`, c.as("manager")).want(200)
	for _, same := range []string{``, fmt.Sprintf(`,"product_id":%d`, mug), `,"quantity":2`, `,"variation_id":0`} {
		if got := set(same); got.Total != 1500 {
			t.Errorf("%s: priced anew, %+v", same, got)
		}
	}
	if got := set(`,"quantity":1`); got.Total != 9900 {
		t.Errorf("another quantity: %+v", got)
	}
	if got := set(fmt.Sprintf(`,"product_id":%d`, c.info.Products[0])); got.Total != 2000 {
		t.Errorf("another product: %+v", got)
	}
	c.rest("PUT", "/shop/v3/orders/"+id(order), fmt.Sprintf(`{"line_items":[{"id":%d,"quantity":0}]}`, item.ID), c.as("manager")).want(200)
	if got := c.record(order).Items; len(got) != 0 {
		t.Errorf("quantity 0 leaves %+v", got)
	}
}

func TestOrderMeta(t *testing.T) {
	c := newClient(t, site.Options{})
	order := "/shop/v3/orders/" + id(c.info.Orders[0])
	body := `{"meta_data":[{"key":"a","value":{"b":[1,"c"]}},{"key":"d","value":"e"},{"key":"f","value":7}]}`
	c.rest("PUT", order, body, c.as("manager")).want(200)
	a := c.rest("GET", order, "", c.as("manager")).want(200)
	if a.get("meta_data", "0", "value", "b", "1") != "c" || a.get("meta_data", "1", "value") != "e" || a.get("meta_data", "2", "value") != float64(7) {
		t.Fatalf("meta %v", a.get("meta_data"))
	}
	c.rest("PUT", order, `{"meta_data":["x"]}`, c.as("manager")).want(400, "rest_invalid_param")
}

// TestOrderCurrency: the symbols of section 9 show on orders.
func TestOrderCurrency(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		symbols := map[string]string{"MOP": "P", "ZMW": "ZK", "EUR": "€"}
		if release == "11.1" {
			symbols["MOP"], symbols["ZMW"] = "MOP$", "K"
		}
		for code, symbol := range symbols {
			body := `{"currency":"` + code + `"}`
			created := c.rest("POST", "/shop/v3/orders", body, c.as("manager")).want(201)
			updated := c.rest("PUT", "/shop/v3/orders/"+id(c.info.Orders[0]), body, c.as("manager")).want(200)
			for _, a := range []*answer{created, updated} {
				if a.get("currency") != code || a.get("currency_symbol") != symbol {
					t.Errorf("%s: %v %v", code, a.get("currency"), a.get("currency_symbol"))
				}
			}
		}
		c.rest("POST", "/shop/v3/orders", `{"currency":"XXX"}`, c.as("manager")).want(400, "rest_invalid_param")
		if a := c.rest("GET", "/shop/v3/orders/"+id(c.info.Orders[1]), "", c.as("manager")); a.get("currency") != "USD" || a.get("currency_symbol") != "$" {
			t.Errorf("the shop's own: %v", a.get("currency"))
		}
	})
}

// TestOrderTax: an order that is made through REST costs what a checkout of the same
// products to the same address costs.
func TestOrderTax(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		mug, size := c.info.Products[1], c.record(c.info.Orders[0]).Items[0].VariationID
		lines := fmt.Sprintf(`"line_items":[{"product_id":%d,"quantity":2},{"product_id":%d,"variation_id":%d,"quantity":2}]`, mug, c.info.Products[0], size)
		for addresses, tax := range map[string]string{
			`"billing%[1]s":{"country":"GB"}`:                                  "12.00",
			`"billing%[1]s":{"country":"de"}`:                                  "11.40",
			`"billing%[1]s":{"country":"US"},"shipping%[1]s":{"country":"FR"}`: "12.00",
			`"billing%[1]s":{"country":"GB"},"shipping%[1]s":{"country":"US"}`: "0.00",
			`"billing%[1]s":{"email":"a@example.test"},"shipping%[1]s":{}`:     "0.00",
		} {
			checkout := c.shopper("/shop/store/v1", mug, size)
			bought := checkout.rest("POST", "/shop/store/v1/checkout", "{"+fmt.Sprintf(addresses, "_address")+"}", checkout.token).want(200)
			want := c.rest("GET", fmt.Sprintf("/shop/v3/orders/%v", bought.get("order_id")), "", c.as("manager")).want(200)
			made := c.rest("POST", "/shop/v3/orders", "{"+lines+","+fmt.Sprintf(addresses, "")+"}", c.as("manager")).want(201)
			later := c.rest("POST", "/shop/v3/orders", "{"+lines+"}", c.as("manager")).want(201)
			moved := c.rest("PUT", fmt.Sprintf("/shop/v3/orders/%v", later.get("id")), "{"+fmt.Sprintf(addresses, "")+"}", c.as("manager")).want(200)
			for _, got := range []*answer{want, made, moved} {
				for _, path := range [][]string{{"total_tax"}, {"total"}, {"line_items", "0", "total_tax"}, {"line_items", "1", "total_tax"}, {"billing", "country"}, {"shipping", "country"}} {
					if got.get(path...) != want.get(path...) {
						t.Errorf("%s: %v is %v, at checkout %v", addresses, path, got.get(path...), want.get(path...))
					}
				}
				if got.get("total_tax") != tax {
					t.Errorf("%s: tax %v, want %s", addresses, got.get("total_tax"), tax)
				}
			}
		}
	})
}
