package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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

// containers are the wrappers in which an answer may stand: none, a batch of calls, or
// the lists of a collection's batch; each of them also in an _envelope.
var containers = [][]string{
	{},
	{"responses", "body"},
	{"create"},
	{"update"},
	{"delete"},
	{"body"},
	{"body", "responses", "body"},
	{"body", "create"},
	{"body", "update"},
	{"body", "delete"},
}

// Redact replaces the values at paths by "[redacted]", in every element of arrays on the
// way. It keeps the meaning of all other bytes. A body that is neither JSON nor JSON in
// _jsonp is an error.
func Redact(body []byte, paths [][]string) ([]byte, error) {
	before, inner, behind := unwrapped(body)
	return redact(before, inner, behind, paths, false)
}

// lax takes what a platform may answer.
var lax = []jsontext.Options{
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true),
}

// redact is Redact for the JSON inner, which stands between before and behind. With lists,
// integer keys stand for elements of a list.
func redact(before, inner, behind []byte, paths [][]string, lists bool) ([]byte, error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(inner), lax...)
	var out bytes.Buffer
	out.Grow(len(before) + len(inner) + len(inner)/8 + len(behind))
	out.Write(before)
	encoder := jsontext.NewEncoder(struct{ io.Writer }{&out}, lax...) // it would let the buffer itself grow too far
	w := &redactor{in: in, out: encoder, paths: paths, lists: lists}
	if err := w.value(); err != nil {
		return nil, err
	}
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer is more than one JSON value")
	}
	out.Truncate(len(bytes.TrimSuffix(out.Bytes(), []byte("\n"))))
	out.Write(behind)
	return out.Bytes(), nil
}

const redacted = `"[redacted]"`

type redactor struct {
	in    *jsontext.Decoder
	out   *jsontext.Encoder
	paths [][]string
	at    []string // names on the way; arrays add none
	lists bool
}

// value copies one value, or writes "[redacted]" for it.
func (w *redactor) value() error {
	if w.redacts() {
		if err := w.in.SkipValue(); err != nil {
			return fmt.Errorf("the answer is not JSON: %w", err)
		}
		return w.out.WriteValue(jsontext.Value(redacted))
	}
	token, err := w.in.ReadToken()
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	if err := w.out.WriteToken(token); err != nil {
		return err
	}
	switch token.Kind() {
	case '{':
		return w.members('}', true)
	case '[':
		return w.members(']', false)
	default:
		return nil
	}
}

func (w *redactor) members(end jsontext.Kind, named bool) error {
	for w.in.PeekKind() != end {
		if named {
			name, err := w.in.ReadToken()
			if err != nil {
				return fmt.Errorf("the answer is not JSON: %w", err)
			}
			step := name.String()
			if w.lists && isInteger(step) {
				step = ""
			}
			w.at = append(w.at, step)
			if err := w.out.WriteToken(jsontext.String(name.String())); err != nil {
				return err
			}
		}
		if err := w.value(); err != nil {
			return err
		}
		if named {
			w.at = w.at[:len(w.at)-1]
		}
	}
	token, err := w.in.ReadToken()
	if err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	return w.out.WriteToken(token)
}

func (w *redactor) redacts() bool {
	names := w.names()
	return slices.ContainsFunc(containers, func(container []string) bool {
		n := len(container)
		return len(names) >= n && slices.Equal(names[:n], container) &&
			slices.ContainsFunc(w.paths, func(path []string) bool { return slices.Equal(names[n:], path) })
	})
}

// names are the names on the way without the keys that stand for elements of a list.
func (w *redactor) names() []string {
	if !w.lists || !slices.Contains(w.at, "") {
		return w.at
	}
	return slices.DeleteFunc(slices.Clone(w.at), func(name string) bool { return name == "" })
}

func isInteger(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }
