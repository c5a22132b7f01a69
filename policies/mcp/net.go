package mcp

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MayExecute tells whether a body on any route may be a message that runs something: an
// object whose member method is one of [Executing], or a list or an object with an integer
// key that holds such an object. Of equal keys any counts. A body that breaks off, or is no
// JSON, may if it has one of the methods as plain text.
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
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return false, err
	}
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
		found = found || member(key, body[0] == '[', value)
	}
	_, err = dec.ReadToken()
	return found, err
}

// mentions tells whether a body has one of the methods as plain text.
func mentions(body []byte) bool {
	return slices.ContainsFunc(Executing, func(method string) bool { return bytes.Contains(body, []byte(method)) })
}

// member tells whether one member of the outermost value makes the body a message that runs
// something.
func member(key string, element bool, value jsontext.Value) bool {
	if method, ok := text(value); ok {
		return key == "method" && slices.Contains(Executing, method)
	}
	if !element && !integerKey(key) || value.Kind() != '{' {
		return false
	}
	return methodOf(value)
}

// methodOf tells whether an object has a member method that runs something.
func methodOf(object jsontext.Value) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return false
		}
		if method, ok := text(value); ok && key == "method" && slices.Contains(Executing, method) {
			return true
		}
	}
	return false
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
