package abilities

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// outcome is what the platform's validator makes of a value, as far as it can be computed.
type outcome struct {
	state outcomeState
	cause string // the place and the keyword of what is wrong
}

type outcomeState int

const (
	fits outcomeState = iota
	unsure
	wrong
)

// inputSchema is a part of a schema as the platform reads it: null is no keyword.
type inputSchema map[string]any

var builtinTypes = []string{"array", "object", "string", "number", "integer", "boolean", "null"}

func violates(at, keyword string) outcome { return outcome{wrong, at + " does not meet " + keyword} }

// maxCause bounds what a client is told of what is wrong, in bytes.
const maxCause = 200

// below is the place of a member within the place at, as far as a client is told of it: each
// element of the input has one, and a name may be as long as the input.
func below(at, name string) string {
	if len(at) >= maxCause {
		return at
	}
	return at + "." + name
}

// firstOf returns the first finding that is wrong, or else one that is unsure.
func firstOf(findings ...outcome) (worst outcome) {
	for _, f := range findings {
		if f.state > worst.state {
			worst = f
		}
	}
	return worst
}

// checkValue holds v against a schema as rest_validate_value_from_schema does (WordPress 7.1,
// wp-includes/rest-api.php). A schema that is no object has no keywords.
func checkValue(v, schema, inherited any, at string) (found outcome, matched any) {
	if _, text := schema.(string); text {
		return outcome{state: unsure}, nil // PHP fails on it
	}
	object, _ := schema.(map[string]any)
	s := inputSchema(object)
	kind := s["type"]
	if kind == nil {
		kind = inherited
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s[keyword] == nil {
			continue
		}
		found, adopted := s.combined(v, keyword, kind, at)
		if found.state != fits {
			return found, nil
		}
		if kind == nil {
			kind = adopted
		}
	}
	name, found := bestType(v, kind, at)
	if found.state != fits {
		return found, kind
	}
	found = s.checkType(v, name, at)
	if found.state == wrong {
		return found, kind
	}
	return firstOf(found, s.checkEnum(v, name, at), s.checkFormat(v, name, at)), kind
}

// combined counts the schemas of anyOf or oneOf that v fits. It returns the type of the
// schema that the platform goes on with.
func (s inputSchema) combined(v any, keyword string, kind any, at string) (outcome, any) {
	list, ok := s[keyword].([]any)
	if !ok {
		return outcome{state: unsure}, nil
	}
	var adopted any
	fit, open := 0, 0
	for _, schema := range list {
		if _, ok := schema.(map[string]any); !ok {
			open++
			continue
		}
		switch found, of := checkValue(v, schema, kind, at); found.state {
		case fits:
			if fit++; fit == 1 {
				adopted = schema.(map[string]any)["type"]
				if adopted == nil {
					adopted = of
				}
			}
			if keyword == "anyOf" && open == 0 {
				return outcome{}, adopted
			}
		case unsure:
			open++
		case wrong:
		}
	}
	switch {
	case fit > 1 && keyword == "oneOf", fit+open == 0:
		return violates(at, keyword), nil
	case open > 0:
		return outcome{state: unsure}, nil
	}
	return outcome{}, adopted
}

// bestType picks the type with which the platform goes on: "" for one that it does not know.
func bestType(v, kind any, at string) (string, outcome) {
	switch kind := kind.(type) {
	case nil:
		return "", outcome{}
	case string:
		if !slices.Contains(builtinTypes, kind) {
			kind = ""
		}
		return kind, outcome{}
	case []any:
		unknown := false
		if v == "" && slices.Contains(kind, any("string")) {
			return "string", outcome{}
		}
		for _, one := range kind {
			name, ok := one.(string)
			if !ok {
				return "", outcome{state: unsure}
			}
			unknown = unknown || !slices.Contains(builtinTypes, name)
			if isType(v, name) {
				return name, outcome{}
			}
		}
		if unknown {
			return "", outcome{}
		}
		return "", violates(at, "type")
	}
	return "", outcome{state: unsure}
}

func isType(v any, name string) bool {
	switch name {
	case "null":
		return v == nil
	case "string":
		_, ok := v.(string)
		return ok
	case "boolean":
		return isBoolean(v)
	case "number":
		_, ok := numeral(v)
		return ok
	case "integer":
		f, ok := numeral(v)
		return ok && math.Floor(f) == f
	case "array":
		if m, ok := v.(map[string]any); ok {
			for key := range m {
				if !intKey(key) {
					return false
				}
			}
			return true
		}
		return v != nil
	case "object":
		_, isMap := v.(map[string]any)
		_, isList := v.([]any)
		return isMap || isList || v == ""
	}
	return false
}

func (s inputSchema) checkType(v any, name, at string) outcome {
	if name == "" {
		return outcome{}
	}
	if !isType(v, name) {
		return violates(at, "type")
	}
	switch name {
	case "object":
		return s.checkObject(objectOf(v), at)
	case "array":
		return s.checkArray(v, at)
	case "number", "integer":
		return s.checkNumber(v, at)
	case "string":
		text := v.(string)
		return firstOf(s.bounded(float64(utf8.RuneCountInString(text)), "Length", at), s.checkPattern(text, at))
	}
	return outcome{}
}

func isBoolean(v any) bool {
	switch v := v.(type) {
	case bool:
		return true
	case string:
		return slices.Contains([]string{"true", "false", "0", "1"}, strings.ToLower(v))
	case json.Number:
		return v == "0" || v == "1"
	}
	return false
}

// phpTrue is PHP's conversion to bool.
func phpTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != "" && v != "0"
	case json.Number:
		f, _ := v.Float64()
		return f != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// members returns the members of a part of a schema. PHP has lists and objects in one type.
func members(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case []any:
		m := make(map[string]any, len(v))
		for i, e := range v {
			m[strconv.Itoa(i)] = e
		}
		return m
	}
	return nil
}

// bounded holds a size against min… and max….
func (s inputSchema) bounded(size float64, what, at string) outcome {
	found := outcome{}
	for _, side := range []string{"min", "max"} {
		limit := s[side+what]
		if limit == nil {
			continue
		}
		bound, ok := numeral(limit)
		switch {
		case !ok:
			found = firstOf(found, outcome{state: unsure})
		case side == "min" && size < bound, side == "max" && size > bound:
			return violates(at, side+what)
		}
	}
	return found
}
