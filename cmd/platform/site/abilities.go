package site

import (
	"net/http"
	"slices"
)

// ability is a named operation for automated agents (docs/interface
// 2). A schema with properties takes an object.
type ability struct {
	id, label, description, category string
	readonly, destructive            bool
	idempotent, hidden               bool
	input, output                    obj
	allow                            func(*request) bool
	run                              func(*request, obj) (any, error)
}

func (s *Site) abilityRoutes() {
	ns := s.names.Abilities
	const one = `/abilities/(?P<name>[a-zA-Z0-9\-\/]+)`
	read := func(q *request) error {
		switch {
		case q.can("read"):
			return nil
		case s.names.real(): // its own list answers anonymous callers 401 (docs/platform III.11)
			return q.denied("rest_forbidden", "Sorry, you are not allowed to view abilities.")
		}
		return q.forbidden()
	}
	s.router.add(ns, one+"/run", allVerbs, endpoint{run: runAbility})
	s.router.add(ns, "/abilities", reading, endpoint{
		args:  collection.with(args{"per_page": {Type: "integer", Default: 50, Min: 1, Max: 100}, "category": {Type: "string"}}),
		allow: read, run: listAbilities,
	})
	s.router.add(ns, one, reading, endpoint{allow: read, run: func(q *request) (any, error) {
		a, err := q.ability()
		if err != nil {
			return nil, err
		}
		return a.json(), nil
	}})
	s.router.add(ns, "/categories", reading, endpoint{allow: read, run: func(_ *request) (any, error) {
		return []obj{{"slug": "site", "label": "Site"}, {"slug": "user", "label": "Users"}, {"slug": s.names.shop, "label": "Shop"}}, nil
	}})
	s.abilities = append(s.coreAbilities(), s.shopAbilities()...)
}

func (s *Site) coreAbilities() []*ability {
	none := obj{"type": "object", "properties": obj{}, "additionalProperties": false}
	return []*ability{
		{
			id: "core/get-site-info", label: "Get site information", description: "Returns name and address of the site.",
			category: "site", readonly: true, idempotent: true, input: none, output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("manage_options") },
			run: func(q *request, _ obj) (any, error) {
				return obj{"name": "Reference shop", "url": s.homeURL(q.wire), "version": s.opt.Core}, nil
			},
		},
		{
			id: "core/get-user-info", label: "Get user information", description: "Returns the profile of the caller.",
			category: "user", readonly: true, idempotent: true, input: none, output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("read") },
			run: func(q *request, _ obj) (any, error) {
				return obj{"id": q.user.id, "user_login": q.user.login, "roles": slices.Clone(q.user.roles)}, nil
			},
		},
		{
			id: "core/get-environment-info", label: "Get environment information", description: "Not shown to clients.",
			category: "site", readonly: true, hidden: true, input: none, output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("manage_options") },
			run:   func(*request, obj) (any, error) { return obj{"environment": "local"}, nil },
		},
	}
}

