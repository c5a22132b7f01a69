package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Each calls f with the name, without escapes, and the value of each member of an object that is known to be
// valid, such as those of a [Message]. They are slices of it. The result is false for what is no object.
func Each(object jsontext.Value, f func(name []byte, value jsontext.Value)) bool {
	if object.Kind() != '{' {
		return false
	}
	for name, value := range jsonscan.Members(object) {
		f(jsonscan.Unquoted(name.Of(object)), value.Of(object))
	}
	return true
}

// Plain returns a text as a string, a number as a json.Number and null as nil. Anything else it
// returns as it is.
func Plain(value jsontext.Value) any {
	s, isText := text(value)
	switch kind := value.Kind(); {
	case kind == 'n':
		return nil
	case kind == '0':
		return json.Number(value)
	case isText:
		return s
	}
	return value
}

// EmptyList tells whether a value is a list without elements, which clients in PHP write for an
// empty object.
func EmptyList(value jsontext.Value) bool {
	return value.Kind() == '[' && len(bytes.Trim(value, "[] \t\r\n")) == 0 && bytes.Count(value, []byte("[")) == 1
}
