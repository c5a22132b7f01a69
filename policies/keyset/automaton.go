package keyset

import (
	"errors"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// Bounds of one automaton and of all its walks. Patterns with several wildcards can have
// exponentially many states; those of a site have a few for each line.
const (
	maxStates = 50_000
	maxPlaces = 1_000_000
)

// ErrTooMany says that the patterns have too many cases to decide.
var ErrTooMany = errors.New("the routes have too many cases to decide")

// Automaton tells for every key which of its patterns match. The patterns are added first.
// It belongs to one goroutine.
type Automaton struct {
	nodes  []node
	word   string // see New
	states map[string]*State
	start  *State
	places int // that walks have reached
}

// node is a place in the tree of patterns: what the patterns that lead here have read.
type node struct {
	literals map[string]int32
	any      int32   // behind "*" or ":name"; 0 if there is none
	also     []int32 // places that are reached together with this one
	ends     []int   // patterns that end here; apart for none
	rests    []int   // patterns that match whatever follows
	only     string  // the one segment that may follow; "" means any

	marked             bool // a marked pattern leads here
	markEnds, markRest bool // a marked pattern ends here, or matches whatever follows
}

// apart is the number of a key that is no pattern.
const apart = -1

// New returns an automaton without patterns. word is the first segment of keys that are told
// from others, with those that begin with word and "-"; "" tells none.
func New(word string) *Automaton {
	a := &Automaton{nodes: make([]node, 1), word: word, states: map[string]*State{}}
	for _, p := range platforms.All() { // of the old address of the checkout API, no key has another segment
		address := strings.Split(p.Checkout, "/")
		last := len(address) - 1
		old := a.path(address[:last])
		a.Apart("/" + p.Checkout)
		a.nodes[old].only = address[last]
	}
	if word != "" {
		a.Apart("/" + word)
	}
	return a
}

// Add adds a pattern under a number, 0 or more.
func (a *Automaton) Add(p routes.Pattern, number int) {
	segments, rest := p.Segments()
	if n := &a.nodes[a.path(segments)]; rest {
		n.rests = append(n.rests, number)
	} else {
		n.ends = append(n.ends, number)
	}
}

// Mark adds a pattern to the marked ones; see State.Marked.
func (a *Automaton) Mark(p routes.Pattern) {
	segments, rest := p.Segments()
	for i := range len(segments) + 1 {
		a.nodes[a.path(segments[:i])].marked = true
	}
	n := &a.nodes[a.path(segments)]
	n.markEnds, n.markRest = n.markEnds || !rest, n.markRest || rest
}

// Apart tells one key from all others.
func (a *Automaton) Apart(key string) {
	n := &a.nodes[a.path(segmentsOf(key))]
	n.ends = append(n.ends, apart)
}

// AddBelow adds under a number the keys below a key that end with a segment and have one
// more, or several, before it.
func (a *Automaton) AddBelow(key, last string, number int) {
	from := a.path(segmentsOf(key))
	first := int32(len(a.nodes))
	a.nodes = append(a.nodes,
		node{any: first + 1},
		node{any: first + 1, literals: map[string]int32{last: first + 2}},
		node{ends: []int{number}},
	)
	a.nodes[from].also = append(a.nodes[from].also, first)
}

func segmentsOf(key string) []string {
	if key = strings.Trim(key, "/"); key == "" {
		return nil
	}
	return strings.Split(key, "/")
}

// path returns the node behind segments, and makes it where there is none.
func (a *Automaton) path(segments []string) (at int32) {
	for _, s := range segments {
		n, made := &a.nodes[at], int32(len(a.nodes))
		next, wild := n.any, routes.IsWildcard(s)
		if !wild {
			next = n.literals[s]
		}
		switch {
		case next != 0:
			at = next
			continue
		case wild:
			n.any = made
		case n.literals == nil:
			n.literals = map[string]int32{s: made}
		default:
			n.literals[s] = made
		}
		a.nodes = append(a.nodes, node{})
		at = made
	}
	return at
}
