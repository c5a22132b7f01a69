package site

import (
	"net/http"
	"slices"
	"strings"
)

func (s *Site) errEmptyCart() *Error {
	return fail(http.StatusConflict, s.names.code("cart_empty"), "Cannot create order from empty cart.")
}

// draftCheckout shows what a checkout would order.
func draftCheckout(q *request, se *session) (any, error) {
	if len(se.cart.lines) == 0 {
		return nil, q.site.errEmptyCart()
	}
	return obj{
		"order_id": 0, "status": "checkout-draft", "billing_address": obj{"country": se.cart.Country, "email": se.cart.Email},
		"shipping_address": obj{"country": se.cart.delivery()}, "payment_method": "",
	}, nil
}

// submitCheckout orders the cart. From 11.1 an expected_total that differs from
// the server's refuses before an order exists; the addresses of the call are
// applied first (docs/project/interface 7, docs/platform III.9).
func submitCheckout(q *request, se *session) (any, error) {
	s := q.site
	if len(se.cart.lines) == 0 {
		return nil, s.errEmptyCart()
	}
	se.cart.address(q)
	items, _, total := s.cartTotal(se.cart)
	if expected := money(q.int("expected_total")); s.since("11.1") && q.str("expected_total") != "" && expected != total {
		return nil, &Error{
			Status: http.StatusConflict, Code: s.names.code("checkout_total_mismatch"),
			Message: "The total has changed from " + expected.minor() + " to " + total.minor() + ". Please review your order.",
			Data:    obj{"cart": s.cartJSON(se.cart)},
		}
	}
	r := &Record{
		Type: typeOrder, Status: "pending", Addresses: se.cart.Addresses,
		CustomerNote: q.str("customer_note"), Items: s.cartItems(se.cart),
	}
	if items > 0 {
		r.Status = "processing"
	}
	for i := range r.Items {
		r.Items[i].ID = s.id()
	}
	if q.user != nil {
		r.CustomerID = q.user.id
	}
	s.addRecord(r)
	delete(s.carts, se.key)
	return checkoutJSON(r), nil
}

func checkoutJSON(r *Record) obj {
	return obj{
		"order_id": r.ID, "status": r.Status, "order_key": r.Key, "customer_id": r.CustomerID, "customer_note": r.CustomerNote,
		"billing_address": obj{"country": r.Country, "email": r.Email}, "shipping_address": obj{"country": r.delivery()},
		"payment_method": "bacs", "payment_result": obj{"payment_status": "success", "payment_details": []any{}, "redirect_url": ""},
		"totals": obj{"total_price": r.total().minor(), "currency_minor_unit": 2},
	}
}

// payForOrder pays an order that exists, for whoever has its key and e-mail.
func payForOrder(q *request, _ *session) (any, error) {
	r := q.site.records[q.int("id")]
	mine := r != nil && r.Type == typeOrder && (q.user != nil && q.user.id == r.CustomerID ||
		equal(q.str("key"), r.Key) && strings.EqualFold(q.str("billing_email"), r.Email))
	if !mine {
		return nil, fail(http.StatusUnauthorized, q.site.names.code("invalid_order"), "Invalid order ID or key provided.")
	}
	if r.Status == "pending" || r.Status == "failed" {
		r.Status = "processing"
	}
	return checkoutJSON(r), nil
}

// storeProducts lists what can be bought, for everybody.
func storeProducts(q *request) (any, error) {
	out := []obj{}
	for _, id := range sortedKeys(q.site.products) {
		p := q.site.products[id]
		include := q.ints("include")
		if p.status != "publish" || len(include) > 0 && !slices.Contains(include, id) {
			continue
		}
		out = append(out, obj{
			"id": p.id, "name": p.name, "type": p.kind, "description": q.site.renderBlocks(p.description),
			"prices": obj{"price": p.price.minor(), "currency_code": currency, "currency_minor_unit": 2},
		})
	}
	return page(q, out), nil
}
