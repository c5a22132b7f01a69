package index

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// entry is one pattern. Indexes share equal entries.
type entry struct {
	name     string    // what the pattern is called; "" where it is opaque
	prefix   string    // literal text, in lower case, that every route of the pattern begins with
	segments []segment // the whole pattern, where each segment is a text or one class
	text     string    // the pattern itself, kept where it must be compiled and where it is opaque
	weight   int       // what one byte of a route costs where the pattern is compiled

	compile  sync.Once
	compiled *regexp.Regexp // nil where Go cannot compile the pattern
}

// segment is one segment of a simple pattern: literal text, or min to max bytes of a set.
type segment struct {
	text     string
	set      *set
	min, max int
}

// verdict is what an entry says about a route.
type verdict uint8

const (
	no verdict = iota
	yes
	perhaps // the pattern is opaque
)

func newEntry(pattern string) *entry {
	seq, err := parse(pattern)
	if err != nil {
		return &entry{prefix: opaquePrefix(pattern), text: pattern}
	}
	e := &entry{name: routes.Masked(render(seq)), prefix: literalPrefix(seq)}
	if e.segments = simple(seq); e.segments == nil {
		e.text, e.weight = pattern, weight([][]node{seq})
	}
	return e
}

// literalPrefix returns the literal text that a sequence begins with.
func literalPrefix(seq []node) string {
	var b strings.Builder
	for i := range seq {
		if !seq[i].literal(0) || !seq[i].once() {
			break
		}
		b.WriteByte(phpvars.LowerByte(seq[i].lit))
	}
	return b.String()
}

// opaquePrefix returns text that every route of an opaque pattern certainly begins with.
func opaquePrefix(pattern string) string {
	if strings.Contains(pattern, "|") { // there may be an alternative without this prefix
		return ""
	}
	n := 0
	for word := types['w']; n < len(pattern) && (word.has(pattern[n]) || pattern[n] == '/' || pattern[n] == '-'); n++ {
	}
	return strings.ToLower(pattern[:max(0, n-1)]) // the last byte may be optional
}

// simple returns the segments of a sequence, or nil where it is not made of segments that
// are a text or one class each.
func simple(seq []node) (list []segment) {
	for len(seq) > 0 {
		if !seq[0].literal('/') || !seq[0].once() {
			return nil
		}
		end := 1 + slices.IndexFunc(seq[1:], func(n node) bool { return n.literal('/') })
		if end == 0 {
			end = len(seq)
		}
		s, ok := segmentOf(seq[1:end])
		if !ok {
			return nil
		}
		list, seq = append(list, s), seq[end:]
	}
	return slices.Clip(list)
}

func segmentOf(seq []node) (s segment, ok bool) {
	if text := literalPrefix(seq); len(text) == len(seq) {
		return segment{text: text}, true
	}
	if len(seq) != 1 {
		return s, false
	}
	n := &seq[0]
	for n.alts != nil { // a group around a class
		if !n.once() || len(n.alts) != 1 || len(n.alts[0]) != 1 {
			return s, false
		}
		n = &n.alts[0][0]
	}
	if n.set == nil || n.set.has('/') {
		return s, false
	}
	return segment{set: n.set, min: n.min, max: n.max}, true
}

// match tells whether a route in lower case is one of the entry's.
func (e *entry) match(route string, steps *int) verdict {
	switch {
	case !strings.HasPrefix(route, e.prefix):
		return no
	case e.segments != nil:
		return e.matchSegments(route)
	case e.name == "":
		return perhaps
	}
	if *steps -= e.weight * len(route); *steps < 0 {
		return perhaps
	}
	switch compiled := e.expression(); {
	case compiled == nil:
		return perhaps
	case compiled.MatchString(between.Wide(route)):
		return yes
	}
	return no
}

// expression returns the pattern for Go, or nil where Go cannot compile it.
func (e *entry) expression() *regexp.Regexp {
	e.compile.Do(func() {
		if seq, err := parse(e.text); err == nil {
			e.compiled, _ = regexp.Compile(`\A` + expression(seq) + `\z`)
		}
	})
	return e.compiled
}

func (e *entry) matchSegments(route string) verdict {
	for i := range e.segments {
		s := &e.segments[i]
		if route == "" || route[0] != '/' {
			return no
		}
		end := strings.IndexByte(route[1:], '/') + 1
		if end == 0 {
			end = len(route)
		}
		if !s.match(route[1:end]) {
			return no
		}
		route = route[end:]
	}
	if route != "" {
		return no
	}
	return yes
}

func (s *segment) match(text string) bool {
	if s.set == nil {
		return s.text == text
	}
	if len(text) < s.min || s.max >= 0 && len(text) > s.max {
		return false
	}
	for i := 0; i < len(text); i++ {
		if !s.set.has(text[i]) {
			return false
		}
	}
	return true
}
