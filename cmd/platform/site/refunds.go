package site

import "net/http"

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
// (docs/platform III.3).
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
// every release (docs/platform III.6).
func (o ordersAPI) refundOrder(q *request) (*Record, error) {
	r := o.site.records[q.int("order_id")]
	if r == nil || r.Type == typeRefund {
		return nil, fail(http.StatusInternalServerError, o.site.names.code("invalid_order_id"), "Invalid order ID.")
	}
	return r, nil
}

// createRefund books a refund. Without an amount it books none, unless
// compute_totals is known and true: so a release that ignores the field books
// 0.00 (docs/platform III.10).
func (o ordersAPI) createRefund(q *request) (any, error) {
	r, err := o.refundOrder(q)
	if err != nil {
		return nil, err
	}
	refund := &Record{Type: typeRefund, Status: "completed", ParentID: r.ID, Reason: q.str("reason")}
	given, _ := q.param("line_items")
	if o.site.since("11.1") && q.bool("compute_totals") {
		err = o.compute(r, refund, list(given), "id")
	} else {
		err = o.takeGiven(r, refund, list(given), q.str("amount"))
	}
	if err != nil {
		return nil, err
	}
	o.site.addRecord(refund)
	if o.site.refundable(r) == 0 {
		r.Status = "refunded"
	}
	return created(refundJSON(refund)), nil
}

// takeGiven fills refund with the lines and the amount as the caller gave them.
func (o ordersAPI) takeGiven(r, refund *Record, lines []any, given string) error {
	for _, v := range lines {
		fields := object(v)
		line, ok := r.line(cast(fields["id"]))
		if !ok {
			continue
		}
		if line.ID != r.Shipping.ID {
			quantity := cast(fields["quantity"])
			if quantity < 0 || quantity > o.site.unrefunded(r, line, refund).Quantity {
				return errTooMany
			}
			line.Quantity = quantity
		}
		line.Total, _ = amount(fields["refund_total"])
		line.Tax = 0
		refund.take(r, line)
	}
	if given == "" {
		return nil
	}
	booked, ok := amount(given)
	if !ok || booked <= 0 || booked > o.site.refundable(r) {
		return o.invalidAmount(http.StatusInternalServerError)
	}
	refund.Amount = booked.String()
	return nil
}

func (o ordersAPI) invalidAmount(status int) error {
	return fail(status, o.site.names.code("cannot_create_order_refund"), "Invalid refund amount.")
}

// refundJSON is a refund as its routes show it, all numbers negative.
func refundJSON(r *Record) obj {
	lines := []obj{}
	for _, item := range r.Items {
		lines = append(lines, itemJSON(negative(item)))
	}
	return obj{
		"id": r.ID, "parent_id": r.ParentID, "date_created": r.Created.UTC().Format(date), "amount": r.Amount,
		"reason": r.Reason, "refunded_payment": false, "line_items": lines, "shipping_lines": shippingJSON(negative(r.Shipping)),
		"meta_data": []any{},
	}
}

func negative(item Item) Item {
	item.Quantity, item.Total, item.Tax = -item.Quantity, -item.Total, -item.Tax
	return item
}
