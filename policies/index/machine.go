package index

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// sequence returns what the entry was read from, or nil where it is opaque.
func (e *entry) sequence() []node {
	if e.text != "" {
		seq, _ := parse(e.text) // nil where it fails, as in newEntry
		return seq
	}
	var seq []node
	for _, s := range e.segments {
		seq = append(seq, node{lit: '/', min: 1, max: 1})
		if s.set != nil {
			seq = append(seq, node{set: s.set, min: s.min, max: s.max})
		}
		for i := range len(s.text) {
			seq = append(seq, node{lit: s.text[i], min: 1, max: 1})
		}
	}
	return seq
}

// char is one state of the machine that reads an expression byte by byte: it reads one byte
// and goes on to the next state, or goes on to other states without reading.
type char struct {
	kind charKind
	lit  byte
	set  *set
	to   []int32 // of isFork
}

type charKind uint8

const (
	isByte charKind = iota
	isSet
	isFork
	isEnd
)

func (c *char) reads(b byte) bool {
	return c.kind == isByte && c.lit == b || c.kind == isSet && c.set.has(b)
}

// machine builds the states of an expression.
type machine struct{ chars []char }

func (m *machine) add(c char) int32 {
	m.chars = append(m.chars, c)
	return int32(len(m.chars) - 1)
}

func (m *machine) here() int32 { return int32(len(m.chars)) }

func (m *machine) sequence(seq []node) {
	for i := range seq {
		n := &seq[i]
		for range n.min {
			m.once(n)
		}
		switch {
		case n.max < 0:
			fork := m.add(char{kind: isFork})
			m.once(n)
			back := m.add(char{kind: isFork, to: []int32{fork}})
			m.chars[fork].to = []int32{fork + 1, back + 1}
		case n.max > n.min:
			var forks []int32
			for range n.max - n.min {
				forks = append(forks, m.add(char{kind: isFork}))
				m.once(n)
			}
			for _, fork := range forks {
				m.chars[fork].to = []int32{fork + 1, m.here()}
			}
		}
	}
}

// once adds one occurrence of a node.
func (m *machine) once(n *node) {
	switch {
	case n.alts == nil && n.set != nil:
		m.add(char{kind: isSet, set: n.set})
	case n.alts == nil:
		m.add(char{kind: isByte, lit: phpvars.LowerByte(n.lit)})
	default:
		fork := m.add(char{kind: isFork})
		var starts, ends []int32
		for _, alt := range n.alts {
			starts = append(starts, m.here())
			m.sequence(alt)
			ends = append(ends, m.add(char{kind: isFork}))
		}
		m.chars[fork].to = starts
		for _, end := range ends {
			m.chars[end].to = []int32{m.here()}
		}
	}
}

// closure returns the states that some states lead to without reading.
func (r *Route) closure(states ...int32) (all []int32) {
	for len(states) > 0 {
		at := states[len(states)-1]
		states = states[:len(states)-1]
		if c := &r.chars[at]; slices.Contains(all, at) {
			continue
		} else if all = append(all, at); c.kind == isFork {
			states = append(states, c.to...)
		}
	}
	return all
}

// after returns the states behind a byte.
func (r *Route) after(states []int32, b byte) (next []int32) {
	for _, at := range states {
		if r.chars[at].reads(b) {
			next = append(next, at+1)
		}
	}
	return r.closure(next...)
}
