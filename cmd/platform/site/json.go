package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

var errInvalidJSON = errors.New("invalid JSON")

// decodeJSON reads one JSON value: the last duplicate of a key wins, numbers
// keep their spelling, invalid UTF-8 is refused as PHP does.
func decodeJSON(b []byte) (any, error) {
	if !utf8.Valid(b) {
		return nil, errInvalidJSON
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errInvalidJSON
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errInvalidJSON
	}
	return v, nil
}
