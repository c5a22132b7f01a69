package site

import (
	"cmp"
	"net/http"
	"slices"
)

// ability is a named operation for automated agents (docs/project/interface
// 2). A schema with properties takes an object.
type ability struct {
	id, label, description, category string
	readonly, destructive            bool
	idempotent, hidden               bool
	public                           bool   // for agents, by the adapter's default server
	kind, uri                        string // kind: "" is a tool; a resource has a uri
	input, output                    obj
	allow                            func(*request) bool
	run                              func(*request, obj) (any, error)
}

// The kinds of abilities that the adapter knows beside tools.
const (
	kindResource = "resource"
	kindPrompt   = "prompt"
)

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
}

// noInput is the schema of an ability that takes none.
func noInput() obj {
	return obj{"type": "object", "properties": obj{}, "additionalProperties": false}
}

func (s *Site) coreAbilities() []*ability {
	return []*ability{
		{
			id: "core/get-site-info", label: "Get site information", description: "Returns name and address of the site.",
			category: "site", readonly: true, idempotent: true, input: noInput(), output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("manage_options") },
			run: func(q *request, _ obj) (any, error) {
				return obj{"name": "Reference shop", "url": s.homeURL(q.wire), "version": s.opt.Core}, nil
			},
		},
		{
			id: "core/get-user-info", label: "Get user information", description: "Returns the profile of the caller.",
			category: "user", readonly: true, idempotent: true, input: noInput(), output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("read") },
			run: func(q *request, _ obj) (any, error) {
				return obj{"id": q.user.id, "user_login": q.user.login, "roles": slices.Clone(q.user.roles)}, nil
			},
		},
		{
			id: "core/get-environment-info", label: "Get environment information", description: "Not shown to clients.",
			category: "site", readonly: true, hidden: true, input: noInput(), output: obj{"type": "object"},
			allow: func(q *request) bool { return q.can("manage_options") },
			run:   func(*request, obj) (any, error) { return obj{"environment": "local"}, nil },
		},
	}
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
	return a.execute(q, input)
}

// execute runs an ability, whatever way the call came, and notes that it ran.
func (a *ability) execute(q *request, input obj) (any, error) {
	q.ran(a.id, input)
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
	meta := obj{
		"show_in_rest": !a.hidden,
		"annotations":  obj{"readonly": a.readonly, "destructive": a.destructive, "idempotent": a.idempotent},
	}
	if a.public {
		meta["mcp"] = obj{"public": true, "type": cmp.Or(a.kind, "tool")}
	}
	if a.uri != "" {
		meta["uri"] = a.uri
	}
	return obj{
		"name": a.id, "label": a.label, "description": a.description, "category": a.category,
		"input_schema": a.input, "output_schema": a.output, "meta": meta,
	}
}
