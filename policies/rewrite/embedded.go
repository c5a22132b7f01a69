package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Embedded changes the objects that the platform has embedded in body, the answer to c.
// For _embed the platform runs a call for each embeddable link
// (WP_REST_Server::embed_links). each returns the replacement of an embedded value;
// embedded is the call that value answers, or nil if it is unknown. A body that is neither
// JSON nor JSON in _jsonp is an error.
func Embedded(body []byte, c *call.Call, each func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error)) ([]byte, error) {
	e := &embedder{c, each}
	if m := scriptAnswer.FindSubmatch(body); m != nil {
		inner, err := e.value(m[2])
		return slices.Concat(m[1], inner, m[3]), err
	}
	return e.value(body)
}

// Embeds tells whether the answer to c may hold embedded objects.
func Embeds(c *call.Call) bool {
	if _, set := c.QueryVariable("_embed"); set {
		return true
	}
	for _, part := range c.Parts {
		if _, set := part.QueryVariable("_embed"); set {
			return true
		}
	}
	return false
}

type embedder struct {
	call *call.Call
	each func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error)
}

// member is one member of an object, with its raw value.
type member struct {
	name  string
	value jsontext.Value
}

// value rewrites an object, the objects of a list, or the content of an _envelope.
func (e *embedder) value(body jsontext.Value) (jsontext.Value, error) {
	switch kind := body.Kind(); {
	case kind == '[':
		items, err := elements(body)
		for i := range items {
			if err == nil {
				items[i], err = e.value(items[i])
			}
		}
		return slices.Concat([]byte("["), bytes.Join(raw(items), []byte(",")), []byte("]")), err
	case kind == '{':
		return e.object(body)
	case !body.IsValid():
		return nil, errNotJSON
	}
	return body, nil
}

func (e *embedder) object(body jsontext.Value) (jsontext.Value, error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	links := map[string][]reference{}
	for _, m := range members {
		if m.name == "_links" {
			_ = json.Unmarshal(m.value, &links) // without links every embedded call is unknown
		}
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range members {
		switch m.name {
		case "_embedded":
			m.value, err = e.embedded(m.value, links)
		case "body": // of an _envelope
			m.value, err = e.value(m.value)
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // text
		out.Write(name)
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// reference is one of an object's _links.
type reference struct {
	Href string `json:"href"`
}

// embedded rewrites _embedded. The objects of a relation stand in the order of its links.
func (e *embedder) embedded(value jsontext.Value, links map[string][]reference) (jsontext.Value, error) {
	relations, err := membersOf(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for i, relation := range relations {
		items, err := elements(relation.value)
		if err != nil {
			return nil, err
		}
		for j := range items {
			var embedded *call.Call
			if refs := links[relation.name]; j < len(refs) {
				embedded, _ = e.call.Embedded(refs[j].Href)
			}
			if items[j], err = e.each(embedded, items[j]); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(relation.name) // text
		out.Write(slices.Concat(name, []byte(":["), bytes.Join(raw(items), []byte(",")), []byte("]")))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

var errNotJSON = fmt.Errorf("%w of JSON", ask.ErrUndecided)

func membersOf(value jsontext.Value) (members []member, err error) {
	in := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := in.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errNotJSON
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		members = append(members, m)
	}
	_, err = in.ReadToken()
	return members, err
}

// elements returns copies of the elements of a JSON array; any other value is an error.
func elements(value jsontext.Value) (items []jsontext.Value, err error) {
	in := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := in.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, errNotJSON
	}
	for k := in.PeekKind(); k != ']'; k = in.PeekKind() {
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		items = append(items, value.Clone())
	}
	return items, nil
}

func raw(values []jsontext.Value) [][]byte {
	list := make([][]byte, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}
