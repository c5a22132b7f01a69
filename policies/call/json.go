package call

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

const jsonDepth = 64

// readObject reads the members of a JSON object. The text must be strict JSON:
// names unique at every level, UTF-8, at most 64 levels deep. Another value
// than an object has no members: the platform ignores it (platform-facts I.3.1).
func readObject(data []byte) (map[string]jsontext.Value, *Refusal) {
	if tooDeep(data) {
		return nil, badBody
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadValue(); err != nil || dec.PeekKind() != 0 || !ended(dec) {
			return nil, badBody
		}
		return nil, nil
	}
	dec.ReadToken()
	members := make(map[string]jsontext.Value)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, badBody
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, badBody
		}
		members[key] = value.Clone()
	}
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '}' || !ended(dec) {
		return nil, badBody
	}
	return members, nil
}

// ended tells whether nothing but blanks is left.
func ended(dec *jsontext.Decoder) bool {
	_, err := dec.ReadToken()
	return err != nil && err.Error() == "EOF"
}

// tooDeep tells whether brackets outside of strings nest deeper than we read.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > jsonDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// decodeJSON turns a value that is known to be valid into Go's generic form,
// numbers kept as they were written.
func decodeJSON(raw jsontext.Value) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}
