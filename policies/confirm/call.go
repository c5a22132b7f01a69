package confirm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Call is what a person confirms. Two calls are the same if all fields but Door are.
type Call struct {
	Shop   string // which shop answers
	Caller string // "user 7"
	Runs   string // the id of an ability, or the name of a tool that no list has
	// How is by what the door runs it: the method of a run over REST, or the method and the
	// tool of a message.
	How   string
	Route string
	// Door is the route as a person may see it: some servers have a secret in theirs.
	Door string
	// Arguments are those of [Arguments]; "" for a call without any.
	Arguments string
	// Beside is what the call carries beside its arguments, in the same form; "" if nothing.
	Beside string
}

// hash identifies the call. A field is told from the next one by its length.
func (c *Call) hash() string {
	h := sha256.New()
	for _, field := range []string{c.Shop, c.Caller, c.Runs, c.How, c.Route, c.Arguments, c.Beside} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(field), field) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Bounds of the arguments that a person can be expected to read.
const (
	MaxArguments = 16 << 10 // bytes
	maxDepth     = 32       // of lists and objects; each costs an indent when they are shown
)

// ErrArguments means that arguments are too long, too deep or no text: nobody could see what
// they confirm.
var ErrArguments = errors.New("the arguments cannot be shown to a person")

// Arguments writes the input of a call, as a decoder with UseNumber has read it, in one form
// whatever the order of its members: two inputs have the same form only if the platform reads
// the same. The error is ErrArguments.
func Arguments(input any) (string, error) {
	if !showable(input, 0) {
		return "", ErrArguments
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(input); err != nil || b.Len() > MaxArguments {
		return "", ErrArguments
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// showable tells whether v is not too deep, and valid UTF-8: the encoder would write any
// other bytes alike.
func showable(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !showable(e, depth+1) })
	case map[string]any:
		for key, e := range v {
			if !utf8.ValidString(key) || !showable(e, depth+1) {
				return false
			}
		}
	}
	return true
}
