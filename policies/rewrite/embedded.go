package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Embedded changes the objects that the platform has embedded in body, the answer to c.
// For _embed the platform runs a call for each embeddable link
// (WP_REST_Server::embed_links). each returns the replacement of an embedded value;
// embedded is the call that value answers, or nil if it is unknown. A body that is neither
// JSON nor JSON in _jsonp is an error.
func Embedded(body []byte, c *call.Call, each func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error)) ([]byte, error) {
	before, inner, behind := unwrapped(body)
	e := &embedder{call: c, each: each, body: inner, in: decoderOf(inner)}
	if kind := e.in.PeekKind(); kind != '[' && kind != '{' && !jsontext.Value(inner).IsValid() {
		return nil, errNotJSON
	}
	e.out = append(make([]byte, 0, len(body)+len(body)/8), before...)
	if err := e.value(); err != nil {
		return nil, err
	}
	e.copyTo(e.in.InputOffset())
	return append(e.out, behind...), nil
}

// EmbeddedIn is Embedded for an answer of the platform, in place. An error of the platform, and an empty body, stay as
// they are.
func EmbeddedIn(a *ask.Answer, c *call.Call, each func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error)) error {
	if len(a.Body) == 0 || a.Status >= http.StatusBadRequest || isXML(a) {
		return nil
	}
	body, err := Embedded(a.Body, c, each)
	if err == nil {
		Replaced(a, body)
	}
	return err
}

// isXML tells whether an answer is XML, as oEmbed has it: the platform embeds nothing there.
func isXML(a *ask.Answer) bool {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "text/xml"
}

// Replaced gives an answer another body. What a client knows the answer by goes, where it is another one.
func Replaced(a *ask.Answer, body []byte) {
	if bytes.Equal(a.Body, body) {
		return
	}
	a.Body = body
	a.Header.Del("ETag")
	a.Header.Del("Last-Modified")
}

// ForbiddenEmbed stands in place of an embedded object that the caller may not read, as the platform writes it.
func ForbiddenEmbed() jsontext.Value {
	return jsontext.Value(`{"code":"rest_forbidden","message":"Sorry, you are not allowed to do that.","data":{"status":401}}`)
}

// embedder copies an answer in one pass. Each object waits only for its own _links, so that the
// work grows with the answer, however its objects are nested.
type embedder struct {
	call   *call.Call
	each   func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error)
	body   []byte // that in reads
	in     *jsontext.Decoder
	late   []late
	copied int64 // bytes of body that stand in out, or whose replacement does
	out    []byte
}

// reference is one of an object's _links.
type reference struct {
	Href string `json:"href"`
}

// late is an _embedded that is written once all _links of its object are known.
type late struct {
	value jsontext.Value
	end   int64 // in the body
	links *map[string][]reference
}

// value reads an object, the objects of a list, or the content of an _envelope.
func (e *embedder) value() error {
	switch e.in.PeekKind() { //nolint:exhaustive // all others are one value
	case '[':
		return e.list()
	case '{':
		return e.object()
	}
	_, err := next(e.in, e.body)
	return err
}

func (e *embedder) list() error {
	if _, err := e.in.ReadToken(); err != nil {
		return err
	}
	for e.in.PeekKind() != ']' {
		if err := e.value(); err != nil {
			return err
		}
	}
	_, err := e.in.ReadToken()
	return err
}

func (e *embedder) object() error {
	if _, err := e.in.ReadToken(); err != nil {
		return err
	}
	links, waiting := new(map[string][]reference), len(e.late) > 0
	for e.in.PeekKind() == '"' {
		raw, err := next(e.in, e.body)
		if err != nil {
			return err
		}
		name := string(jsonscan.Unquoted(raw))
		if name == "body" { // of an _envelope
			if err := e.value(); err != nil {
				return err
			}
			continue
		}
		value, err := next(e.in, e.body)
		switch {
		case err != nil:
			return err
		case name == "_embedded":
			e.late = append(e.late, late{value, e.in.InputOffset(), links})
		case name == "_links":
			_ = json.Unmarshal(value, links) // without links every embedded call is unknown
		}
	}
	if _, err := e.in.ReadToken(); err != nil || waiting {
		return err // an object around this one may have more _links
	}
	return e.insert()
}

// insert writes each _embedded that was waiting, and what stands before it.
func (e *embedder) insert() error {
	for _, l := range e.late {
		e.copyTo(l.end - int64(len(l.value)))
		if err := e.relations(l.value, *l.links); err != nil {
			return err
		}
		e.copied = l.end
	}
	clear(e.late)
	e.late = e.late[:0]
	return nil
}

// copyTo copies the body up to end as it is.
func (e *embedder) copyTo(end int64) {
	e.out = append(e.out, e.body[e.copied:end]...)
	e.copied = end
}

// relations rewrites the value of _embedded. The objects of a relation stand in the order of
// its links.
func (e *embedder) relations(value jsontext.Value, links map[string][]reference) (err error) {
	e.out, err = appendMembers(e.out, value, func(out []byte, name string, objects jsontext.Value) ([]byte, error) {
		links := links[name]
		return appendElements(out, objects, func(out []byte, object jsontext.Value) ([]byte, error) {
			var embedded *call.Call
			if len(links) > 0 {
				embedded, _ = e.call.Embedded(links[0].Href)
				links = links[1:]
			}
			replaced, err := e.each(embedded, object)
			return append(out, replaced...), err
		})
	})
	return err
}

var errNotJSON = fmt.Errorf("%w of JSON", ask.ErrUndecided)

func decoderOf(body []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(body), jsonscan.Lax...)
}

// next reads a value, or the name of a member, and returns it as a part of body.
func next(in *jsontext.Decoder, body []byte) (jsontext.Value, error) {
	value, err := in.ReadValue()
	end := in.InputOffset()
	return body[end-int64(len(value)) : end], err
}
