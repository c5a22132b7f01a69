package keyset

import (
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
)

// Alphabet is what an automaton tells apart at one place: each of the literals, and each
// class of other segments as a whole.
type Alphabet struct {
	Literals []string // in order
	Others   []Class
}

// Class is a set of segments that patterns do not tell apart: every text that is none of Not,
// begins with Prefix, and does not begin with NotPrefix (where that is not empty).
type Class struct {
	Not               []string // in order
	Prefix, NotPrefix string
}

// Has tells whether a segment is in the class.
func (c *Class) Has(text string) bool {
	if !strings.HasPrefix(text, c.Prefix) || c.NotPrefix != "" && strings.HasPrefix(text, c.NotPrefix) {
		return false
	}
	_, literal := slices.BinarySearch(c.Not, text)
	return !literal
}

// pick returns a segment of the class, like the one that is wanted.
func (c *Class) pick(want string) string {
	for i := 0; ; i++ {
		text := c.Prefix + want
		if i > 0 {
			text += strconv.Itoa(i)
		}
		if c.Has(text) {
			return text
		}
	}
}

// Space is a set of keys that is read segment by segment. Places are its states.
type Space interface {
	// Steps returns where the segments of an alphabet lead from a place.
	Steps(from int, a *Alphabet) []Step
	// Ends tells whether a key may end at a place. Place 0 has read nothing.
	Ends(at int) bool
	// Sent tells whether the texts are routes as a client sends them, rather than keys: the
	// old address of the checkout API has no version then.
	Sent() bool
}

// Step leads to a place behind one segment.
type Step struct {
	To    int
	Text  string // the segment, or one of the class
	Class *Class // nil for a literal of the alphabet
}

// Exactly returns the step for a segment of this text.
func (a *Alphabet) Exactly(text string, to int) []Step {
	if _, literal := slices.BinarySearch(a.Literals, text); literal {
		return []Step{{To: to, Text: text}}
	}
	for i := range a.Others {
		if a.Others[i].Has(text) {
			return []Step{{To: to, Text: text, Class: &a.Others[i]}}
		}
	}
	return nil
}

// Keys is the space of all keys that a pattern matches.
type Keys struct {
	segments []string
	rest     bool
}

// KeysOf returns the space of a pattern.
func KeysOf(p routes.Pattern) Keys {
	segments, rest := p.Segments()
	return Keys{segments, rest}
}

// Steps implements Space.
func (k Keys) Steps(from int, a *Alphabet) (steps []Step) {
	to := from + 1
	switch {
	case from == len(k.segments) && !k.rest:
		return nil
	case from == len(k.segments):
		to = from
	case !routes.IsWildcard(k.segments[from]):
		return a.Exactly(k.segments[from], to)
	}
	want := "1" // an id
	if from == 0 || to == from {
		want = "x"
	}
	for i := range a.Others {
		steps = append(steps, Step{to, a.Others[i].pick(want), &a.Others[i]})
	}
	for _, text := range a.Literals {
		steps = append(steps, Step{To: to, Text: text})
	}
	return steps
}

// Ends implements Space.
func (k Keys) Ends(at int) bool { return at == len(k.segments) }

// Sent implements Space.
func (Keys) Sent() bool { return false }
