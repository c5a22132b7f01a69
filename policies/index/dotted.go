package index

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Dotted returns the literal text that the pattern begins with, a dot that stands for any byte as
// ".", and whether it is the whole pattern. It is "" where it has no such dot.
func (r *Route) Dotted() (text string, whole bool) {
	seq, dots := r.entry.sequence(), false
	var b strings.Builder
	for i := range seq {
		if seq[i].lit == 0 || !seq[i].once() {
			break
		}
		dots = dots || seq[i].set != nil
		b.WriteByte(phpvars.LowerByte(seq[i].lit))
	}
	if !dots {
		return "", false
	}
	return b.String(), b.Len() == len(seq)
}

// Plain returns the route without those of its keys that have another byte than "." in place of a
// dot, within the first n bytes of the text of Dotted.
func (r *Route) Plain(n int) *Route {
	seq := r.entry.sequence()
	for i := range seq[:n] {
		seq[i].set = nil
	}
	return routeOf(r.entry, seq)
}

func routeOf(e *entry, seq []node) *Route {
	m := machine{}
	m.sequence(seq)
	m.add(char{kind: isEnd})
	return &Route{entry: e, chars: m.chars}
}
