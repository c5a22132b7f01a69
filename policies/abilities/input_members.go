package abilities

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jellydator/ttlcache/v3"
)

// inputObject is what the platform takes for an object: a map, or a list with its places for names.
type inputObject struct {
	named map[string]any
	list  []any
}

func objectOf(v any) (o inputObject) {
	o.named, _ = v.(map[string]any)
	o.list, _ = v.([]any)
	return o
}

func (o inputObject) len() int { return len(o.named) + len(o.list) }

func (o inputObject) get(name string) (v any, set bool) {
	if o.list == nil {
		v, set = o.named[name]
		return v, set
	}
	i, err := strconv.Atoi(name)
	if err != nil || !intKey(name) || i < 0 || i >= len(o.list) {
		return nil, false
	}
	return o.list[i], true
}

// names returns the names in an order that is always the same.
func (o inputObject) names() []string {
	if o.list == nil {
		return slices.Sorted(maps.Keys(o.named))
	}
	names := make([]string, len(o.list))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func (s inputSchema) checkObject(v inputObject, at string) outcome {
	found := s.checkRequired(v, at)
	for _, name := range s.judged(v) {
		if found.state == wrong {
			return found
		}
		member, _ := v.get(name)
		found = firstOf(found, s.checkMember(name, member, at))
	}
	return firstOf(found, s.bounded(float64(v.len()), "Properties", at))
}

// judged returns the names of v that the schema says anything about. Mostly that is only what it
// names, and an input may have very many others.
func (s inputSchema) judged(v inputObject) (names []string) {
	_, text := s["properties"].(string)
	_, others := s["additionalProperties"].(map[string]any)
	if text || others || s["additionalProperties"] == false || len(members(s["patternProperties"])) > 0 {
		return v.names()
	}
	for _, name := range slices.Sorted(maps.Keys(members(s["properties"]))) {
		if _, set := v.get(name); set {
			names = append(names, name)
		}
	}
	return names
}

// checkRequired knows both forms of required: a list wins over the flags of the properties.
func (s inputSchema) checkRequired(v inputObject, at string) outcome {
	found := outcome{}
	_, isMap := s["required"].(map[string]any)
	if list, ok := s["required"].([]any); ok || isMap {
		if isMap {
			list = slices.Collect(maps.Values(s["required"].(map[string]any)))
		}
		for _, name := range list {
			text, ok := name.(string)
			if _, set := v.get(text); !ok {
				found.state = unsure
			} else if !set {
				return violates(at, "required")
			}
		}
		return found
	}
	for name, property := range members(s["properties"]) {
		schema, _ := property.(map[string]any)
		if _, set := v.get(name); !set && schema["required"] == true {
			return violates(at, "required")
		}
	}
	return found
}

func (s inputSchema) checkMember(name string, v any, at string) outcome {
	at = below(at, name)
	if _, text := s["properties"].(string); text {
		return outcome{state: unsure}
	}
	if schema := members(s["properties"])[name]; schema != nil {
		found, _ := checkValue(v, schema, nil, at)
		return found
	}
	var matching []any
	for pattern, schema := range members(s["patternProperties"]) {
		switch matchesPattern(pattern, name) {
		case fits:
			matching = append(matching, schema)
		case unsure:
			return outcome{state: unsure}
		case wrong:
		}
	}
	switch {
	case len(matching) > 1: // the platform takes the first, and Go does not keep the order
		return outcome{state: unsure}
	case len(matching) == 1 && matching[0] != nil:
		found, _ := checkValue(v, matching[0], nil, at)
		return found
	}
	switch schema := s["additionalProperties"].(type) {
	case bool:
		if !schema {
			return violates(at, "additionalProperties")
		}
	case map[string]any:
		found, _ := checkValue(v, schema, nil, at)
		return found
	}
	return outcome{}
}

func (s inputSchema) checkArray(v any, at string) outcome {
	list, ok := elements(v)
	if !ok {
		return outcome{state: unsure}
	}
	found := outcome{}
	seen := map[string]bool{}
	unique := phpTrue(s["uniqueItems"])
	for i, e := range list {
		if s["items"] != nil {
			item, _ := checkValue(e, s["items"], nil, below(at, strconv.Itoa(i)))
			if found = firstOf(found, item); found.state == wrong {
				return found
			}
		}
		if text, ok := e.(string); ok && unique { // others differ by PHP's type: left to the platform
			if seen[text] {
				return violates(at, "uniqueItems")
			}
			seen[text] = true
		} else if unique {
			found = firstOf(found, outcome{state: unsure})
		}
	}
	return firstOf(found, s.bounded(float64(len(list)), "Items", at))
}

// elements converts what the platform takes for a list. It is false for a number whose text
// depends on PHP's settings.
func elements(v any) ([]any, bool) {
	var text string
	switch v := v.(type) {
	case []any:
		return v, true
	case map[string]any:
		list := make([]any, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, v[name])
		}
		return list, true
	case json.Number:
		if !intKey(string(v)) {
			return nil, false
		}
		text = string(v)
	case bool:
		if v {
			text = "1"
		}
	case string:
		text = v
	}
	list := []any{}
	for _, e := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r,", r) }) {
		list = append(list, e)
	}
	return list, true
}

