package index

import (
	"strings"

	"github.com/restwarden/restwarden/policies/keyset"
)

// search finds the segments that lead on, shortest first.
type search struct {
	route    *Route
	alphabet *keyset.Alphabet
	queue    []attempt
	seen     map[reading]bool
	found    map[found]bool
	steps    []keyset.Step
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
	class *keyset.Class
}

func (s *search) reach(r reading, text string) {
	if s.seen[r] {
		return
	}
	s.seen[r] = true
	s.queue = append(s.queue, attempt{r, text})
}

func (s *search) run() []keyset.Step {
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
