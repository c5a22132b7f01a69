package index

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/cover"
)

// Route is one pattern of an index. It implements [cover.Space]: its keys are those of all
// routes that the pattern matches.
type Route struct {
	entry *entry
	chars []char // of the expression; nil where the pattern is opaque
}

// Routes returns the routes of the index, in no certain order.
func (x *Index) Routes() []*Route {
	var routes []*Route
	if x == nil {
		return nil
	}
	for _, g := range x.groups {
		for _, e := range g.entries {
			r := &Route{entry: e}
			if seq := e.sequence(); seq != nil {
				m := machine{}
				m.sequence(seq)
				m.add(char{kind: isEnd})
				r.chars = m.chars
			}
			routes = append(routes, r)
		}
	}
	return routes
}

// Name returns what the pattern is called; see Index.Pattern. It is "" for an opaque one.
func (r *Route) Name() string { return r.entry.name }

// Opaque tells whether nothing is known of the pattern but a text in lower case that all its
// routes begin with.
func (r *Route) Opaque() (prefix string, opaque bool) { return r.entry.prefix, r.chars == nil }

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
		m.add(char{kind: isByte, lit: lower(n.lit)})
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

// Places are states of the machine that stand before a slash or the end, plus one; place 0
// is the start.

// Ends implements [cover.Space].
func (r *Route) Ends(at int) bool {
	states := r.closure(int32(max(at-1, 0)))
	if at == 0 { // the root
		states = append(states, r.after(states, '/')...)
	}
	return slices.ContainsFunc(states, func(s int32) bool { return r.chars[s].kind == isEnd })
}

// Sent implements [cover.Space].
func (*Route) Sent() bool { return true }

// templated tells whether the routes are those of the block editor's templates, whose ids
// hold "//". No other route with two slashes has a certain reading.
func (r *Route) templated() bool {
	return strings.Contains(r.entry.prefix, "/templates/") || strings.Contains(r.entry.prefix, "/template-parts/")
}

// Steps implements [cover.Space]. Two slashes count as one, as in keys.
func (r *Route) Steps(from int, a *cover.Alphabet) []cover.Step {
	states := r.closure(int32(max(from-1, 0)))
	behind := r.after(states, '/')
	if r.templated() {
		behind = append(behind, r.after(behind, '/')...)
	}
	if from == 0 { // the platform's own patterns begin with a slash; others may not
		behind = append(behind, states...)
	}
	s := search{route: r, alphabet: a, seen: map[reading]bool{}, found: map[found]bool{}}
	for _, at := range behind {
		s.reach(reading{at: at, hi: len(a.Literals)}, "")
	}
	return s.run()
}

// search finds the segments that lead on, shortest first.
type search struct {
	route    *Route
	alphabet *cover.Alphabet
	queue    []attempt
	seen     map[reading]bool
	found    map[found]bool
	steps    []cover.Step
}

// reading is what counts of the bytes of a segment that have been read: where they lead, which
// literals they begin, and which class they belong to.
type reading struct {
	at            int32
	lo, hi, depth int // the literals [lo,hi) begin with the depth bytes; depth is 0 without any
	prefix        int // bytes of a class's prefix, or -1 where the segment does not begin with it
}

type attempt struct {
	reading
	text string
}

type found struct {
	to    int
	text  string
	class *cover.Class
}

func (s *search) reach(r reading, text string) {
	if s.seen[r] {
		return
	}
	s.seen[r] = true
	s.queue = append(s.queue, attempt{r, text})
}

func (s *search) run() []cover.Step {
	for len(s.queue) > 0 {
		t := s.queue[0]
		s.queue = s.queue[1:]
		c := &s.route.chars[t.at]
		switch {
		case c.kind == isFork:
			for _, to := range c.to {
				next := t.reading
				next.at = to
				s.reach(next, t.text)
			}
			continue
		case c.kind == isEnd, c.reads('/'):
			s.step(t)
		}
		if c.kind != isEnd {
			s.read(t, c)
		}
	}
	return s.steps
}

// step adds the step for a segment that ends here.
func (s *search) step(t attempt) {
	if t.text == "" {
		return
	}
	for _, step := range s.alphabet.Exactly(t.text, int(t.at)+1) {
		key := found{step.To, "", step.Class}
		if step.Class == nil {
			key.text = step.Text
		}
		if !s.found[key] {
			s.found[key] = true
			s.steps = append(s.steps, step)
		}
	}
}

// special returns the bytes that a literal or the prefix of a class has next.
func (s *search) special(t attempt, prefix string) (special set) {
	for _, text := range s.alphabet.Literals[t.lo:t.hi] {
		if len(text) > t.depth {
			special.add(text[t.depth], text[t.depth])
		}
	}
	if t.prefix >= 0 && t.prefix < len(prefix) {
		special.add(prefix[t.prefix], prefix[t.prefix])
	}
	return special
}

// read goes on by each special byte, and by one of all others.
func (s *search) read(t attempt, c *char) {
	prefix, bytes := "", plainest
	if len(s.alphabet.Others) > 0 {
		prefix = s.alphabet.Others[0].Prefix
	}
	if c.kind == isByte {
		bytes = []byte{c.lit}
	}
	special, other := s.special(t, prefix), false
	for _, b := range bytes {
		if b != '/' && c.reads(b) && (special.has(b) || !other) {
			other = other || !special.has(b)
			s.reach(s.behind(t, b, prefix), t.text+string([]byte{b}))
		}
	}
}

// behind returns what counts of the segment once a byte more has been read.
func (s *search) behind(t attempt, b byte, prefix string) reading {
	next := reading{at: t.at + 1, prefix: -1}
	next.lo, next.hi = narrow(s.alphabet.Literals, t.lo, t.hi, t.depth, b)
	if next.depth = t.depth + 1; next.lo == next.hi {
		next.lo, next.hi, next.depth = 0, 0, 0
	}
	switch {
	case t.prefix == len(prefix):
		next.prefix = t.prefix
	case t.prefix >= 0 && prefix[t.prefix] == b:
		next.prefix = t.prefix + 1
	}
	return next
}

// narrow returns which of the literals [lo,hi) have this byte at depth.
func narrow(literals []string, lo, hi, depth int, b byte) (from, to int) {
	from = lo
	for from < hi && (len(literals[from]) <= depth || literals[from][depth] < b) {
		from++
	}
	to = from
	for to < hi && literals[to][depth] == b {
		to++
	}
	return from, to
}

// plainest are the bytes of keys, those first that are plain in any address.
var plainest = func() (all []byte) {
	first := "1x0abcdefghijklmnopqrstuvwyz23456789-_.~"
	all = append(all, first...)
	for b := 0xff; b > ' '; b-- {
		c := byte(b)
		if c != '/' && (c < 'A' || c > 'Z') && c != 0x7f && strings.IndexByte(first, c) < 0 {
			all = append(all, c)
		}
	}
	return append(all, ' ')
}()
