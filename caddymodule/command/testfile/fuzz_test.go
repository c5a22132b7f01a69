package testfile

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzRead: whatever the file says, Read does not panic, and every error names a line of
// the file.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/all.test.yaml", "../../../docs/examples/shop.test.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{
		"tests:\n- {request: GET /, at: all, expect: pass}\n- never: {as: user, routes: /**, at: 'tag:x'}\n",
		"", "---\n---\n", "tests: []", "tests:\n- request: &a [*a]\n", "tests:\n- &a\n  json: [*a]\n", "<<: {}\n", "? [a]\n: b\n",
		"tests:\n- request: GET http://a/\n  expect: {refused: a, refused: b}\n", "\xff", "tests: !!binary x\n", "a: &x {b: *x}\n",
		"tests:\n- {request: POST http://a/, expect: pass, json: [1.0, .inf, 0x1F, 2001-01-01, ~, !!binary aGk=]}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Read("shop.test.yaml", strings.NewReader(text))
		if err == nil {
			for _, test := range file.Tests {
				if test.Name == "" || test.At.Line < 1 || (test.Request == nil) == (test.Proof == nil) ||
					test.Request != nil && len(test.Raw) == 0 || test.Proof != nil && (test.Proof.URL == "") == (test.Sites == nil) {
					t.Errorf("%q: %+v", text, test)
				}
			}
			return
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + 1
		for _, e := range flatten(err) {
			if e.At.File != "shop.test.yaml" || e.At.Line < 1 || e.At.Line > lines || e.Text == "" {
				t.Errorf("%q: line %d of %d: %v", text, e.At.Line, lines, e)
			}
		}
	})
}

// flatten returns the errors that err joins.
func flatten(err error) (all []*Error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return []*Error{e}
	}
	return []*Error{{Text: err.Error()}}
}
