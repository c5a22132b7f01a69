package testfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/restwarden/restwarden/policies/typo"
)

// document is a YAML document, whose errors name file and line.
type document struct {
	file  string
	lines int
	// visits counts the values that were read: a few lines of aliases can stand for
	// billions of values.
	visits int
}

const maxVisits = 200_000

var syntaxLine = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// parse returns the root of the one document in text.
func (d *document) parse(text []byte) (*yaml.Node, error) {
	d.lines = 1 + len(lineBreaks.FindAllIndex(bytes.TrimRight(text, "\r\n"), -1))
	var root, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, d.at(1, "the file is empty: it needs the key tests")
	} else if err != nil {
		return nil, d.syntax(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, d.fail(&more, "a second document: a file holds one")
	} else if !errors.Is(err, io.EOF) {
		return nil, d.syntax(err)
	}
	if len(root.Content) == 0 {
		return nil, d.at(1, "the file is empty: it needs the key tests")
	}
	return root.Content[0], nil
}

// syntax names the line of an error of the YAML reader.
func (d *document) syntax(err error) error {
	line, text := 1, err.Error()
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			line = n
		}
	}
	return d.at(line, "this is not YAML: %s", text)
}

// at returns an error at a line. The YAML reader puts an empty value behind the last line.
func (d *document) at(line int, format string, args ...any) error {
	return &Error{Position{d.file, max(1, min(line, d.lines))}, fmt.Sprintf(format, args...)}
}

func (d *document) fail(n *yaml.Node, format string, args ...any) error {
	return d.at(n.Line, format, args...)
}

// lineBreaks are those of YAML 1.1, which is what the reader reads.
var lineBreaks = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// value returns what n stands for.
func (d *document) value(n *yaml.Node) (*yaml.Node, error) {
	if d.visits++; d.visits > maxVisits {
		return nil, d.fail(n, "too many values: aliases repeat too much")
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n, nil
}

// fields reads a mapping. Each key has a reader. It returns the keys that were there.
func (d *document) fields(n *yaml.Node, what string, readers map[string]func(*yaml.Node) error) (given map[string]*yaml.Node, err error) {
	known := slices.Sorted(maps.Keys(readers))
	given = map[string]*yaml.Node{}
	var problems []error
	err = d.pairs(n, what, func(key, value *yaml.Node) error {
		read, ok := readers[key.Value]
		if !ok {
			problems = append(problems, d.unknown(key, what, known))
			return nil
		}
		given[key.Value] = key
		problems = append(problems, read(value))
		return nil
	})
	return given, errors.Join(append(problems, err)...)
}

// unknown says which keys there are.
func (d *document) unknown(key *yaml.Node, what string, known []string) error {
	hint := typo.Hint(key.Value, known...)
	if hint == "" {
		hint = "the keys are " + strings.Join(known, ", ")
	}
	return d.fail(key, "%s has no key %q: %s", what, key.Value, hint)
}

// pairs calls yield for each key of a mapping. A key that is there twice is an error.
func (d *document) pairs(n *yaml.Node, what string, yield func(key, value *yaml.Node) error) error {
	n, err := d.value(n)
	if err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return d.fail(n, "%s has keys with values, this is %s", what, kindOf(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := d.value(n.Content[i])
		switch {
		case err != nil:
			return err
		case key.Kind != yaml.ScalarNode:
			return d.fail(key, "a key of %s is a word, this is %s", what, kindOf(key))
		case seen[key.Value]:
			return d.fail(key, "%s has the key %q twice", what, key.Value)
		}
		seen[key.Value] = true
		if err := yield(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// text reads a scalar as it is written.
func (d *document) text(n *yaml.Node, what string) (string, error) {
	n, err := d.value(n)
	if err != nil {
		return "", err
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", d.fail(n, "%s is text, this is %s", what, kindOf(n))
	}
	return n.Value, nil
}

// word reads one of words.
func (d *document) word(n *yaml.Node, what string, words ...string) (string, error) {
	text, err := d.text(n, what)
	if err != nil {
		return "", err
	}
	if err := typo.Check(text, words...); err != nil {
		return "", d.fail(n, "%s: %v", what, err)
	}
	return text, nil
}

// texts reads a scalar or a list of them.
func (d *document) texts(n *yaml.Node, what string) (all []string, err error) {
	err = d.each(n, what, func(item *yaml.Node) error {
		text, err := d.text(item, what)
		all = append(all, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.ShortTag() == "!!null":
		return "nothing"
	default:
		return fmt.Sprintf("%q", n.Value)
	}
}
