package testfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds a file of tests.
const maxSize = 16 << 20

// Read reads a file of tests. The paths in it are relative to its directory. Each error is
// an *Error, or several of them joined.
func Read(path string, from io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxSize+1))
	switch {
	case err != nil:
		return nil, &Error{Position{path, 1}, err.Error()}
	case len(text) > maxSize:
		return nil, &Error{Position{path, 1}, fmt.Sprintf("a file of tests has at most %d MiB", maxSize>>20)}
	}
	d := &document{file: path}
	root, err := d.parse(text)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path}
	given, err := d.fields(root, "a file of tests", map[string]func(*yaml.Node) error{
		"config":  d.path(&f.Config, "config"),
		"adapter": d.string(&f.Adapter, "adapter"),
		"index":   d.path(&f.Index, "index"),
		"tests":   func(n *yaml.Node) error { return d.tests(n, f) },
	})
	if err == nil && given["tests"] == nil {
		err = d.fail(root, "a file of tests needs the key tests")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// path reads the path of a file.
func (d *document) path(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := d.text(n, what)
		switch {
		case err != nil:
			return err
		case text == "":
			return d.fail(n, "%s is empty", what)
		case !filepath.IsAbs(text):
			text = filepath.Join(filepath.Dir(d.file), text)
		}
		*to = text
		return nil
	}
}

func (d *document) string(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		*to, err = d.text(n, what)
		if err == nil && *to == "" {
			err = d.fail(n, "%s is empty", what)
		}
		return err
	}
}

// tests reads the list of tests. It goes on behind a test with an error.
func (d *document) tests(n *yaml.Node, f *File) error {
	n, err := d.value(n)
	if err != nil {
		return err
	}
	if n.Kind != yaml.SequenceNode {
		return d.fail(n, "tests is a list, this is %s", kindOf(n))
	}
	if len(n.Content) == 0 {
		return d.fail(n, "tests is empty: a file without tests tells nothing")
	}
	var problems []error
	for _, item := range n.Content {
		t, err := d.test(item)
		problems = append(problems, err)
		f.Tests = append(f.Tests, t)
	}
	return errors.Join(problems...)
}

// test reads one item of the list.
func (d *document) test(n *yaml.Node) (Test, error) {
	n, err := d.value(n)
	if err != nil {
		return Test{}, err
	}
	t := Test{At: Position{d.file, max(n.Line, 1)}}
	readers := map[string]func(*yaml.Node) error{"name": d.string(&t.Name, "name")}
	b := d.request(&t, readers)
	readers["never"] = func(n *yaml.Node) error { return d.proof(n, &t, false) }
	readers["always"] = func(n *yaml.Node) error { return d.proof(n, &t, true) }
	given, err := d.fields(n, "a test", readers)
	if err != nil {
		return t, err
	}
	proof := cmp.Or(given["never"], given["always"])
	switch {
	case given["never"] != nil && given["always"] != nil:
		return t, d.fail(proof, "a test has either never or always")
	case proof == nil && given["request"] == nil:
		return t, d.fail(n, "a test needs request and expect, or never, or always")
	case proof == nil && given["expect"] == nil:
		return t, d.fail(n, "a test with request needs expect")
	case proof == nil:
		t.Proof = nil
		return t, b.build(given)
	}
	for key, at := range given {
		if key != "name" && key != "never" && key != "always" {
			return t, d.fail(at, "%s does not go with %s", key, proof.Value)
		}
	}
	t.Request = nil
	return t, nil
}
