package site

import (
	"net/http"
	"strconv"
)

// shopAbilities are those of the shop that agents may have, by every door.
func (s *Site) shopAbilities() []*ability {
	id := obj{"type": "integer", "minimum": 1}
	status := obj{"type": "string", "enum": orderStatuses}
	orders, products := "/"+s.names.Shop[2]+"/orders", "/"+s.names.Shop[2]+"/products"
	return []*ability{
		{
			id: s.names.shop + "/orders-query", label: "Query orders", description: "Lists orders.", category: s.names.shop,
			readonly: true, idempotent: true, public: true, output: obj{"type": "array"},
			input: obj{"type": "object", "properties": obj{"status": status}, "additionalProperties": false},
			allow: func(q *request) bool { return q.can("read_private_shop_orders") },
			run:   func(q *request, input obj) (any, error) { return q.inside(http.MethodGet, orders, input) },
		},
		{
			id: s.names.shop + "/order-update-status", label: "Update order status", description: "Sets the status of an order.",
			category: s.names.shop, public: true, output: obj{"type": "object"},
			input: obj{
				"type": "object", "required": []any{"id", "status"}, "additionalProperties": false,
				"properties": obj{"id": id, "status": status},
			},
			allow: func(q *request) bool { return q.can("edit_shop_orders") }, run: abilityUpdateStatus,
		},
		{
			id: s.names.shop + "/products-query", label: "Query products", description: "Lists products.", category: s.names.shop,
			readonly: true, idempotent: true, public: true, output: obj{"type": "array"},
			input: obj{"type": "object", "properties": obj{"search": obj{"type": "string"}}, "additionalProperties": false},
			allow: func(q *request) bool { return q.can("read_private_products") },
			run:   func(q *request, input obj) (any, error) { return q.inside(http.MethodGet, products, input) },
		},
		{
			id: s.names.shop + "/product-update", label: "Update a product", description: "Sets name, price or stock of a product.",
			category: s.names.shop, idempotent: true, public: true, output: obj{"type": "object"},
			input: obj{
				"type": "object", "required": []any{"id"}, "additionalProperties": false, "properties": obj{
					"id": id, "name": obj{"type": "string"}, "regular_price": obj{"type": "string"}, "stock_quantity": obj{"type": "integer"},
				},
			},
			allow: func(q *request) bool { return q.can("edit_products") },
			run: func(q *request, input obj) (any, error) {
				return q.inside(http.MethodPut, products+"/"+strconv.Itoa(cast(input["id"])), input)
			},
		},
		{
			id: s.names.shop + "/product-delete", label: "Delete a product", description: "Deletes a product.",
			category: s.names.shop, destructive: true, idempotent: true, public: true, output: obj{"type": "object"},
			input: obj{"type": "object", "required": []any{"id"}, "properties": obj{"id": id}, "additionalProperties": false},
			allow: func(q *request) bool { return q.can("delete_products") },
			run: func(_ *request, input obj) (any, error) {
				_, existed := s.products[cast(input["id"])]
				delete(s.products, cast(input["id"]))
				return obj{"deleted": existed}, nil
			},
		},
	}
}

// agentAbilities are those that only servers for agents make something of: a resource, a
// prompt, and one that only the shop's own server has.
func (s *Site) agentAbilities() []*ability {
	mayRead := func(q *request) bool { return q.can("read_private_products") }
	return []*ability{
		{
			id: s.names.shop + "/product-catalog", label: "Product catalogue", description: "All products.", category: s.names.shop,
			readonly: true, idempotent: true, public: true, kind: kindResource, uri: "shop://products",
			input: noInput(), output: obj{"type": "array"}, allow: mayRead,
			run: func(q *request, _ obj) (any, error) {
				return q.inside(http.MethodGet, "/"+s.names.Shop[2]+"/products", nil)
			},
		},
		{
			id: s.names.shop + "/answer-customer", label: "Answer a customer", description: "Asks for a letter to a customer.",
			category: s.names.shop, readonly: true, idempotent: true, public: true, kind: kindPrompt, output: obj{"type": "string"},
			input: obj{
				"type": "object", "required": []any{"topic"}, "additionalProperties": false,
				"properties": obj{"topic": obj{"type": "string"}},
			},
			allow: func(q *request) bool { return q.can("read") },
			run: func(_ *request, input obj) (any, error) {
				return "Write a short, friendly letter to a customer about " + text(input["topic"]) + ".", nil
			},
		},
		{
			id: s.names.shop + "/stock-count", label: "Count the stock", description: "Counts all pieces in stock.", category: s.names.shop,
			readonly: true, idempotent: true, hidden: true, input: noInput(), output: obj{"type": "object"}, allow: mayRead,
			run: func(*request, obj) (any, error) {
				pieces := 0
				for _, p := range s.products {
					pieces += p.stock
				}
				return obj{"pieces": pieces}, nil
			},
		},
	}
}

// inside makes a REST call within the platform, as many abilities do: nothing in front of
// the platform sees it (docs/platform IV.5).
func (q *request) inside(method, route string, fields obj) (any, error) {
	p := q.part(method, route, nil, nil)
	p.json = fields
	rep := q.site.dispatch(p)
	if e, ok := rep.body.(obj); ok && rep.status >= http.StatusBadRequest {
		return nil, fail(rep.status, text(e["code"]), text(e["message"]))
	}
	return rep.body, nil
}

// abilityUpdateStatus answers 500 for what is not an order and leaves it as it
// is (docs/platform III.7).
func abilityUpdateStatus(q *request, input obj) (any, error) {
	r := q.site.records[cast(input["id"])]
	if r == nil || r.Type != typeOrder {
		return nil, errFatal()
	}
	r.Status = text(input["status"])
	return obj{"id": r.ID, "status": r.Status}, nil
}
