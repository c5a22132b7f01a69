package site

import (
	"net/http"
	"slices"
	"time"
)

var subscriptionStatuses = []string{"pending", "active", "on-hold", "cancelled", "expired", "pending-cancel"}

// scheduleFields are the dates of a subscription, by the name in the body.
var scheduleFields = map[string]string{
	"start_date": "start", "next_payment_date": "next_payment", "end_date": "end",
}

// subscriptionRoutes adds the routes of one namespace, shop/v2 or shop/v3 (docs/project/interface 1, rule 4).
func (s *Site) subscriptionRoutes(namespace string) {
	rt, n := &s.router, s.names
	id := args{"id": {Type: "integer"}}
	fields := args{
		"status":         {Type: "string", Enum: subscriptionStatuses},
		"billing_period": {Type: "string", Enum: []string{"day", "week", "month", "year"}}, "billing_interval": {Type: "integer", Min: 1, Max: 365},
		"start_date": {Type: "string"}, "next_payment_date": {Type: "string"}, "end_date": {Type: "string"},
		"parent_id": {Type: "integer"}, "customer_id": {Type: "integer"}, "line_items": {Type: "array", Items: "object"}, "customer_note": {Type: "string"},
	}
	rt.add(namespace, "/subscriptions", reading, endpoint{
		args:  collection.with(args{"status": {Type: "array"}}),
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot list resources."), run: listSubscriptions,
	})
	rt.add(namespace, "/subscriptions", creating, endpoint{
		args:  fields,
		allow: needs("publish_shop_orders", n.code("cannot_create"), "Sorry, you are not allowed to create resources."), run: createSubscription,
	})
	rt.add(namespace, pathf("/subscriptions/%s", "id"), reading, endpoint{
		args: id, allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot view this resource."),
		run: func(q *request) (any, error) {
			r, err := q.subscription(http.StatusNotFound)
			if err != nil {
				return nil, err
			}
			return q.site.subscriptionJSON(r), nil
		},
	})
	rt.add(namespace, pathf("/subscriptions/%s", "id"), editing, endpoint{
		args:  fields.with(id),
		allow: needs("edit_shop_orders", n.code("cannot_edit"), "Sorry, you are not allowed to edit this resource."), run: updateSubscription,
	})
	rt.add(namespace, pathf("/subscriptions/%s", "id"), deleting, endpoint{
		args:  id.with(args{"force": {Type: "boolean", Default: false}}),
		allow: needs("delete_shop_orders", n.code("cannot_delete"), "Sorry, you are not allowed to delete this resource."), run: deleteSubscription,
	})
}

// subscription is the record of the call; anything else than a subscription is
// refused with the status that reading (404) or writing (400) has.
func (q *request) subscription(status int) (*Record, error) {
	r := q.site.records[q.int("id")]
	if r == nil || r.Type != typeSubscription {
		return nil, fail(status, q.site.names.code("shop_subscription_invalid_id"), "Invalid ID.")
	}
	return r, nil
}

func listSubscriptions(q *request) (any, error) {
	statuses, include := q.strings("status"), q.ints("include")
	var found []*Record
	for _, r := range q.site.sorted() {
		if r.Type == typeSubscription && r.Status != "trash" &&
			(len(include) == 0 || slices.Contains(include, r.ID)) &&
			(len(statuses) == 0 || slices.Contains(statuses, "any") || slices.Contains(statuses, r.Status)) {
			found = append(found, r)
		}
	}
	out := []obj{}
	for _, r := range page(q, found) {
		out = append(out, q.site.subscriptionJSON(r))
	}
	return out, nil
}

func createSubscription(q *request) (any, error) {
	r := &Record{
		Type: typeSubscription, Status: "pending", Addresses: Addresses{Country: defaultCountry}, BillingPeriod: "month", BillingInterval: 1, Schedule: map[string]string{},
	}
	if err := q.applySubscription(r); err != nil {
		return nil, err
	}
	return created(q.site.subscriptionJSON(q.site.addRecord(r))), nil
}

func updateSubscription(q *request) (any, error) {
	r, err := q.subscription(http.StatusBadRequest)
	if err != nil {
		return nil, err
	}
	if err := q.applySubscription(r); err != nil {
		return nil, err
	}
	return q.site.subscriptionJSON(r), nil
}

func deleteSubscription(q *request) (any, error) {
	r, err := q.subscription(http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	before := q.site.subscriptionJSON(r)
	if q.bool("force") {
		delete(q.site.records, r.ID)
	} else {
		r.Status = "trash"
	}
	return before, nil
}

// applySubscription writes the fields of the call to r; dates are checked
// before anything is changed.
func (q *request) applySubscription(r *Record) error {
	if err := q.checkDates(); err != nil {
		return err
	}
	if parent := q.int("parent_id"); q.has("parent_id") && parent != 0 {
		if p := q.site.records[parent]; p == nil || p.Type != typeOrder {
			return fail(http.StatusBadRequest, q.site.names.code("shop_subscription_invalid_parent_id"), "Invalid parent order ID.")
		}
	}
	if v, set := q.param("line_items"); set {
		o := ordersAPI{q.site, q.site.names.Shop[2], 3}
		if err := o.applyItems(r, list(v), r.delivery()); err != nil {
			return err
		}
	}
	for field, name := range scheduleFields {
		if q.has(field) {
			r.Schedule[name] = q.str(field)
		}
	}
	for field, to := range map[string]*string{
		"status": &r.Status, "billing_period": &r.BillingPeriod, "customer_note": &r.CustomerNote,
	} {
		if q.has(field) {
			*to = q.str(field)
		}
	}
	for field, to := range map[string]*int{
		"billing_interval": &r.BillingInterval, "parent_id": &r.ParentID, "customer_id": &r.CustomerID,
	} {
		if q.has(field) {
			*to = q.int(field)
		}
	}
	return nil
}

func (q *request) checkDates() error {
	for field := range scheduleFields {
		if v := q.str(field); v != "" && !validDate(v) {
			return errInvalidParam(field, field+" is not a date.")
		}
	}
	return nil
}

func validDate(v string) bool {
	for _, layout := range []string{date, time.RFC3339, time.DateTime, time.DateOnly} {
		if _, err := time.Parse(layout, v); err == nil {
			return true
		}
	}
	return false
}

// subscriptionJSON is the body format of subscriptions: an order's fields and
// the type-specific ones.
func (s *Site) subscriptionJSON(r *Record) obj {
	o := s.orderJSON(r)
	o["billing_period"], o["billing_interval"] = r.BillingPeriod, r.BillingInterval
	for field, name := range scheduleFields {
		o[field] = r.Schedule[name]
	}
	return o
}
