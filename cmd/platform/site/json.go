package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

var errInvalidJSON = errors.New("invalid JSON")

// maxDepth is how deep PHP reads JSON.
const maxDepth = 512

// decodeJSON reads one JSON value as PHP does: the last duplicate of a key
// wins, numbers keep their spelling, invalid UTF-8, lone surrogates and too
// deep nesting are refused (docs/platform I.3.1).
func decodeJSON(b []byte) (any, error) {
	if !validJSON(b) {
		return nil, errInvalidJSON
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, errInvalidJSON
	}
	return v, nil
}

// validJSON tells whether b is exactly one JSON value that PHP would read.
func validJSON(b []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true))
	for tokens := 0; ; tokens++ {
		if _, err := dec.ReadToken(); err != nil {
			return errors.Is(err, io.EOF) && tokens > 0
		}
		switch {
		case dec.StackDepth() > maxDepth:
			return false
		case dec.StackDepth() == 0: // the value is complete
			_, err := dec.ReadToken()
			return errors.Is(err, io.EOF)
		}
	}
}
