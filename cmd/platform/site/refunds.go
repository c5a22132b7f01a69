package site

import (
	"net/http"
	"slices"
)

func (o ordersAPI) refundRoutes() {
	rt, n := &o.site.router, o.site.names
	order := args{"order_id": {Type: "integer"}}
	fields := order.with(args{
		"amount": {Type: "string"}, "reason": {Type: "string"}, "refunded_by": {Type: "integer"},
		"api_refund": {Type: "boolean", Default: true}, "api_restock": {Type: "boolean", Default: true},
		"meta_data": {Type: "array"},
	})
	if o.site.since("11.1") {
		fields["compute_totals"] = arg{
			Type: "boolean", Default: false,
			Description: "When true, product amounts, shipping and tax are computed from the order lines.",
		}
	}
	mayRefund := needs("publish_shop_orders", n.code("cannot_create"), "Sorry, you are not allowed to create resources.")
	rt.add(o.namespace, pathf("/orders/%s/refunds", "order_id"), reading, endpoint{
		args:  order,
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot list resources."), run: o.listRefunds,
	})
	rt.add(o.namespace, pathf("/orders/%s/refunds", "order_id"), creating, endpoint{args: fields, allow: mayRefund, run: o.createRefund})
	if o.version == 3 && o.site.since("11.1") {
		rt.add(o.namespace, pathf("/orders/%s/refunds/preview", "order_id"), creating, endpoint{
			args: order, allow: mayRefund, run: o.previewRefund,
		})
	}
	rt.add(o.namespace, pathf("/orders/%s/refunds/%s", "order_id", "id"), reading, endpoint{
		args:  order.with(args{"id": {Type: "integer"}}),
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot view this resource."), run: o.getRefund,
	})
}

// listRefunds answers 200 for any id, even one that does not exist
// (platform-facts III.3).
func (o ordersAPI) listRefunds(q *request) (any, error) {
	out := []obj{}
	for _, r := range o.site.children(q.int("order_id"), typeRefund) {
		out = append(out, refundJSON(r))
	}
	return out, nil
}

func (o ordersAPI) getRefund(q *request) (any, error) {
	r := o.site.records[q.int("id")]
	if r == nil || r.Type != typeRefund || r.ParentID != q.int("order_id") {
		return nil, fail(http.StatusNotFound, o.site.names.code("shop_order_refund_invalid_id"), "Invalid ID.")
	}
	return refundJSON(r), nil
}

// refundOrder is the record that a refund is made on; a subscription passes in
// every release (platform-facts III.6).
func (o ordersAPI) refundOrder(q *request) (*Record, error) {
	r := o.site.records[q.int("order_id")]
	if r == nil || r.Type == typeRefund {
		return nil, fail(http.StatusInternalServerError, o.site.names.code("invalid_order_id"), "Invalid order ID.")
	}
	return r, nil
}

// createRefund books a refund. Without an amount it books none, unless
// compute_totals is known and true: so a release that ignores the field books
// 0.00 (platform-facts III.10).
func (o ordersAPI) createRefund(q *request) (any, error) {
	r, err := o.refundOrder(q)
	if err != nil {
		return nil, err
	}
	refund := &Record{Type: typeRefund, Status: "completed", ParentID: r.ID, Reason: q.str("reason")}
	given, _ := q.param("line_items")
	if o.site.since("11.1") && q.bool("compute_totals") {
		sum, err := o.compute(r, list(given), "id")
		if err != nil {
			return nil, err
		}
		refund.Items, refund.Amount = sum.items, sum.total().String()
	} else {
		refund.Amount, refund.Items = q.str("amount"), givenLines(r, list(given))
	}
	booked, ok := amount(refund.Amount)
	if refund.Amount != "" && (!ok || booked <= 0 || booked > o.site.refundable(r)) {
		return nil, fail(http.StatusInternalServerError, o.site.names.code("cannot_create_order_refund"), "Invalid refund amount.")
	}
	o.site.addRecord(refund)
	if o.site.refundable(r) == 0 {
		r.Status = "refunded"
	}
	return created(refundJSON(refund)), nil
}

