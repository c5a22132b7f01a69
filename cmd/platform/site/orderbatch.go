package site

import (
	"maps"
	"net/http"
)

// maxOrderBatch is the most items of one shop batch.
const maxOrderBatch = 100

// batch creates, updates and deletes orders. Each list comes from its own
// effective source, ids are cast, not validated; items do not see each other's
// errors (docs/platform III.5).
func (o ordersAPI) batch(q *request) (any, error) {
	count := 0
	lists := map[string][]any{}
	for _, name := range []string{"create", "update", "delete"} {
		v, _ := q.param(name)
		lists[name] = list(v)
		count += len(lists[name])
	}
	if count > maxOrderBatch {
		return nil, fail(http.StatusRequestEntityTooLarge, o.site.names.code("request_entity_too_large"),
			"Unable to accept more than 100 items for this request.")
	}
	out := obj{}
	for _, item := range lists["create"] {
		appendItem(out, "create", 0, o.one(q, http.MethodPost, "/"+o.namespace+"/orders", object(item)))
	}
	for _, item := range lists["update"] {
		fields := maps.Clone(object(item))
		id := cast(fields["id"])
		if fields != nil {
			fields["id"] = id
		}
		appendItem(out, "update", id, o.one(q, http.MethodPut, o.itemRoute(id), fields))
	}
	for _, item := range lists["delete"] {
		id := cast(item)
		appendItem(out, "delete", id, o.one(q, http.MethodDelete, o.itemRoute(id), obj{"id": id, "force": true}))
	}
	return out, nil
}

// one runs an item as a call of its own.
func (o ordersAPI) one(q *request, method, route string, fields obj) *reply {
	p := q.part(method, route, nil, nil)
	p.json = fields
	return o.site.dispatch(p)
}

// appendItem writes an item's answer, or its error, to the list name of out.
func appendItem(out obj, name string, id int, rep *reply) {
	answer := rep.body
	if rep.status >= http.StatusBadRequest {
		answer = obj{"id": id, "error": rep.body}
	}
	items, _ := out[name].([]any)
	out[name] = append(items, answer)
}
