package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

func parseAbility(body []byte, id string) (*ability, error) {
	var about ability
	if err := json.Unmarshal(body, &about); err != nil {
		return nil, fmt.Errorf("%w: the ability does not parse: %w", ask.ErrUndecided, err)
	}
	if about.Name != id {
		return nil, fmt.Errorf("%w: %w", ask.ErrUndecided, errNotAbility)
	}
	return &about, nil
}

// method is the method with which the platform runs the ability.
func (a *ability) method() string {
	switch note := a.Meta.Annotations; {
	case note.Readonly:
		return http.MethodGet
	case a.destructive() && note.Idempotent:
		return http.MethodDelete
	}
	return http.MethodPost
}

func (a *ability) runsWith(method string) bool {
	return method == a.method() || method == http.MethodHead && a.method() == http.MethodGet
}

// schemaCache keeps each compiled schema under its own text, so that a changed schema is
// another entry.
type schemaCache struct {
	compiled *ttlcache.Cache[string, *jsonschema.Schema]
}

const schemaCapacity = 500

func newSchemaCache() *schemaCache {
	return &schemaCache{ttlcache.New(
		ttlcache.WithCapacity[string, *jsonschema.Schema](schemaCapacity),
		ttlcache.WithTTL[string, *jsonschema.Schema](time.Hour),
	)}
}

// violation checks input against the ability's schema. It returns what is wrong, for the
// client, or "". A call without input is left to the platform, which knows the defaults.
func (s *schemaCache) violation(a *ability, input any) (string, error) {
	if !plainNumbers(input) {
		return "input has a number that is out of range", nil
	}
	raw := bytes.TrimSpace(a.InputSchema)
	if len(raw) == 0 || string(raw) == "[]" || string(raw) == "{}" || string(raw) == "null" {
		return "", nil
	}
	schema, err := s.compile(raw)
	if err != nil {
		return "", fmt.Errorf("%w: the input schema of %s: %w", ask.ErrUndecided, a.Name, err)
	}
	var wrong *jsonschema.ValidationError
	switch err := schema.Validate(input); {
	case errors.As(err, &wrong):
		return firstCause(wrong), nil
	case err != nil:
		return "", fmt.Errorf("%w: the input of %s: %w", ask.ErrUndecided, a.Name, err)
	}
	return "", nil
}

// firstCause names the place of the first error and the keyword that it violates. It
// omits values, which may be long.
func firstCause(e *jsonschema.ValidationError) string {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	at := "input"
	if len(e.InstanceLocation) > 0 {
		at += "." + strings.Join(e.InstanceLocation, ".")
	}
	text := at + " does not meet " + strings.Join(e.ErrorKind.KeywordPath(), ".")
	return text[:min(len(text), 200)]
}

// abilityInput returns the parameter input: from the query for GET and DELETE, otherwise
// as any other parameter. It converts text to the value that the text spells, as the
// platform does.
func abilityInput(c *call.Call) (input any, set bool, err error) {
	v, set, err := c.Param("input")
	if !set || err != nil || v == nil {
		return nil, false, err
	}
	switch v := v.(type) {
	case string:
		return coerce(v), true, nil
	case *phpvars.Array:
		return coerce(v), true, nil
	}
	return v, true, nil
}

// plainNumbers tells whether all numbers fit the platform's floats. The validator
// computes exactly, so that 1e999999 would take it long.
func plainNumbers(v any) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && len(v) <= 32 && (f != 0 || !strings.ContainsAny(string(v), "eE"))
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !plainNumbers(e) })
	case map[string]any:
		for _, e := range v {
			if !plainNumbers(e) {
				return false
			}
		}
	}
	return true
}

// coerce converts form values to the values that JSON would hold.
func coerce(v any) any {
	switch v := v.(type) {
	case string:
		switch v {
		case "true":
			return true
		case "false":
			return false
		}
		if v == strings.TrimSpace(v) && v != "" && strings.Contains("-0123456789", v[:1]) && json.Valid([]byte(v)) {
			return json.Number(v)
		}
		return v
	case *phpvars.Array:
		list := make([]any, 0, v.Len())
		object := make(map[string]any, v.Len())
		for i, key := range v.Keys() {
			member, _ := v.Get(key)
			object[key] = coerce(member)
			if key == strconv.Itoa(i) {
				list = append(list, object[key])
			}
		}
		if len(list) == v.Len() && len(list) > 0 {
			return list
		}
		return object
	}
	return v
}

func (s *schemaCache) compile(raw []byte) (*jsonschema.Schema, error) {
	if item := s.compiled.Get(string(raw)); item != nil {
		return item.Value(), nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const address = "urn:ability:input" // absolute: the library puts the working directory before a relative one
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4) // the draft that the platform's validator follows
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(address, standardSchema(doc)); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(address)
	if err != nil {
		return nil, err
	}
	s.compiled.Set(string(raw), schema, ttlcache.DefaultTTL)
	return schema, nil
}

// noLoader keeps a schema from loading files or addresses.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: schemas may not refer elsewhere", url)
}

// standardSchema converts the platform's own spellings: PHP's empty list for an empty
// object, and `required: true` inside a property.
func standardSchema(v any) any {
	schema, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(schema))
	maps.Copy(out, schema)
	if _, own := out["required"].(bool); own {
		delete(out, "required")
	}
	for _, key := range []string{"properties", "patternProperties"} {
		members, ok := out[key].(map[string]any)
		if !ok {
			delete(out, key)
			continue
		}
		out[key] = standardMembers(out, members)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if _, ok := out[key]; ok {
			out[key] = standardSchema(out[key])
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := out[key].([]any); ok {
			for i := range list {
				list[i] = standardSchema(list[i])
			}
		}
	}
	return out
}

// standardMembers converts the properties of parent. It adds to parent's required list
// the properties that call themselves required.
func standardMembers(parent, members map[string]any) map[string]any {
	standard := make(map[string]any, len(members))
	required, _ := parent["required"].([]any)
	for name, member := range members {
		if m, ok := member.(map[string]any); ok && m["required"] == true {
			required = append(required, name)
		}
		standard[name] = standardSchema(member)
	}
	if len(required) > 0 {
		parent["required"] = required
	}
	return standard
}

// filterAbilities keeps the abilities for which keep returns true. It returns the new
// list and its length, and the length of the old one.
func filterAbilities(body []byte, keep func(*ability) bool) (filtered []byte, left, all int, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, 0, 0, fmt.Errorf("the list does not parse: %w", err)
	}
	kept := []json.RawMessage{}
	for _, item := range list {
		var about ability
		if err := json.Unmarshal(item, &about); err != nil {
			return nil, 0, 0, fmt.Errorf("the list does not parse: %w", err)
		}
		if keep(&about) {
			kept = append(kept, item)
		}
	}
	filtered, err = json.Marshal(kept)
	return filtered, len(kept), len(list), err
}