func (s *Site) shopAbilities() []*ability {
	id := obj{"type": "integer", "minimum": 1}
	status := obj{"type": "string", "enum": orderStatuses}
	o := ordersAPI{s, s.names.Shop[2], 3}
	return []*ability{
		{
			id: s.names.shop + "/orders-query", label: "Query orders", description: "Lists orders.", category: s.names.shop,
			readonly: true, idempotent: true, output: obj{"type": "array"},
			input: obj{"type": "object", "properties": obj{"status": status}, "additionalProperties": false},
			allow: func(q *request) bool { return q.can("read_private_shop_orders") },
			run: func(q *request, input obj) (any, error) {
				rep := o.one(q, http.MethodGet, "/"+o.namespace+"/orders", input)
				return rep.body, nil
			},
		},
		{
			id: s.names.shop + "/order-update-status", label: "Update order status", description: "Sets the status of an order.",
			category: s.names.shop, output: obj{"type": "object"},
			input: obj{
				"type": "object", "required": []any{"id", "status"}, "additionalProperties": false,
				"properties": obj{"id": id, "status": status},
			},
			allow: func(q *request) bool { return q.can("edit_shop_orders") }, run: abilityUpdateStatus,
		},
		{
			id: s.names.shop + "/product-delete", label: "Delete a product", description: "Deletes a product.",
			category: s.names.shop, destructive: true, idempotent: true, output: obj{"type": "object"},
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

// ability is the one that the effective parameter name names, not necessarily
// the path (docs/platform I.9). Hidden ones do not exist here.
func (q *request) ability() (*ability, error) {
	for _, a := range q.site.abilities {
		if a.id == q.str("name") && !a.hidden {
			return a, nil
		}
	}
	return nil, fail(http.StatusNotFound, "rest_ability_not_found", "Ability not found.")
}

func listAbilities(q *request) (any, error) {
	out := []obj{}
	for _, a := range q.site.abilities {
		if !a.hidden && (!q.has("category") || q.str("category") == a.category) {
			out = append(out, a.json())
		}
	}
	return page(q, out), nil
}

// method is the one that runs an ability (docs/platform III.11).
func (a *ability) method() string {
	switch {
	case a.readonly:
		return http.MethodGet
	case a.destructive && a.idempotent:
		return http.MethodDelete
	}
	return http.MethodPost
}

// runAbility checks in this order: exists, method, input, permission
// (docs/platform II).
func runAbility(q *request) (any, error) {
	a, err := q.ability()
	if err != nil {
		return nil, err
	}
	method := q.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if method != a.method() {
		return nil, fail(http.StatusMethodNotAllowed, "rest_ability_invalid_method", methodMessage[a.method()])
	}
	input, err := q.abilityInput(a)
	if err != nil {
		return nil, err
	}
	if !a.allow(q) {
		return nil, q.denied("rest_ability_cannot_execute", "Sorry, you are not allowed to execute this ability.")
	}
	return a.run(q, input)
}

var methodMessage = map[string]string{
	http.MethodGet:    "Read-only abilities require GET method.",
	http.MethodDelete: "Abilities that perform destructive actions require DELETE method.",
	http.MethodPost:   "Abilities that perform updates require POST method.",
}

// abilityInput reads the input, from the query for GET and DELETE, else from
// the JSON body, and holds it against the schema.
func (q *request) abilityInput(a *ability) (obj, error) {
	var v any
	switch q.method {
	case http.MethodPost:
		if v = q.json["input"]; v == nil {
			v = q.form["input"]
		}
	default:
		v = q.query["input"]
	}
	input := object(v)
	if v != nil && input == nil {
		return nil, invalidInput(a, "input is not of type object.")
	}
	if reason := violates(a.input, input); reason != "" {
		return nil, invalidInput(a, reason)
	}
	return input, nil
}

func invalidInput(a *ability, reason string) error {
	return fail(http.StatusBadRequest, "ability_invalid_input", `Ability "`+a.id+`" has invalid input. Reason: `+reason)
}

// violates says how an object breaks a schema of the forms used above, "" where
// it does not.
func violates(schema, input obj) string {
	properties := object(schema["properties"])
	for _, name := range list(schema["required"]) {
		if input[text(name)] == nil {
			return text(name) + " is a required property of input."
		}
	}
	for name, v := range input {
		property := object(properties[name])
		if property == nil {
			return name + " is not a valid property of Object."
		}
		a := arg{Type: text(property["type"])}
		a.Enum, _ = property["enum"].([]string)
		if reason := a.refuses("input["+name+"]", v); reason != "" {
			return reason
		}
		if minimum, ok := property["minimum"].(int); ok && cast(v) < minimum {
			return "input[" + name + "] must be greater than or equal to 1"
		}
	}
	return ""
}

func (a *ability) json() obj {
	return obj{
		"name": a.id, "label": a.label, "description": a.description, "category": a.category,
		"input_schema": a.input, "output_schema": a.output,
		"meta": obj{
			"show_in_rest": true,
			"annotations":  obj{"readonly": a.readonly, "destructive": a.destructive, "idempotent": a.idempotent},
		},
	}
}
