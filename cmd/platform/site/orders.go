package site

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// orderStatuses are those that an update may set and a list finds as "any".
var orderStatuses = []string{"pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"}

// ordersAPI is the orders controller of one namespace: shop v1, v2, v3 or
// analytics, which extends v3.
type ordersAPI struct {
	site      *Site
	namespace string
	version   int
}

func (s *Site) orderRoutes(version int) {
	o := ordersAPI{s, s.names.Shop[version-1], version}
	o.register()
	o.noteRoutes()
	o.refundRoutes()
}

func (o ordersAPI) register() {
	rt, n := &o.site.router, o.site.names
	id := args{"id": {Type: "integer", Description: "Unique identifier for the resource."}}
	fields := args{
		"status":     {Type: "string", Enum: append([]string{"checkout-draft", "trash"}, orderStatuses...)},
		"currency":   {Type: "string", Enum: slices.Sorted(maps.Keys(currencies))},
		"line_items": {Type: "array", Items: "object"}, "billing": {Type: "object"}, "shipping": {Type: "object"}, "customer_note": {Type: "string"},
		"customer_id": {Type: "integer"}, "meta_data": {Type: "array", Items: "object"},
	}
	rt.add(o.namespace, "/orders", reading, endpoint{
		args: collection.with(ordered("desc", "date", "id")).
			with(args{"status": {Type: "array", Default: "any"}, "customer": {Type: "integer"}}),
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot list resources."), run: o.list,
	})
	rt.add(o.namespace, "/orders", creating, endpoint{
		args:  fields,
		allow: needs("publish_shop_orders", n.code("cannot_create"), "Sorry, you are not allowed to create resources."), run: o.create,
	})
	rt.add(o.namespace, pathf("/orders/%s", "id"), reading, endpoint{
		args:  id,
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot view this resource."), run: o.get,
	})
	rt.add(o.namespace, pathf("/orders/%s", "id"), editing, endpoint{args: fields.with(id), allow: o.mayEdit, run: o.update})
	rt.add(o.namespace, pathf("/orders/%s", "id"), deleting, endpoint{
		args:  id.with(args{"force": {Type: "boolean", Default: false}}),
		allow: needs("delete_shop_orders", n.code("cannot_delete"), "Sorry, you are not allowed to delete this resource."), run: o.remove,
	})
	rt.add(o.namespace, "/orders/batch", editing, endpoint{allow: o.mayBatch, run: o.batch})
}

// mayEdit: up to 10.x the right to edit orders came out as the right to edit
// any post, so an editor of texts has it too (docs/platform III.1).
func (o ordersAPI) mayEdit(q *request) error {
	if q.can("edit_shop_orders") || !o.site.since("11.0") && q.can("edit_others_posts") {
		return nil
	}
	return q.denied(o.site.names.code("cannot_edit"), "Sorry, you are not allowed to edit this resource.")
}

func (o ordersAPI) mayBatch(q *request) error {
	if o.mayEdit(q) != nil {
		return q.denied(o.site.names.code("cannot_batch"), "Sorry, you are not allowed to batch manipulate this resource.")
	}
	return nil
}

// list shows orders only; "any" leaves out trash and statuses that are not an
// order's (docs/platform III.3).
func (o ordersAPI) list(q *request) (any, error) {
	statuses, include, exclude := q.strings("status"), q.ints("include"), q.ints("exclude")
	if slices.Contains(statuses, "any") {
		statuses = orderStatuses
	}
	var found []*Record
	for _, r := range o.site.sorted() {
		if r.Type == typeOrder && slices.Contains(statuses, r.Status) &&
			(len(include) == 0 || slices.Contains(include, r.ID)) && !slices.Contains(exclude, r.ID) &&
			(!q.has("customer") || q.int("customer") == r.CustomerID) {
			found = append(found, r)
		}
	}
	byID := func(a, b *Record) int { return cmp.Compare(a.ID, b.ID) }
	arrange(q, found, map[string]func(a, b *Record) int{
		"id": byID, "date": func(a, b *Record) int { return cmp.Or(a.Created.Compare(b.Created), byID(a, b)) },
	})
	out := []obj{}
	for _, r := range page(q, found) {
		out = append(out, o.site.orderJSON(r))
	}
	return out, nil
}

// invalidID is the answer to an id that is no order; its words changed with
// the fix of release 10.8 (docs/platform III.1).
func (o ordersAPI) invalidID() *Error {
	message := "Invalid ID."
	if o.version == 1 || o.site.since("10.8") {
		message = "ID is invalid."
	}
	return fail(http.StatusBadRequest, o.site.names.code("shop_order_invalid_id"), message)
}

