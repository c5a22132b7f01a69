package mcp

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Mentions tells whether any text of a body fits, at any depth, without its escapes: what no
// text of a body says, no server finds in it, however it reads lists, nesting and equal keys.
// PHP takes no body that breaks off, but a server might mend one: such a body fits if it has
// escapes, or if it fits as a whole.
func Mentions(body []byte, fits func(text string) bool) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(body), lax...)
	for {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			start := bytes.TrimLeft(body, " \t\r\n")
			isJSON := len(start) > 0 && (start[0] == '{' || start[0] == '[')
			return isJSON && bytes.IndexByte(body, '\\') >= 0 || fits(string(body))
		case token.Kind() == '"' && fits(token.String()):
			return true
		}
	}
}
