package index

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// Group is a named group of a route's pattern. The platform takes it for a parameter, which the same name in a body or a
// query replaces (docs/platform I.3).
type Group struct {
	Name     string
	From, To int // the bytes of the route that it takes
}

// Dispatched is the pattern that certainly fits a route.
type Dispatched struct{ entry *entry }

// Dispatch returns the pattern for a route as the platform dispatches it; false as for Pattern.
func (x *Index) Dispatch(route string) (Dispatched, bool) {
	e := x.find(route)
	return Dispatched{e}, e != nil
}

// Groups returns the named groups of a route; ok tells whether the pattern certainly fits it.
func (d Dispatched) Groups(route string) (groups []Group, ok bool) {
	route = lowerText(route)
	if d.entry.segments != nil {
		return d.entry.groupsOf(route)
	}
	compiled := d.entry.expression()
	if compiled == nil || !between.ASCII(route) { // no line has other bytes
		return nil, false
	}
	at := compiled.FindStringSubmatchIndex(route)
	for i, name := range compiled.SubexpNames() {
		if at != nil && name != "" && at[2*i] >= 0 {
			groups = append(groups, Group{name, at[2*i], at[2*i+1]})
		}
	}
	return groups, at != nil
}

// groupsOf is Groups for a pattern of simple segments, of which its name tells.
func (e *entry) groupsOf(route string) (groups []Group, ok bool) {
	if e.matchSegments(route) != yes {
		return nil, false
	}
	at, rest := 0, e.name
	for rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest[1:], "/")
		from := at + 1
		at = len(route)
		if n := strings.IndexByte(route[from:], '/'); n >= 0 {
			at = from + n
		}
		if name, named := strings.CutPrefix(segment, ":"); named {
			groups = append(groups, Group{name, from, at})
		}
		if rest != "" {
			rest = "/" + rest
		}
	}
	return groups, true
}

// HasWord tells whether a line of a configuration has a word where the pattern of a route has a named group, and matches the
// route or would if its groups said so.
func (d Dispatched) HasWord(line *routes.Pattern, route string) bool {
	if !BeginsLike(line, route) {
		return false
	}
	own, rest := line.Segments()
	if d.entry.segments != nil {
		return d.entry.hasWord(own, rest)
	}
	other, words := inPlace(own, rest, strings.Split(strings.TrimPrefix(lowerText(route), "/"), "/"))
	groups, _ := d.Groups(other)
	return slices.ContainsFunc(groups, func(g Group) bool {
		return slices.ContainsFunc(words, func(at int) bool { return g.From <= at && at < g.To })
	})
}

// hasWord is HasWord for a pattern of simple segments.
func (e *entry) hasWord(line []string, rest bool) bool {
	if len(line) > len(e.segments) || !rest && len(line) < len(e.segments) {
		return false
	}
	found, names := false, e.name
	for i, word := range line {
		var name string
		name, names, _ = strings.Cut(strings.TrimPrefix(names, "/"), "/")
		if routes.IsWildcard(word) {
			continue
		}
		if !e.segments[i].match(word) {
			return false
		}
		found = found || strings.HasPrefix(name, ":")
	}
	return found
}

// BeginsLike tells whether a line of a configuration matches the first segment of a route. No group takes that one.
func BeginsLike(line *routes.Pattern, route string) bool {
	own, _ := line.Segments()
	segment, _, _ := strings.Cut(strings.TrimPrefix(route, "/"), "/")
	return len(own) == 0 || routes.IsWildcard(own[0]) || strings.EqualFold(own[0], segment)
}

// inPlace returns a route that a line matches, with the segments of a route where the line has wildcards, and where in it the
// words of the line begin.
func inPlace(line []string, rest bool, segments []string) (route string, words []int) {
	var b strings.Builder
	for i, s := range line {
		b.WriteByte('/')
		switch {
		case !routes.IsWildcard(s):
			words = append(words, b.Len())
		case i < len(segments):
			s = segments[i]
		default:
			s = "x"
		}
		b.WriteString(s)
	}
	if rest && len(segments) > len(line) {
		b.WriteString("/" + strings.Join(segments[len(line):], "/"))
	}
	return b.String(), words
}
