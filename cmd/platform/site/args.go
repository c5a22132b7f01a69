package site

import (
	"maps"
	"slices"
	"strconv"
)

// arg is the schema of one argument of an endpoint.
type arg struct {
	Type        string // string, integer, boolean, array, object; "" is anything
	Items       string // type of an array's elements, where it is checked: object
	Required    bool
	Default     any
	Enum        []string
	Min, Max    int  // bounds of an integer, where Max is set
	MayBeEmpty  bool // null and "" are as if it were not given
	Description string
}

type args map[string]arg

// with returns a copy of a with more arguments.
func (a args) with(more args) args {
	a = maps.Clone(a)
	maps.Copy(a, more)
	return a
}

// check validates the arguments of q: every value in every source, so that a
// null is refused although another source would be used (docs/platform I.3.1).
func (a args) check(q *request) error {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		schema := a[name]
		if schema.Required && !q.has(name) {
			return errMissingParam(name)
		}
		for _, source := range q.sources() {
			v, set := source[name]
			if !set {
				continue
			}
			if reason := schema.refuses(name, v); reason != "" {
				return errInvalidParam(name, reason)
			}
		}
	}
	return nil
}

// refuses says why v does not fit, "" where it does.
func (s arg) refuses(name string, v any) string {
	if s.MayBeEmpty && (v == nil || v == "") {
		return ""
	}
	ok := true
	switch s.Type {
	case "integer":
		var n int
		if n, ok = integer(v); ok && s.Max > 0 && (n < s.Min || n > s.Max) {
			return name + " is out of bounds."
		}
	case "boolean":
		_, ok = truth(v)
	case "string":
		_, isArray := v.([]any)
		_, isObject := v.(obj)
		ok = !isArray && !isObject && v != nil
	case "array":
		ok = v != nil
		for i, item := range list(v) {
			if _, isObject := item.(obj); s.Items == "object" && !isObject {
				return name + "[" + strconv.Itoa(i) + "] is not of type object."
			}
		}
	case "object":
		ok = object(v) != nil
	}
	if !ok {
		return name + " is not of type " + s.Type + "."
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text(v)) {
		return name + " is not one of the allowed values."
	}
	return ""
}

// describe is a as the index and OPTIONS show it.
func (a args) describe() any {
	if len(a) == 0 {
		return []any{}
	}
	out := obj{}
	for name, s := range a {
		o := obj{"required": s.Required}
		if s.Type != "" {
			o["type"] = s.Type
		}
		if s.Items != "" {
			o["items"] = obj{"type": s.Items}
		}
		if s.Default != nil {
			o["default"] = s.Default
		}
		if len(s.Enum) > 0 {
			o["enum"] = s.Enum
		}
		if s.Max > 0 {
			o["minimum"], o["maximum"] = s.Min, s.Max
		}
		if s.Description != "" {
			o["description"] = s.Description
		}
		out[name] = o
	}
	return out
}

func (e *endpoint) describe() obj {
	return obj{"methods": e.methods, "args": e.args.describe()}
}

func (r *route) describe() obj {
	methods, endpoints := []string{}, []any{}
	for _, e := range r.endpoints {
		for _, m := range e.methods {
			if !slices.Contains(methods, m) {
				methods = append(methods, m)
			}
		}
		endpoints = append(endpoints, e.describe())
	}
	o := obj{"namespace": r.namespace, "methods": methods, "endpoints": endpoints}
	if r.allowBatch {
		o["allow_batch"] = obj{"v1": true}
	}
	return o
}
