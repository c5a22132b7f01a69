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
// escapes, or if it fits as a whole. A text that holds one that fits must fit, too.
func Mentions(body []byte, fits func(text string) bool) bool { return anyText(body, fits, fits) }

// MentionsCut tells whether any text of a body is the name of a tool that may have been cut, as
// Mentions does.
func MentionsCut(body []byte) bool { return anyText(body, holdsSum, IsCut) }

// anyText tells whether any text of a body fits. A text that holds one that fits is near.
func anyText(body []byte, near, fits func(text string) bool) bool {
	if bytes.IndexByte(body, '\\') < 0 && !near(string(body)) { // which holds all of its texts
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), lax...)
	for {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			start := bytes.TrimLeft(body, " \t\r\n")
			isJSON := len(start) > 0 && (start[0] == '{' || start[0] == '[')
			return isJSON && bytes.IndexByte(body, '\\') >= 0 || near(string(body))
		case token.Kind() == '"' && fits(token.String()):
			return true
		}
	}
}
