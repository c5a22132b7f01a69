package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// errToolAnswer means that an answer of a server of tools may hold what nobody can redact.
var errToolAnswer = errors.New("the answer of the tool is not all JSON")

// ToolAnswer replaces the values at paths in what a tool, a prompt or a resource has returned,
// as [Redact] does: in the answer of a server of tools (JSON-RPC), in its structured content and
// in each text, which must be JSON. A text that says what failed may be any. The error says that
// the answer has another form, or anything that is not JSON.
func ToolAnswer(body []byte, paths [][]string) ([]byte, error) {
	if !jsontext.Value(body).IsValid(jsonscan.Lax...) {
		return nil, errNotJSON
	}
	answers := false
	out, err := appendMembers(nil, body, func(out []byte, name string, value jsontext.Value) (_ []byte, err error) {
		switch name {
		case "result":
			answers = true
			return toolResult(out, value, paths)
		case "error":
			answers = true
			value, err = Redact(value, below("data", paths))
		}
		return append(out, value...), err
	})
	if err == nil && !answers {
		err = errToolAnswer
	}
	return out, err
}

// below returns paths in a member of an object.
func below(name string, paths [][]string) [][]string {
	all := make([][]string, len(paths))
	for i, path := range paths {
		all[i] = slices.Concat([]string{name}, path)
	}
	return all
}

// AbilityPaths are the places of the fields of an ability in what it returns, over REST or by a
// tool: the adapter's tool that runs any ability has its result in data, and newer adapters have
// a list in result.
func AbilityPaths(paths [][]string) [][]string {
	return slices.Concat(paths, below("data", paths), below("result", paths))
}

// toolResult appends the result of a call, redacted.
func toolResult(out []byte, result jsontext.Value, paths [][]string) ([]byte, error) {
	t := &toolRedactor{paths: AbilityPaths(paths)}
	for name, value := range jsonscan.Members(result) {
		t.failed = t.failed || string(jsonscan.Unquoted(name.Of(result))) == "isError" && string(value.Of(result)) == "true"
	}
	for _, known := range []string{"structuredContent", "toolResult"} {
		t.whole = append(t.whole, below(known, t.paths)...)
	}
	result, err := redact(nil, result, nil, slices.Concat(t.paths, t.whole))
	if err != nil {
		return nil, err
	}
	return appendMembers(out, result, func(out []byte, name string, value jsontext.Value) ([]byte, error) {
		switch name {
		case "content", "contents":
			return appendElements(out, value, t.part)
		case "messages": // of a prompt
			return appendElements(out, value, func(out []byte, message jsontext.Value) ([]byte, error) {
				return appendMembers(out, message, func(out []byte, name string, value jsontext.Value) ([]byte, error) {
					switch {
					case name == "content" && value.Kind() == '[':
						return appendElements(out, value, t.part)
					case name == "content":
						return t.part(out, value)
					case name == "role" || name == "_meta":
						return append(out, value...), nil
					}
					return nil, errToolAnswer
				})
			})
		}
		return append(out, value...), nil
	})
}

type toolRedactor struct {
	paths, whole [][]string
	failed       bool // the result says what failed
}

// aboutPart are the members of a part that say what it is, and hold nothing that an ability
// returns.
var aboutPart = []string{"type", "uri", "mimeType", "name", "title", "description", "size", "annotations", "icons", "_meta"}

// part appends a part of a result, redacted: a text, or a resource with one. What is neither cannot be
// read, such as an image.
func (t *toolRedactor) part(out []byte, part jsontext.Value) ([]byte, error) {
	return appendMembers(out, part, func(out []byte, name string, value jsontext.Value) (_ []byte, err error) {
		switch name {
		case "text":
			value, err = t.text(value)
			return append(out, value...), err
		case "resource":
			return t.part(out, value)
		}
		if slices.Contains(aboutPart, name) {
			return append(out, value...), nil
		}
		return nil, errToolAnswer
	})
}

// text redacts a text that holds JSON.
func (t *toolRedactor) text(value jsontext.Value) (jsontext.Value, error) {
	if value.Kind() != '"' {
		return nil, errToolAnswer
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return nil, errToolAnswer
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return value, nil
	}
	redacted, err := redact(nil, text, nil, t.paths)
	switch {
	case err == nil:
		return json.Marshal(string(redacted))
	case t.failed:
		return value, nil
	}
	return nil, errToolAnswer
}