// get reads a subscription as an order too, in every release; v1 does not
// (docs/platform III.2, III.3).
func (o ordersAPI) get(q *request) (any, error) {
	r := o.site.records[q.int("id")]
	switch {
	case o.version == 1 && (r == nil || r.Type != typeOrder):
		return nil, fail(http.StatusNotFound, o.site.names.code("invalid_shop_order_id"), "Invalid ID.")
	case r == nil || r.Type == typeRefund:
		return nil, fail(http.StatusNotFound, o.site.names.code("shop_order_invalid_id"), "Invalid ID.")
	}
	return o.site.orderJSON(r), nil
}

func (o ordersAPI) create(q *request) (any, error) {
	if q.int("id") != 0 {
		return nil, fail(http.StatusBadRequest, o.site.names.code("shop_order_exists"), "Cannot create existing shop_order.")
	}
	r := &Record{Type: typeOrder, Status: "pending", Addresses: Addresses{Country: defaultCountry}}
	if err := o.apply(q, r); err != nil {
		return nil, err
	}
	return created(o.site.orderJSON(o.site.addRecord(r))), nil
}

func (o ordersAPI) update(q *request) (any, error) {
	r, err := o.target(q.int("id"))
	if err != nil {
		return nil, err
	}
	if err := o.apply(q, r); err != nil {
		return nil, err
	}
	if r.Type != typeOrder {
		convert(r)
	}
	return o.site.orderJSON(r), nil
}

// target is the record that an update may change. v1, and from 10.8 every
// version, takes orders only; before, v2 and v3 take whatever an order can be
// read from (docs/project/interface 3).
func (o ordersAPI) target(id int) (*Record, error) {
	r := o.site.records[id]
	if r == nil || r.Type == typeRefund {
		return nil, o.invalidID()
	}
	if r.Type != typeOrder && (o.version == 1 || o.site.since("10.8")) {
		return nil, o.invalidID()
	}
	return r, nil
}

// convert makes a plain order of a record: its type-specific data is lost
// (docs/project/interface 3).
func convert(r *Record) {
	r.Type, r.BillingPeriod, r.BillingInterval, r.Schedule, r.ParentID = typeOrder, "", 0, nil, 0
}

// apply writes the fields of the call to r.
func (o ordersAPI) apply(q *request, r *Record) error {
	billing, _ := q.param("billing")
	shipping, _ := q.param("shipping")
	addresses := r.Addresses
	addresses.apply(object(billing), object(shipping))
	if v, set := q.param("line_items"); set {
		if err := o.applyItems(r, list(v), addresses.delivery()); err != nil {
			return err
		}
	}
	r.moveTo(addresses)
	if q.has("status") {
		if status := q.str("status"); status != r.Status {
			if r.ID != 0 {
				o.site.addNote(r, "system", "Order status changed from "+r.Status+" to "+status+".", false)
			}
			r.Status = status
		}
	}
	if q.has("customer_note") {
		r.CustomerNote = q.str("customer_note")
	}
	if q.has("currency") {
		r.Currency = q.str("currency")
	}
	if q.has("customer_id") {
		r.CustomerID = q.int("customer_id")
	}
	if v, set := q.param("meta_data"); set {
		r.applyMeta(list(v))
	}
	return nil
}

// applyMeta writes the entries of a field meta_data to r.
func (r *Record) applyMeta(entries []any) {
	if r.Meta == nil {
		r.Meta = map[string]any{}
	}
	for _, item := range entries {
		if m := object(item); text(m["key"]) != "" {
			r.Meta[text(m["key"])] = m["value"]
		}
	}
}

// remove moves to the trash, or with force deletes, whatever order-like record
// it is: no release checks the type here, except v1 (docs/platform III.2, III.6).
func (o ordersAPI) remove(q *request) (any, error) {
	return o.delete(q.int("id"), q.bool("force"))
}

func (o ordersAPI) delete(id int, force bool) (any, error) {
	r := o.site.records[id]
	if r == nil || r.Type == typeRefund || o.version == 1 && r.Type != typeOrder {
		return nil, fail(http.StatusNotFound, o.site.names.code("shop_order_invalid_id"), "Invalid ID.")
	}
	before := o.site.orderJSON(r)
	switch {
	case force:
		delete(o.site.records, r.ID)
	case r.Status == "trash":
		return nil, fail(http.StatusGone, o.site.names.code("already_trashed"), "The shop_order has already been deleted.")
	default:
		r.Status = "trash"
	}
	return before, nil
}

func (o ordersAPI) itemRoute(id int) string { return "/" + o.namespace + "/orders/" + strconv.Itoa(id) }