// givenLines are the lines as the caller gave them, with the amounts given.
func givenLines(r *Record, lines []any) []Item {
	var out []Item
	for _, v := range lines {
		fields := object(v)
		i := slices.IndexFunc(r.Items, func(item Item) bool { return item.ID == cast(fields["id"]) })
		if i < 0 {
			continue
		}
		item := r.Items[i]
		item.Quantity = cast(fields["quantity"])
		item.Total, _ = amount(fields["refund_total"])
		item.Tax = 0
		out = append(out, item)
	}
	return out
}

// refundable is what is left of a record's total.
func (s *Site) refundable(r *Record) money {
	left := r.total()
	for _, refund := range s.children(r.ID, typeRefund) {
		booked, _ := amount(refund.Amount)
		left -= booked
	}
	return max(left, 0)
}

// computed is a refund worked out from the order's lines.
type computed struct {
	items          []Item
	products, tax  money
	shipping       money
	shippingRefund bool
}

func (c computed) total() money { return c.products + c.shipping + c.tax }

// compute works out a refund of some lines of r, named by key ("id", in a
// preview "line_item_id"), or, without lines, of the whole order.
func (o ordersAPI) compute(r *Record, lines []any, key string) (computed, error) {
	var c computed
	if len(lines) == 0 {
		for _, item := range r.Items {
			c.add(item, item.Quantity)
		}
		c.addShipping(r)
		return c, nil
	}
	for _, v := range lines {
		fields := object(v)
		if fields["id"] != nil && fields["line_item_id"] != nil || fields[key] == nil {
			return c, errInvalidParam("line_items", "Each line needs "+key+", and only that.")
		}
		id := cast(fields[key])
		if id == r.Shipping.ID && id != 0 {
			c.addShipping(r)
			continue
		}
		i := slices.IndexFunc(r.Items, func(item Item) bool { return item.ID == id })
		if i < 0 {
			return c, fail(http.StatusBadRequest, o.site.names.code("invalid_item_id"),
				"Order item ID provided is not associated with order.")
		}
		quantity := r.Items[i].Quantity
		if fields["quantity"] != nil {
			quantity = cast(fields["quantity"])
		}
		if quantity < 0 || quantity > r.Items[i].Quantity {
			return c, errInvalidParam("line_items", "The quantity exceeds that of the order.")
		}
		c.add(r.Items[i], quantity)
	}
	return c, nil
}

// add refunds some pieces of a line with their share of its total and tax.
func (c *computed) add(item Item, quantity int) {
	if item.Quantity > 0 {
		item.Total = item.Total * money(quantity) / money(item.Quantity)
		item.Tax = item.Tax * money(quantity) / money(item.Quantity)
	}
	item.Quantity = quantity
	c.items = append(c.items, item)
	c.products += item.Total
	c.tax += item.Tax
}

func (c *computed) addShipping(r *Record) {
	if !c.shippingRefund {
		c.shippingRefund = true
		c.shipping += r.Shipping.Total
		c.tax += r.Shipping.Tax
	}
}

// previewRefund computes without booking (interface document E6).
func (o ordersAPI) previewRefund(q *request) (any, error) {
	r, err := o.refundOrder(q)
	if err != nil {
		return nil, err
	}
	given, _ := q.param("line_items")
	sum, err := o.compute(r, list(given), "line_item_id")
	if err != nil {
		return nil, err
	}
	lines := []obj{}
	for _, item := range sum.items {
		lines = append(lines, obj{
			"line_item_id": item.ID, "quantity": item.Quantity, "total": item.Total.String(), "tax": item.Tax.String(),
		})
	}
	return obj{
		"breakdown": obj{"line_items": lines, "shipping": sum.shipping.String()},
		"subtotal":  (sum.products + sum.shipping).String(), "tax": sum.tax.String(), "total": sum.total().String(),
		"max_refundable": o.site.refundable(r).String(),
	}, nil
}

func refundJSON(r *Record) obj {
	lines := []obj{}
	for _, item := range r.Items {
		line := itemJSON(item)
		line["quantity"] = -item.Quantity
		line["total"] = (-item.Total).String()
		line["total_tax"] = (-item.Tax).String()
		lines = append(lines, line)
	}
	return obj{
		"id": r.ID, "parent_id": r.ParentID, "date_created": r.Created.UTC().Format(date), "amount": r.Amount,
		"reason": r.Reason, "refunded_payment": false, "line_items": lines, "shipping_lines": []any{}, "meta_data": []any{},
	}
}
