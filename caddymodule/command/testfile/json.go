package testfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep values are nested. An alias of itself has no end.
const maxDepth = 100

// json writes a value as JSON, keys in their order and numbers as written: the platform
// tells 1 from 1.0.
func (d *document) json(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := d.writeJSON(&b, n, 0)
	return b.Bytes(), err
}

func (d *document) writeJSON(b *bytes.Buffer, n *yaml.Node, depth int) error {
	n, err := d.value(n)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return d.fail(n, "json: more than %d values inside each other", maxDepth)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := d.writeJSON(b, item, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case yaml.MappingNode:
		b.WriteByte('{')
		comma := false
		err := d.pairs(n, "json", func(key, value *yaml.Node) error {
			if comma {
				b.WriteByte(',')
			}
			comma = true
			if key.ShortTag() == "!!merge" {
				return d.fail(key, "json: << is no key of JSON")
			}
			b.Write(quote(key.Value))
			b.WriteByte(':')
			return d.writeJSON(b, value, depth+1)
		})
		b.WriteByte('}')
		return err
	default:
		return d.writeScalar(b, n)
	}
}

func (d *document) writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value)
			return nil
		}
	case "!!bool", "!!null":
	case "!!str", "!!timestamp":
		b.Write(quote(n.Value))
		return nil
	default:
		return d.fail(n, "json: %s has no form in JSON", n.ShortTag())
	}
	var v any
	err := n.Decode(&v)
	text, unwritable := json.Marshal(v)
	if err = errors.Join(err, unwritable); err != nil {
		return d.fail(n, "json: %q has no form in JSON", n.Value)
	}
	b.Write(text)
	return nil
}

// quote writes JSON without the escapes that are meant for HTML.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // text always has a form in JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// form writes a mapping as the body of an HTML form, names in their order. A list repeats
// its name.
func (d *document) form(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := d.pairs(n, "form", func(key, value *yaml.Node) error {
		values, err := d.texts(value, "form: "+key.Value)
		for _, v := range values {
			if b.Len() > 0 {
				b.WriteByte('&')
			}
			b.WriteString(url.QueryEscape(key.Value) + "=" + url.QueryEscape(v))
		}
		return err
	})
	return b.Bytes(), err
}
