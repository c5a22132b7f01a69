package site

import "net/http"

// line finds a line of r by its id; shipping is one too.
func (r *Record) line(id int) (line Item, ok bool) {
	for _, line := range append([]Item{r.Shipping}, r.Items...) {
		if line.ID == id && id != 0 {
			return line, true
		}
	}
	return Item{}, false
}

// take adds a line of order to the refund r. It keeps its id, by which later
// refunds know what is gone.
func (r *Record) take(order *Record, line Item) {
	if line.ID == order.Shipping.ID {
		r.Shipping = line
	} else {
		r.Items = append(r.Items, line)
	}
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

// unrefunded is what of a line of r no refund has taken, draft included, the
// one that is being made.
func (s *Site) unrefunded(r *Record, line Item, draft *Record) Item {
	for _, refund := range append(s.children(r.ID, typeRefund), draft) {
		if taken, ok := refund.taken(line.ID); ok {
			line.Quantity -= taken.Quantity
			line.Total = max(line.Total-taken.Total, 0)
			line.Tax = max(line.Tax-taken.Tax, 0)
		}
	}
	return line
}

// taken sums up what the refund r takes of a line: one refund may name it twice.
func (r *Record) taken(id int) (sum Item, ok bool) {
	for _, line := range append([]Item{r.Shipping}, r.Items...) {
		if line.ID == id {
			sum.Quantity += line.Quantity
			sum.Total += line.Total
			sum.Tax += line.Tax
			ok = true
		}
	}
	return sum, ok
}

var errTooMany = errInvalidParam("line_items", "The quantity exceeds what is left of the order's line.")

// compute fills refund with the lines that key names ("id", in a preview
// "line_item_id"), or, without lines, with all that is left of r, and sets its
// amount.
func (o ordersAPI) compute(r, refund *Record, lines []any, key string) error {
	for _, v := range lines {
		if err := o.computeLine(r, refund, object(v), key); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		for _, line := range append([]Item{r.Shipping}, r.Items...) {
			if line = o.site.unrefunded(r, line, refund); line.Quantity > 0 || line.Total > 0 {
				refund.take(r, line)
			}
		}
	}
	// An amount that was refunded without lines may leave less than they say.
	if sum := refund.total(); sum <= 0 || sum > o.site.refundable(r) {
		return o.invalidAmount(http.StatusBadRequest)
	}
	refund.Amount = refund.total().String()
	return nil
}

// computeLine takes some pieces of a line with their share of its total and
// tax, or the shipping.
func (o ordersAPI) computeLine(r, refund *Record, fields obj, key string) error {
	if fields["id"] != nil && fields["line_item_id"] != nil || fields[key] == nil {
		return errInvalidParam("line_items", "Each line needs "+key+", and only that.")
	}
	line, ok := r.line(cast(fields[key]))
	if !ok {
		return fail(http.StatusBadRequest, o.site.names.code("invalid_item_id"),
			"Order item ID provided is not associated with order.")
	}
	line = o.site.unrefunded(r, line, refund)
	if line.ID == r.Shipping.ID {
		if line.Total <= 0 {
			return errInvalidParam("line_items", "The shipping is refunded already.")
		}
		refund.take(r, line)
		return nil
	}
	quantity := line.Quantity
	if v := fields["quantity"]; v != nil {
		if quantity, ok = integer(v); !ok {
			return errInvalidParam("line_items", "The quantity is not an integer.")
		}
	}
	if quantity < 1 || quantity > line.Quantity {
		return errTooMany
	}
	line.Total = line.Total * money(quantity) / money(line.Quantity)
	line.Tax = line.Tax * money(quantity) / money(line.Quantity)
	line.Quantity = quantity
	refund.take(r, line)
	return nil
}

// previewRefund computes without booking (docs/project/interface E6).
func (o ordersAPI) previewRefund(q *request) (any, error) {
	r, err := o.refundOrder(q)
	if err != nil {
		return nil, err
	}
	refund := &Record{}
	given, _ := q.param("line_items")
	if err := o.compute(r, refund, list(given), "line_item_id"); err != nil {
		return nil, err
	}
	lines := []obj{}
	for _, item := range refund.Items {
		lines = append(lines, obj{
			"line_item_id": item.ID, "quantity": item.Quantity, "total": item.Total.String(), "tax": item.Tax.String(),
		})
	}
	return obj{
		"breakdown": obj{"line_items": lines, "shipping": refund.Shipping.Total.String()},
		"subtotal":  (refund.total() - refund.tax()).String(), "tax": refund.tax().String(), "total": refund.total().String(),
		"max_refundable": o.site.refundable(r).String(),
	}, nil
}
