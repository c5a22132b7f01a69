package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Bounds of inspected JSON. Without them a small body could grow into a large tree. The
// platform's clients send far less.
const (
	jsonMembers = 4096    // of an object whose members are parameters
	jsonValue   = 1 << 20 // bytes of one list or object that is decoded
)

var (
	decoders  = sync.Pool{New: func() any { return new(decoder) }}
	asPHPDoes = jsontext.AllowDuplicateNames(true)
)

// decoder is kept with the buffer that it reads from.
type decoder struct {
	jsontext.Decoder
	data bytes.Buffer
}

// decoding hands read a decoder of data. The decoder takes values as PHP does: the last of
// two equal names counts, and text that is not UTF-8 is an error. It returns slices of
// data, which must not change.
func decoding[T any](data []byte, read func(*jsontext.Decoder) (T, *Refusal)) (T, *Refusal) {
	dec := decoders.Get().(*decoder)
	dec.data = *bytes.NewBuffer(data)
	dec.Reset(&dec.data, asPHPDoes)
	v, refusal := read(&dec.Decoder)
	dec.data = bytes.Buffer{}
	dec.Reset(&dec.data)
	decoders.Put(dec)
	return v, refusal
}

// readObject reads the members of a JSON object, undecoded. The names must be unique and in
// UTF-8, and the text at most 64 levels deep. A value that is no object has no members:
// the platform ignores it (docs/platform I.3.1).
func readObject(data []byte) (*members, *Refusal) {
	names, fits := jsonscan.Outline(data)
	switch {
	case !fits:
		return nil, errBody
	case int64(len(data)) > math.MaxUint32: // members count so far
		return nil, errTooLarge
	}
	return decoding(data, func(dec *jsontext.Decoder) (object *members, refusal *Refusal) {
		if dec.PeekKind() == '{' {
			object, refusal = readMembers(dec, data, names)
		} else if dec.SkipValue() != nil {
			refusal = errBody
		}
		if refusal == nil && !ended(dec) {
			refusal = errBody
		}
		return object, refusal
	})
}

// readList reads the elements of a JSON list that is known to be valid, undecoded, at most limit of
// them. An empty object is an empty list, since clients in PHP write one for the other.
func readList(raw jsontext.Value, limit int) (items []any, refusal *Refusal) {
	if raw.Kind() != '[' && !jsonscan.EmptyObject(raw) {
		return nil, errBatch
	}
	for value := range jsonscan.Elements(raw) {
		if len(items) == limit {
			return nil, errTooMany
		}
		items = append(items, jsontext.Value(value.Of(raw)))
	}
	return items, nil
}

// ended tells whether nothing but blanks is left.
func ended(dec *jsontext.Decoder) bool {
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// decodeLevels is decodeJSON. As a scalar, a list or an object is a Compound.
func decodeLevels(raw jsontext.Value, levels int) (any, *Refusal) {
	switch kind := raw.Kind(); {
	case levels != scalar, kind != '{' && kind != '[':
		return decodeJSON(raw)
	case len(raw) > jsonValue:
		return nil, errTooLarge
	}
	return Compound{}, nil
}

// decodeJSON turns a value that is known to be valid into Go's generic form. Numbers keep
// their spelling.
func decodeJSON(raw jsontext.Value) (any, *Refusal) {
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, errBody
		}
		return string(text), nil
	case '0':
		return json.Number(raw), nil
	case 't', 'f':
		return raw.Kind() == 't', nil
	default: // null, an object or a list
	}
	if len(raw) > jsonValue {
		return nil, errTooLarge
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, errBody
	}
	return v, nil
}
