package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// scriptAnswer matches an answer that the platform has wrapped for _jsonp.
var scriptAnswer = regexp.MustCompile(`(?s)^(/\*\*/[\w.]+\()(.*)(\)\s*)$`)

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
	if m := scriptAnswer.FindSubmatch(body); m != nil {
		inner, err := Redact(m[2], paths)
		if err != nil {
			return nil, err
		}
		return slices.Concat(m[1], inner, m[3]), nil
	}
	options := []jsontext.Options{
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true),
	}
	in := jsontext.NewDecoder(bytes.NewReader(body), options...)
	var out bytes.Buffer
	w := &redactor{in: in, out: jsontext.NewEncoder(&out, options...), paths: paths}
	if err := w.value(); err != nil {
		return nil, err
	}
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer is more than one JSON value")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

const redacted = `"[redacted]"`

type redactor struct {
	in    *jsontext.Decoder
	out   *jsontext.Encoder
	paths [][]string
	at    []string // names on the way; arrays add none
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
			w.at = append(w.at, name.String())
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
	for _, container := range containers {
		rest, ok := cutPrefix(w.at, container)
		if !ok {
			continue
		}
		for _, path := range w.paths {
			if slices.Equal(rest, path) {
				return true
			}
		}
	}
	return false
}

func cutPrefix(path, prefix []string) ([]string, bool) {
	if len(path) < len(prefix) || !slices.Equal(path[:len(prefix)], prefix) {
		return nil, false
	}
	return path[len(prefix):], true
}
