package mcp

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Mentions tells whether any text of a body fits, at any depth, without its escapes, or is the name of a
// tool that may have been cut: what no text of a body says, no server finds in it, however it reads lists, nesting
// and equal keys. PHP takes no body that breaks off, but a server might mend one: such a body fits if it has
// escapes, or if it fits as a whole. A text that holds one that fits must fit, too.
func Mentions(body []byte, fits func(text string) bool) bool {
	said := string(body)
	whole := fits(said) || holdsSum(said) // else only texts with escapes may fit
	if !whole && bytes.IndexByte(body, '\\') < 0 {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsonscan.Lax...)
	for {
		var raw jsontext.Value
		var err error
		if dec.PeekKind() == '"' {
			raw, err = dec.ReadValue()
		} else {
			_, err = dec.ReadToken()
		}
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			start := bytes.TrimLeft(body, " \t\r\n")
			isJSON := len(start) > 0 && (start[0] == '{' || start[0] == '[')
			return isJSON && bytes.IndexByte(body, '\\') >= 0 || whole
		case raw != nil && (whole || bytes.IndexByte(raw, '\\') >= 0):
			if one, _ := text(raw); fits(one) || IsCut(one) {
				return true
			}
		}
	}
}
