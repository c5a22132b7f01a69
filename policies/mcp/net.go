package mcp

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// MayExecute tells whether a body on any route may be a message that runs something: an
// object whose member method is one of [Executing], or a list or an object with an integer key
// that holds such an object anywhere: some servers take it for a list of all its members
// (docs/platform IV.2). Of equal keys any counts. A body that breaks off, or is no JSON, may if
// it has one of the methods as plain text.
func MayExecute(body []byte) bool {
	body = bytes.Trim(body, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || !mentions(body) && bytes.IndexByte(body, '\\') < 0 {
		return false
	}
	found, err := holdsMethod(body)
	return found || err != nil && mentions(body)
}

// holdsMethod reads a body up to its first error.
func holdsMethod(body []byte) (found bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsonscan.Lax...)
	if _, err := dec.ReadToken(); err != nil {
		return false, err
	}
	list, below := body[0] == '[', false
	for dec.PeekKind() != ']' && dec.PeekKind() != '}' {
		key := ""
		if body[0] == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return found, err
			}
			key = name.String()
		}
		value, err := dec.ReadValue()
		if err != nil {
			return found, err
		}
		list = list || integerKey(key)
		jsonscan.Each(value, func(name []byte, value jsontext.Value) {
			below = below || string(name) == "method" && executes(value)
		})
		found = found || key == "method" && executes(value)
	}
	_, err = dec.ReadToken()
	return found || list && below, err
}

// mentions tells whether a body has one of the methods as plain text.
func mentions(body []byte) bool {
	return slices.ContainsFunc(Executing, func(method string) bool { return bytes.Contains(body, []byte(method)) })
}

// executes tells whether a value is the text of a method that runs something.
func executes(value jsontext.Value) bool {
	method, ok := text(value)
	return ok && slices.Contains(Executing, method)
}

// ID returns the id that the answer to a body should carry, as written: that of a message
// whose outermost object has one plain id. It is "null" for any other body.
func ID(body []byte) string {
	members, ok := membersOf(bytes.Trim(body, " \t\r\n"))
	if id := members["id"]; ok && id != nil && plainID(id) {
		return string(id)
	}
	return "null"
}
