package site_test

import (
	"fmt"
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
		whole := c.rest("POST", refunds(c.info.Orders[3]), `{"compute_totals":true}`, manager).want(201)
		if whole.get("amount") != "15.00" || c.record(c.info.Orders[3]).Status != "refunded" {
			t.Fatalf("whole order: %s", whole.body)
		}
	})
}

// refundsOf is the address of an order's refunds.
func refundsOf(order int) string { return fmt.Sprintf("/shop/v3/orders/%d/refunds", order) }

// TestRefunds_Left: what a refund took, no later one takes again.
func TestRefunds_Left(t *testing.T) {
	c := newClient(t, site.Options{})
	manager, second := c.as("manager"), c.info.Orders[1]
	item := c.record(second).Items[0].ID // two mugs
	one := fmt.Sprintf(`{"compute_totals":true,"line_items":[{"id":%d,"quantity":1}]}`, item)
	for range 2 {
		if a := c.rest("POST", refundsOf(second), one, manager).want(201); a.get("amount") != "10.00" {
			t.Fatalf("refund %s", a.body)
		}
	}
	for _, body := range []string{
		one, fmt.Sprintf(`{"compute_totals":true,"line_items":[{"id":%d}]}`, item),
		fmt.Sprintf(`{"line_items":[{"id":%d,"quantity":1}]}`, item),
	} {
		c.rest("POST", refundsOf(second), body, manager).want(400, "rest_invalid_param")
	}
	a := c.rest("POST", refundsOf(second)+"/preview", `{}`, manager).want(200) // the shipping
	if a.get("total") != "5.00" || a.get("max_refundable") != "5.00" || a.get("breakdown", "shipping") != "5.00" {
		t.Fatalf("preview %s", a.body)
	}
	c.rest("POST", refundsOf(second), `{"compute_totals":true}`, manager).want(201)
	for _, route := range []string{refundsOf(second), refundsOf(second) + "/preview"} {
		a := c.rest("POST", route, `{"compute_totals":true}`, manager).want(400, "shop_rest_cannot_create_order_refund")
		if a.get("message") != "Invalid refund amount." {
			t.Fatalf("message %v", a.get("message"))
		}
	}
	if r := c.record(second); r.Status != "refunded" {
		t.Fatalf("order is %s", r.Status)
	}
}

// TestRefunds_PartlyRefunded: one of three mugs of the seeded order is refunded.
func TestRefunds_PartlyRefunded(t *testing.T) {
	c := newClient(t, site.Options{})
	manager, third := c.as("manager"), c.info.Orders[2]
	a := c.rest("POST", refundsOf(third)+"/preview", `{}`, manager).want(200)
	if a.get("total") != "25.00" || a.get("max_refundable") != "25.00" {
		t.Fatalf("preview %s", a.body)
	}
	a = c.rest("POST", refundsOf(third), `{"compute_totals":true}`, manager).want(201)
	if a.get("amount") != "25.00" || a.get("line_items", "0", "quantity") != float64(-2) {
		t.Fatalf("refund %s", a.body)
	}

	// An amount without lines leaves less than the lines say.
	second := c.info.Orders[1]
	c.rest("POST", refundsOf(second), `{"amount":"1"}`, manager).want(201)
	for _, route := range []string{refundsOf(second), refundsOf(second) + "/preview"} {
		c.rest("POST", route, `{"compute_totals":true}`, manager).want(400, "shop_rest_cannot_create_order_refund")
	}
	one := fmt.Sprintf(`{"line_items":[{"line_item_id":%d,"quantity":1}]}`, c.record(second).Items[0].ID)
	c.rest("POST", refundsOf(second)+"/preview", one, manager).want(200)
}

// TestRefunds_Answer: signs, shipping and the form of amounts.
func TestRefunds_Answer(t *testing.T) {
	c := newClient(t, site.Options{})
	manager, second := c.as("manager"), c.info.Orders[1]
	item, shipping := c.record(second).Items[0].ID, c.record(second).Shipping.ID
	a := c.rest("POST", refundsOf(second), fmt.Sprintf(`{"compute_totals":true,"line_items":[{"id":%d,"quantity":1},{"id":%d}]}`, item, shipping), manager).want(201)
	for path, want := range map[string]any{"subtotal": "-10.00", "total": "-10.00", "quantity": float64(-1)} {
		if got := a.get("line_items", "0", path); got != want {
			t.Errorf("line's %s is %v, want %v", path, got, want)
		}
	}
	if a.get("amount") != "15.00" || a.get("shipping_lines", "0", "total") != "-5.00" {
		t.Errorf("refund %s", a.body)
	}
	c.rest("POST", refundsOf(second), fmt.Sprintf(`{"compute_totals":true,"line_items":[{"id":%d}]}`, shipping), manager).want(400, "rest_invalid_param")

	a = c.rest("POST", refundsOf(second), `{"amount":"5"}`, manager).want(201)
	if got := c.record(int(a.get("id").(float64))).Amount; a.get("amount") != "5.00" || got != "5.00" {
		t.Errorf("amount %v, stored %q", a.get("amount"), got)
	}
	if got := c.rest("GET", "/shop/v3/orders/"+id(second), "", manager).get("refunds", "1", "total"); got != "-5.00" {
		t.Errorf("listed with %v", got)
	}
}

// TestRefunds_Quantity: more pieces than the line has are refused, computed or not.
func TestRefunds_Quantity(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		first := c.info.Orders[0]
		item := c.record(first).Items[1].ID // one mug
		for _, fields := range []string{`"quantity":99`, `"quantity":-1`, `"quantity":2,"refund_total":"1.00"`} {
			for _, compute := range []string{"true", "false"} {
				body := fmt.Sprintf(`{"amount":"1.00","compute_totals":%s,"line_items":[{"id":%d,%s}]}`, compute, item, fields)
				c.rest("POST", refundsOf(first), body, c.as("manager")).want(400, "rest_invalid_param")
			}
		}
		twice := fmt.Sprintf(`{"amount":"1.00","line_items":[{"id":%d,"quantity":1},{"id":%d,"quantity":1}]}`, item, item)
		c.rest("POST", refundsOf(first), twice, c.as("manager")).want(400, "rest_invalid_param")
		if got := c.rest("GET", "/shop/v3/orders/"+id(first), "", c.as("manager")).get("refunds").([]any); len(got) != 0 {
			t.Fatalf("refunds %v", got)
		}
	})
}
