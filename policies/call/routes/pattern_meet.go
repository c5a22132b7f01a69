package routes

import (
	"slices"
	"strings"
)

// Meet returns the pattern of the keys that p and other both match; false if there is none.
func (p Pattern) Meet(other Pattern) (both Pattern, ok bool) {
	if !p.Meets(other) {
		return both, false
	}
	long, short := p, other
	if len(long.segments) < len(short.segments) {
		long, short = short, long
	}
	both = Pattern{segments: slices.Clone(long.segments), rest: p.rest && other.rest}
	for i, s := range short.segments {
		if IsWildcard(both.segments[i]) {
			both.segments[i] = s
		}
	}
	both.text = "/" + strings.Join(both.segments, "/")
	if both.rest {
		both.text = strings.TrimSuffix(both.text, "/") + "/**"
	}
	both.start = both.literalStart()
	return both, true
}
