package keyset

import (
	"slices"
	"strings"
)

// Place is a place that a walk has reached, by one key.
type Place struct {
	State *State

	at     int // in the space
	before *Place
	text   string
	free   bool   // a segment on the way is one of a class
	hidden bool   // the segment is in the key, but not in the route as sent
	not    string // a segment that cannot follow
}

// Key returns the key that leads to the place.
func (p *Place) Key() string { return p.join(true) }

// Route returns the key as a client sends it.
func (p *Place) Route() string { return p.join(false) }

// Literal tells whether the key is the only one that leads to the place.
func (p *Place) Literal() bool { return !p.free }

func (p *Place) join(all bool) string {
	var segments []string
	for ; p.before != nil; p = p.before {
		if all || !p.hidden {
			segments = append(segments, p.text)
		}
	}
	slices.Reverse(segments)
	return "/" + strings.Join(segments, "/")
}

// Walk calls visit for every state in which a key of the space can end, with one key. A key
// with fewer segments comes first. visit returns false to end the walk. Walk goes no further
// where skip is true; skip may be nil. The error is ErrTooMany.
func (a *Automaton) Walk(space Space, skip func(*State) bool, visit func(*Place) bool) error {
	start, err := a.Start()
	if err != nil {
		return err
	}
	w := walk{space: space, seen: map[seen]bool{}}
	w.reach(&Place{State: start})
	for len(w.queue) > 0 {
		p := w.queue[0]
		w.queue = w.queue[1:]
		if skip != nil && skip(p.State) {
			continue
		}
		if !p.hidden && space.Ends(p.at) && !visit(p) {
			return nil
		}
		if a.places++; a.places > maxPlaces {
			return ErrTooMany
		}
		if err := w.expand(p); err != nil {
			return err
		}
	}
	return nil
}

type walk struct {
	space Space
	queue []*Place
	seen  map[seen]bool
}

type seen struct {
	state  *State
	at     int
	hidden bool
}

func (w *walk) reach(p *Place) {
	if key := (seen{p.State, p.at, p.hidden}); !w.seen[key] {
		w.seen[key] = true
		w.queue = append(w.queue, p)
	}
}

func (w *walk) expand(p *Place) error {
	alphabet := p.State.Alphabet()
	if p.hidden {
		alphabet = alphabet.without(p.not)
	}
	for _, step := range w.space.Steps(p.at, alphabet) {
		next, err := p.State.Behind(step)
		if err != nil {
			return err
		}
		w.reach(&Place{State: next, at: step.To, before: p, text: step.Text, free: p.free || step.Class != nil})
	}
	if p.State.only == "" || !w.space.Sent() {
		return nil
	}
	next, err := p.State.Behind(Step{Text: p.State.only})
	if err == nil {
		w.reach(&Place{State: next, at: p.at, before: p, text: p.State.only, free: p.free, hidden: true, not: p.State.only})
	}
	return err
}

// without returns the alphabet without a segment.
func (a *Alphabet) without(text string) *Alphabet {
	same := func(literal string) bool { return literal == text }
	b := &Alphabet{Literals: slices.DeleteFunc(slices.Clone(a.Literals), same), Others: slices.Clone(a.Others)}
	for i := range b.Others {
		not := append([]string{text}, a.Others[i].Not...)
		slices.Sort(not)
		b.Others[i].Not = not
	}
	return b
}
