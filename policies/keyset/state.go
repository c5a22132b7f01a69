package keyset

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// State is what an automaton knows of the segments that it has read.
type State struct {
	a        *Automaton
	nodes    []int32
	settled  []int
	inside   bool // the first segment is the word, or begins with it and "-"
	first    bool // nothing has been read
	markRest bool // a marked pattern matches whatever follows

	marked, within bool
	only           string
	alphabet       *Alphabet
	next           map[string]*State // by the literal, or "*" and Class.Prefix
	matches        []int
}

// Start returns the state in which nothing has been read. The error is ErrTooMany, as that of
// Behind.
func (a *Automaton) Start() (*State, error) {
	if a.start != nil {
		return a.start, nil
	}
	s, err := a.state([]int32{0}, &State{})
	if err == nil {
		s.first, a.start = true, s
	}
	return s, err
}

// At returns the state behind a key, or nil for a key that no call has. The error is ErrTooMany.
func (a *Automaton) At(key string) (*State, error) {
	s, err := a.Start()
	for _, segment := range segmentsOf(key) {
		if err != nil {
			return nil, err
		}
		steps := s.Alphabet().Exactly(segment, 0)
		if len(steps) == 0 {
			return nil, nil
		}
		s, err = s.Behind(steps[0])
	}
	return s, err
}

// state returns the one state with these nodes behind a state.
func (a *Automaton) state(nodes []int32, before *State) (*State, error) {
	s := &State{a: a, settled: slices.Clone(before.settled), inside: before.inside, markRest: before.markRest}
	for i := 0; i < len(nodes); i++ {
		n := &a.nodes[nodes[i]]
		nodes = append(nodes, n.also...)
		s.settled = append(s.settled, n.rests...)
		s.only = cmp.Or(s.only, n.only)
		s.markRest = s.markRest || n.markRest
		s.marked, s.within = s.marked || n.marked, s.within || n.markEnds
		if len(n.literals) > 0 || n.any != 0 || len(n.ends) > 0 || n.markEnds {
			s.nodes = append(s.nodes, nodes[i])
		}
	}
	s.marked, s.within = s.marked || s.markRest, s.within || s.markRest
	slices.Sort(s.nodes)
	s.nodes = slices.Compact(s.nodes)
	slices.Sort(s.settled)
	s.settled = slices.Compact(s.settled)
	key := s.key()
	if known := a.states[key]; known != nil {
		return known, nil
	}
	if len(a.states) >= maxStates {
		return nil, ErrTooMany
	}
	a.states[key] = s
	return s, nil
}

func (s *State) key() string {
	b := make([]byte, 1, 1+4*(len(s.nodes)+len(s.settled)+1))
	if s.inside {
		b[0] = 1
	}
	if s.markRest {
		b[0] |= 2
	}
	for _, n := range s.nodes {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	b = binary.BigEndian.AppendUint32(b, 1<<32-1)
	for _, p := range s.settled {
		b = binary.BigEndian.AppendUint32(b, uint32(p))
	}
	return string(b)
}

// Settled returns the numbers of the patterns that match whatever follows, in order.
func (s *State) Settled() []int { return s.settled }

// Matches returns the numbers of the patterns that match a key which ends here, in order.
func (s *State) Matches() []int {
	if s.matches == nil {
		s.matches = slices.Concat([]int{}, s.settled)
		for _, n := range s.nodes {
			for _, number := range s.a.nodes[n].ends {
				if number != apart {
					s.matches = append(s.matches, number)
				}
			}
		}
		slices.Sort(s.matches)
		s.matches = slices.Compact(s.matches)
	}
	return s.matches
}

// Marked tells whether a marked pattern may match a key that ends here or goes on.
func (s *State) Marked() bool { return s.marked }

// Within tells whether a marked pattern matches a key that ends here.
func (s *State) Within() bool { return s.within }

// Alphabet returns the segments that the automaton tells apart here.
func (s *State) Alphabet() *Alphabet {
	if s.alphabet != nil {
		return s.alphabet
	}
	s.alphabet = new(Alphabet)
	if s.only != "" {
		s.alphabet.Literals = []string{s.only}
		return s.alphabet
	}
	seen := map[string]bool{}
	for _, i := range s.nodes {
		for text := range s.a.nodes[i].literals {
			seen[text] = true
		}
	}
	s.alphabet.Literals = slices.Sorted(maps.Keys(seen))
	other := Class{Not: s.alphabet.Literals}
	if s.first && s.a.word != "" {
		dashed := other
		dashed.Prefix, other.NotPrefix = s.a.word+"-", s.a.word+"-"
		s.alphabet.Others = append(s.alphabet.Others, dashed)
	}
	s.alphabet.Others = append(s.alphabet.Others, other)
	return s.alphabet
}

// Behind returns the state behind a step: a literal of the alphabet, or any segment of a class.
func (s *State) Behind(step Step) (*State, error) {
	key, inside := step.Text, s.first && s.a.word != "" && (step.Text == s.a.word || strings.HasPrefix(step.Text, s.a.word+"-"))
	if step.Class != nil {
		key, inside = "*"+step.Class.Prefix, step.Class.Prefix != ""
	}
	if next := s.next[key]; next != nil {
		return next, nil
	}
	var nodes []int32
	for _, i := range s.nodes {
		n := &s.a.nodes[i]
		if to := n.literals[key]; to != 0 {
			nodes = append(nodes, to)
		}
		if n.any != 0 {
			nodes = append(nodes, n.any)
		}
	}
	before := *s
	before.inside = s.inside || inside
	next, err := s.a.state(nodes, &before)
	if s.next == nil {
		s.next = map[string]*State{}
	}
	s.next[key] = next
	return next, err
}
