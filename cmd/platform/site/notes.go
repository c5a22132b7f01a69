package site

import (
	"net/http"
	"slices"
)

func (o ordersAPI) noteRoutes() {
	rt, n := &o.site.router, o.site.names
	ids := args{"order_id": {Type: "integer"}, "id": {Type: "integer"}}
	order := args{"order_id": {Type: "integer"}}
	view := needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot view this resource.")
	rt.add(o.namespace, pathf("/orders/%s/notes", "order_id"), reading, endpoint{
		args:  order.with(args{"type": {Type: "string", Default: "any", Enum: []string{"any", "customer", "internal"}}}),
		allow: needs("read_private_shop_orders", n.code("cannot_view"), "Sorry, you cannot list resources."), run: o.listNotes,
	})
	rt.add(o.namespace, pathf("/orders/%s/notes", "order_id"), creating, endpoint{
		args:  order.with(args{"note": {Type: "string", Required: true}, "customer_note": {Type: "boolean", Default: false}}),
		allow: needs("publish_shop_orders", n.code("cannot_create"), "Sorry, you are not allowed to create resources."), run: o.createNote,
	})
	rt.add(o.namespace, pathf("/orders/%s/notes/%s", "order_id", "id"), reading, endpoint{args: ids, allow: view, run: o.getNote})
	rt.add(o.namespace, pathf("/orders/%s/notes/%s", "order_id", "id"), deleting, endpoint{
		args:  ids.with(args{"force": {Type: "boolean", Default: false}}),
		allow: needs("delete_shop_orders", n.code("cannot_delete"), "Sorry, you are not allowed to delete this resource."), run: o.deleteNote,
	})
}

// noteOrder is the order of the call: the notes routes are the ones that check
// the record's type in every release (docs/platform III.3).
func (o ordersAPI) noteOrder(q *request, listing bool) (*Record, error) {
	r := o.site.records[q.int("order_id")]
	if r != nil && r.Type == typeOrder {
		return r, nil
	}
	code := "order_invalid_id"
	if listing {
		code = "shop_order_invalid_id"
	}
	return nil, fail(http.StatusNotFound, o.site.names.code(code), "Invalid order ID.")
}

func (o ordersAPI) listNotes(q *request) (any, error) {
	r, err := o.noteOrder(q, true)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, note := range slices.Backward(r.Notes) {
		if kind := q.str("type"); kind == "any" || (kind == "customer") == note.ForCustomer {
			out = append(out, note.json())
		}
	}
	return out, nil
}

func (o ordersAPI) createNote(q *request) (any, error) {
	r, err := o.noteOrder(q, false)
	if err != nil {
		return nil, err
	}
	return created(o.site.addNote(r, q.login(), q.str("note"), q.bool("customer_note")).json()), nil
}

// note finds the note of the call within its order.
func (o ordersAPI) note(q *request) (*Record, int, error) {
	r, err := o.noteOrder(q, false)
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(r.Notes, func(n Note) bool { return n.ID == q.int("id") })
	if i < 0 {
		return nil, 0, fail(http.StatusNotFound, o.site.names.code("invalid_id"), "Invalid resource ID.")
	}
	return r, i, nil
}

func (o ordersAPI) getNote(q *request) (any, error) {
	r, i, err := o.note(q)
	if err != nil {
		return nil, err
	}
	return r.Notes[i].json(), nil
}

func (o ordersAPI) deleteNote(q *request) (any, error) {
	r, i, err := o.note(q)
	if err != nil {
		return nil, err
	}
	if !q.bool("force") {
		return nil, fail(http.StatusNotImplemented, o.site.names.code("trash_not_supported"), "Order notes do not support trashing.")
	}
	before := r.Notes[i].json()
	r.Notes = slices.Delete(r.Notes, i, i+1)
	return before, nil
}

func (n Note) json() obj {
	return obj{
		"id": n.ID, "author": n.Author, "date_created": n.Created.UTC().Format(date), "note": n.Text, "customer_note": n.ForCustomer,
	}
}
