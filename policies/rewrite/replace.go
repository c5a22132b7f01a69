package rewrite

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// appendMembers appends an object that is known to be valid, with each value as put appends it. What is no object is an
// error.
func appendMembers(out []byte, object jsontext.Value, put func(out []byte, name string, value jsontext.Value) ([]byte, error)) (_ []byte, err error) {
	if object.Kind() != '{' {
		return nil, errNotJSON
	}
	out = append(out, '{')
	begin := len(out)
	for name, value := range jsonscan.Members(object) {
		if len(out) > begin {
			out = append(out, ',')
		}
		out = append(append(out, name.Of(object)...), ':')
		if out, err = put(out, string(jsonscan.Unquoted(name.Of(object))), value.Of(object)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendElements is appendMembers for a list.
func appendElements(out []byte, list jsontext.Value, put func(out []byte, value jsontext.Value) ([]byte, error)) (_ []byte, err error) {
	if list.Kind() != '[' {
		return nil, errNotJSON
	}
	out = append(out, '[')
	begin := len(out)
	for value := range jsonscan.Elements(list) {
		if len(out) > begin {
			out = append(out, ',')
		}
		if out, err = put(out, value.Of(list)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}
