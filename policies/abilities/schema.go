package abilities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

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

// schemaCache keeps each decoded schema under its own text, so that a changed schema is
// another entry.
type schemaCache struct {
	parsed *ttlcache.Cache[string, any]
}

const schemaCapacity = 500

func newSchemaCache() *schemaCache {
	return &schemaCache{ttlcache.New(
		ttlcache.WithCapacity[string, any](schemaCapacity),
		ttlcache.WithTTL[string, any](time.Hour),
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
	schema, err := s.parse(raw)
	if err != nil {
		return "", fmt.Errorf("%w: the input schema of %s: %w", ask.ErrUndecided, a.Name, err)
	}
	found, _ := checkValue(input, schema, nil, "input")
	return found.cause[:min(len(found.cause), maxCause)], nil
}

// abilityInput returns the parameter input: from the query for GET and DELETE, otherwise
// as any other parameter. It converts text to the value that the text spells.
func abilityInput(c *call.Call) (input any, set bool, err error) {
	v, set, err := c.Param("input")
	if !set || err != nil || v == nil {
		return nil, false, err
	}
	switch v := v.(type) {
	case string, *phpvars.Array:
		return coerce(v, spelled), true, nil
	}
	return v, true, nil
}

// writtenInput is abilityInput without that conversion: the schema says what a text is.
func writtenInput(c *call.Call) (input any, set bool, err error) {
	v, set, err := c.Param("input")
	if !set || err != nil || v == nil {
		return nil, false, err
	}
	return coerce(v, func(text string) any { return text }), true, nil
}

// spelled is the value that a text spells.
func spelled(v string) any {
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
}

// plainNumbers tells whether all numbers fit the platform's floats.
func plainNumbers(v any) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && (f != 0 || !strings.ContainsAny(string(v), "eE"))
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

// coerce converts form values to lists and objects, and each text by convert.
func coerce(v any, convert func(string) any) any {
	switch v := v.(type) {
	case string:
		return convert(v)
	case *phpvars.Array:
		keys, values, list := v.Keys(), make([]any, v.Len()), v.Len() > 0
		for i, key := range keys {
			member, _ := v.Get(key)
			values[i] = coerce(member, convert)
			list = list && key == strconv.Itoa(i)
		}
		if list {
			return values
		}
		object := make(map[string]any, len(keys))
		for i, key := range keys {
			object[key] = values[i]
		}
		return object
	}
	return v
}

// parse decodes a schema. One that is neither an object nor a list cannot be used.
func (s *schemaCache) parse(raw []byte) (any, error) {
	if item := s.parsed.Get(string(raw)); item != nil {
		return item.Value(), nil
	}
	schema, _, err := input(raw)
	if err != nil {
		return nil, err
	}
	switch schema.(type) {
	case map[string]any, []any:
		s.parsed.Set(string(raw), schema, ttlcache.DefaultTTL)
		return schema, nil
	}
	return nil, errors.New("it is no object")
}

// filtered keeps the items of a list for which keep returns true. It returns the new list and its
// length, and the length of the old one.
func filtered[T any](body []byte, keep func(*T) bool) (result json.RawMessage, left, all int, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, 0, 0, err
	}
	kept := []json.RawMessage{}
	for _, item := range list {
		var about T
		if err := json.Unmarshal(item, &about); err != nil {
			return nil, 0, 0, err
		}
		if keep(&about) {
			kept = append(kept, item)
		}
	}
	result, err = json.Marshal(kept)
	return result, len(kept), len(list), err
}
