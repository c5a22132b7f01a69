package index

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
)

// fillers are texts that most named groups take.
var fillers = []string{"x", "1", "x/x"}

// Worded tells whether a line of a configuration has a word where some pattern has a named group. Of a pattern with more than
// one class in a segment it tells by the routes that the line matches with fillers in place of its wildcards.
func (x *Index) Worded(line *routes.Pattern) bool {
	own, rest := line.Segments()
	var called []string
	for _, text := range fillers {
		route, _ := inPlace(own, false, slices.Repeat([]string{text}, len(own)))
		called = append(called, route)
		for _, tail := range fillers {
			if rest {
				called = append(called, route+"/"+tail)
			}
		}
	}
	worded := func(e *entry) bool {
		if e.segments != nil {
			return e.hasWord(own, rest)
		}
		return slices.ContainsFunc(called, func(route string) bool { return Dispatched{e}.HasWord(line, route) })
	}
	return slices.ContainsFunc(x.groups, func(g *group) bool { return slices.ContainsFunc(g.entries, worded) })
}
