package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Members goes through the members of objects, such as those of a [Message], and decodes no value, so that it
// takes no memory of their size. It is for one goroutine, and for one object at a time.
type Members struct {
	dec  jsontext.Decoder
	text bytes.Buffer
}

var readBefore = []jsontext.Options{jsontext.AllowDuplicateNames(true)} // Read has looked for them

// Each calls f with the name and the value of each member, which are valid until Each returns.
// Names are without escapes. The result is false for what is no object, or an object and more.
func (m *Members) Each(object jsontext.Value, f func(name []byte, value jsontext.Value)) bool {
	m.text = *bytes.NewBuffer(object)
	m.dec.Reset(&m.text, readBefore...)
	if t, err := m.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for m.dec.PeekKind() == '"' {
		name, err := m.dec.ReadValue()
		if err != nil {
			return false
		}
		name = object[m.dec.InputOffset()-int64(len(name)) : m.dec.InputOffset()] // the decoder's own is valid until it reads on
		value, err := m.dec.ReadValue()
		if err != nil {
			return false
		}
		plain := []byte(name[1 : len(name)-1])
		if bytes.IndexByte(plain, '\\') >= 0 {
			if plain, err = jsontext.AppendUnquote(nil, name); err != nil {
				return false
			}
		}
		f(plain, value)
	}
	if t, err := m.dec.ReadToken(); err != nil || t.Kind() != '}' {
		return false
	}
	_, err := m.dec.ReadToken()
	return errors.Is(err, io.EOF)
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
