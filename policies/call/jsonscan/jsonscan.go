// Package jsonscan goes through JSON that somebody has found to be valid. It looks at brackets, quotes and commas only, so
// that it takes a fraction of what a reading of the same text takes. Of a text that is not valid it says anything,
// but it comes to an end.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep the JSON of a request may be nested. The platform allows 512.
const MaxDepth = 64

// Lax takes what some reader of JSON may take: names that stand twice, and text that is no UTF-8.
var Lax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Outline tells whether brackets outside of strings nest no deeper than MaxDepth. names is how many
// members an object has, where text is one. The text need not be valid.
func Outline(text []byte) (names int, fits bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = Quoted(text, i) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return 0, false
			}
		case '}', ']':
			depth--
		case ':':
			if depth == 1 {
				names++
			}
		}
	}
	return names, true
}

// Unquoted returns a string without its quotes and escapes.
func Unquoted(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

// Span is a part of a text.
type Span struct{ From, To int }

// Of returns the part of text. Nobody can append to it.
func (s Span) Of(text []byte) []byte { return text[s.From:s.To:s.To] }

// Blank returns where the blanks at i end.
func Blank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// Quoted returns where the string ends that begins at i.
func Quoted(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// Value returns where the value ends that begins at i.
func Value(text []byte, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = Quoted(text, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // that of what the value stands in
				return i
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// Members goes through the names, with their quotes, and the values of an object.
func Members(text []byte) iter.Seq2[Span, Span] {
	return func(yield func(name, value Span) bool) {
		for i := begin(text, '{'); i < len(text) && text[i] == '"'; {
			name := Span{i, Quoted(text, i)}
			if i = Blank(text, name.To); i == len(text) || text[i] != ':' {
				return
			}
			i = Blank(text, i+1)
			value := Span{i, Value(text, i)}
			if !yield(name, value) {
				return
			}
			i = after(text, value.To)
		}
	}
}

// Elements goes through the elements of a list.
func Elements(text []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := begin(text, '['); i < len(text) && text[i] != ']'; {
			value := Span{i, Value(text, i)}
			if !yield(value) {
				return
			}
			i = after(text, value.To)
		}
	}
}

// Each calls f with the name, without escapes, and the value of each member of an object. They are slices of it.
// The result is false for what is no object.
func Each(object jsontext.Value, f func(name []byte, value jsontext.Value)) bool {
	for name, value := range Members(object) {
		f(Unquoted(name.Of(object)), value.Of(object))
	}
	return object.Kind() == '{'
}

// Plain returns a text as a string, a number as a json.Number and null as nil. Anything else it
// returns as it is.
func Plain(value jsontext.Value) any {
	switch value.Kind() { //nolint:exhaustive // all others are returned
	case 'n':
		return nil
	case '0':
		return json.Number(value)
	case '"':
		return string(Unquoted(value))
	}
	return value
}

// EmptyList tells whether a value is a list without elements, which clients in PHP write for an empty object.
func EmptyList(value jsontext.Value) bool { return value.Kind() == '[' && empty(value, ']') }

// EmptyObject tells whether a value is an object without members.
func EmptyObject(value jsontext.Value) bool { return value.Kind() == '{' && empty(value, '}') }

// empty tells whether the bracket of a list or an object ends it at once.
func empty(value []byte, bracket byte) bool {
	i := begin(value, value[Blank(value, 0)])
	return i < len(value) && value[i] == bracket
}

// begin returns where the first element of a text with the opening bracket may begin.
func begin(text []byte, bracket byte) int {
	i := Blank(text, 0)
	if i == len(text) || text[i] != bracket {
		return len(text)
	}
	return Blank(text, i+1)
}

// after returns where the element behind one that ends at i may begin, which is behind a comma.
func after(text []byte, i int) int {
	if i = Blank(text, i); i < len(text) && text[i] == ',' {
		return Blank(text, i+1)
	}
	return len(text)
}