func (s inputSchema) checkPattern(text, at string) outcome {
	pattern := s["pattern"]
	if pattern == nil {
		return outcome{}
	}
	source, ok := pattern.(string)
	if !ok {
		return outcome{state: unsure}
	}
	if state := matchesPattern(source, text); state != wrong {
		return outcome{state: state}
	}
	return violates(at, "pattern")
}

// matchesPattern is unsure where Go's expressions and PHP's may differ.
func matchesPattern(pattern, text string) outcomeState {
	control := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.ContainsFunc(text, control) || strings.Contains(pattern, `\#`) || strings.Contains(pattern, `\v`) {
		return unsure
	}
	expression := compiled(pattern)
	switch {
	case expression == nil:
		return unsure
	case expression.MatchString(text):
		return fits
	}
	return wrong
}

var expressions = ttlcache.New(ttlcache.WithCapacity[string, *regexp.Regexp](schemaCapacity))

// compiled is nil for an expression that Go does not take. A list of texts has the same one
// for each, and to compile costs more than to match.
func compiled(pattern string) *regexp.Regexp {
	if item := expressions.Get(pattern); item != nil {
		return item.Value()
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		expression = nil
	}
	expressions.Set(pattern, expression, ttlcache.NoTTL)
	return expression
}

// checkEnum compares v, made what the type says, with the values of enum.
func (s inputSchema) checkEnum(v any, name, at string) outcome {
	list, ok := s["enum"].([]any)
	if !phpTrue(s["enum"]) {
		return outcome{}
	}
	text, isText := v.(string)
	n, isNumber := numeral(v)
	isNumber = isNumber && (name == "integer" || name == "number")
	compares := isNumber || isText && name == "string" || name == "boolean"
	if !ok || !compares || s["anyOf"] != nil || s["oneOf"] != nil || s["format"] != nil {
		return outcome{state: unsure}
	}
	for _, e := range list {
		en, isEnumNumber := e.(json.Number)
		switch {
		case name == "string" && e == any(text):
			return outcome{}
		case name == "boolean" && e == any(v == true || v == json.Number("1") || text != "" && text != "0" && !strings.EqualFold(text, "false")):
			return outcome{}
		case isNumber && isEnumNumber:
			if f, _ := en.Float64(); f == n {
				return outcome{}
			}
		}
	}
	return violates(at, "enum")
}

var (
	hexColor = regexp.MustCompile(`^#(?:[A-Fa-f0-9]{3}){1,2}\n?$`)
	uuidText = regexp.MustCompile(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\n?$`)
)

// checkFormat computes hex-color and uuid. Other formats are left to the platform.
func (s inputSchema) checkFormat(v any, name, at string) outcome {
	format, _ := s["format"].(string)
	if name != "string" && name != "" || !slices.Contains([]string{"hex-color", "date-time", "email", "ip", "uuid"}, format) {
		return outcome{}
	}
	text, ok := v.(string)
	switch {
	case !ok || format != "hex-color" && format != "uuid":
		return outcome{state: unsure}
	case format == "hex-color" && !hexColor.MatchString(text), format == "uuid" && !uuidText.MatchString(text):
		return violates(at, "format")
	}
	return outcome{}
}
