package rewrite

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// lax takes answers as PHP may write them.
var lax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// replaceMembers returns an object that is known to be valid with other values. What is no object is an error.
func replaceMembers(object jsontext.Value, by func(name string, value jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	if object.Kind() != '{' {
		return nil, errNotJSON
	}
	out := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		replaced, err := by(string(jsonscan.Unquoted(name.Of(object))), value.Of(object))
		if err != nil {
			return nil, err
		}
		out = append(append(append(append(out, name.Of(object)...), ':'), replaced...), ',')
	}
	return append(bytes.TrimSuffix(out, []byte{','}), '}'), nil
}

// replaceElements is replaceMembers for a list.
func replaceElements(list jsontext.Value, by func(jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	if list.Kind() != '[' {
		return nil, errNotJSON
	}
	out := []byte{'['}
	for value := range jsonscan.Elements(list) {
		replaced, err := by(value.Of(list))
		if err != nil {
			return nil, err
		}
		out = append(append(out, replaced...), ',')
	}
	return append(bytes.TrimSuffix(out, []byte{','}), ']'), nil
}
