package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// unwrapped returns the JSON of an answer, and what stands around it where the platform has
// wrapped it for _jsonp.
func unwrapped(body []byte) (before, inner, behind []byte) {
	const mark = "/**/"
	rest, wrapped := bytes.CutPrefix(body, []byte(mark))
	end := bytes.TrimRight(rest, "\t\n\f\r ")
	name := len(rest) - len(bytes.TrimLeft(rest, nameOfScript))
	if last := len(end) - 1; wrapped && name > 0 && last > name && rest[name] == '(' && end[last] == ')' {
		start, stop := len(mark)+name+1, len(mark)+last
		return body[:start], body[start:stop], body[stop:]
	}
	return nil, body, nil
}

const nameOfScript = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

// containers are the wrappers in which a record may stand, see containersOf.
var containers = containersOf()

// containersOf returns the wrappers: none, a batch of calls, or the lists of a collection's batch; each of them also in an
// _envelope, and with the record as previous, where the platform has deleted it for good.
func containersOf() (all [][]string) {
	for _, list := range [][]string{{}, {"responses", "body"}, {"create"}, {"update"}, {"delete"}} {
		for _, container := range [][]string{list, slices.Concat([]string{"body"}, list)} {
			all = append(all, container, slices.Concat(container, []string{"previous"}))
		}
	}
	return all
}

// AnyName stands in a path for every name.
const AnyName = "\x00"

// Redact replaces the values at paths by "[redacted]", in every element of arrays on the
// way, and behind integer keys. It keeps the meaning of all other bytes. A body that is neither JSON nor JSON in
// _jsonp is an error.
func Redact(body []byte, paths [][]string) ([]byte, error) {
	before, inner, behind := unwrapped(body)
	return redact(before, inner, behind, paths)
}

// redact is Redact for the JSON inner, which stands between before and behind.
func redact(before, inner, behind []byte, paths [][]string) ([]byte, error) {
	in := decoderOf(inner)
	if _, err := in.ReadValue(); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer is more than one JSON value")
	}
	w := &redactor{in: inner, out: make([]byte, 0, len(before)+len(inner)+len(inner)/8+len(behind)), paths: paths}
	w.out = append(w.out, before...)
	w.all()
	w.replace(len(inner), len(inner), "")
	return append(w.out, behind...), nil
}

const redacted = `"[redacted]"`

// redactor copies valid JSON without blanks, and with as few escapes in names as possible.
type redactor struct {
	in, out []byte
	copied  int // bytes of in that stand in out, or whose replacement does
	paths   [][]string
	at      [][]byte // names on the way; arrays and their elements add none
	named   []bool   // of each open object: whether the last of at is in it
}

// replace copies what stands before a part of the text, and replaces that.
func (w *redactor) replace(from, to int, by string) {
	w.out = append(append(w.out, w.in[w.copied:from]...), by...)
	w.copied = to
}

func (w *redactor) all() {
	for i := 0; i < len(w.in); {
		switch w.in[i] {
		case ' ', '\t', '\r', '\n':
			end := jsonscan.Blank(w.in, i)
			w.replace(i, end, "")
			i = end
			continue
		case '"':
			i = w.text(i)
			continue
		case '{':
			w.named = append(w.named, false)
		case '}':
			w.leave()
			w.named = w.named[:len(w.named)-1]
		}
		i++
	}
}

// text goes on behind a string, and behind a member that is redacted.
func (w *redactor) text(from int) int {
	end := jsonscan.Quoted(w.in, from)
	colon := jsonscan.Blank(w.in, end)
	if colon == len(w.in) || w.in[colon] != ':' { // it is no name
		return end
	}
	name := w.in[from+1 : end-1]
	if slices.ContainsFunc(name, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		name, _ = jsontext.AppendUnquote(nil, w.in[from:end]) // a bad character matches nothing
		quoted, _ := jsontext.AppendQuote(nil, name)
		w.replace(from, end, string(quoted))
	}
	w.leave()
	if w.named[len(w.named)-1] = !w.isElement(name); !w.named[len(w.named)-1] {
		return end
	}
	if w.at = append(w.at, name); !w.redacts() {
		return end
	}
	value := jsonscan.Blank(w.in, colon+1)
	w.replace(end, value, ":")
	end = jsonscan.Value(w.in, value)
	w.replace(value, end, redacted)
	return end
}

// isElement tells whether a name stands for an element of a list: it is an integer, and no path has it. PHP writes a list
// with holes as an object, and a client makes holes by _fields (docs/platform/method-and-id.md).
func (w *redactor) isElement(name []byte) bool {
	return isInteger(name) && !slices.ContainsFunc(w.paths, func(path []string) bool {
		return slices.ContainsFunc(path, func(of string) bool { return of == string(name) })
	})
}

// leave ends a member of the innermost object.
func (w *redactor) leave() {
	if w.named[len(w.named)-1] {
		w.at = w.at[:len(w.at)-1]
	}
}

// redacts tells whether the member that begins is to be redacted.
func (w *redactor) redacts() bool {
	return slices.ContainsFunc(w.paths, func(path []string) bool {
		around, ends := cutSuffix(w.at, path)
		return ends && slices.ContainsFunc(containers, func(container []string) bool {
			rest, all := cutSuffix(around, container)
			return all && len(rest) == 0
		})
	})
}

// cutSuffix cuts names off those on the way. An integer that is the name of another path is an element here.
func cutSuffix(at [][]byte, names []string) (before [][]byte, ok bool) {
	for n := len(names); ; n-- {
		for len(at) > 0 && isInteger(at[len(at)-1]) && (n == 0 || string(at[len(at)-1]) != names[n-1]) {
			at = at[:len(at)-1]
		}
		switch last := len(at) - 1; {
		case n == 0:
			return at, true
		case last < 0, names[n-1] != AnyName && string(at[last]) != names[n-1]:
			return nil, false
		default:
			at = at[:last]
		}
	}
}

func isInteger(name []byte) bool {
	return len(name) > 0 && len(bytes.Trim(name, "0123456789")) == 0
}
