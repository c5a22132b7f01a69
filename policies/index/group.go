package index

import (
	"slices"
	"strings"
)

// group holds the patterns of one namespace, in the order of registration. Indexes share
// equal groups.
type group struct {
	namespace string
	root      string // in lower case; every route of the group begins with it
	entries   []*entry
	below     map[string][]int32 // by the literal segment below the namespace
	open      []int32            // where there is no such segment
	bytes     int                // that it takes, about
}

// entries are the patterns in use, by their text.
var entries pool[string, entry]

func newGroup(namespace string, patterns []string) *group {
	g := &group{namespace: namespace, below: map[string][]int32{}}
	for i, pattern := range patterns {
		e := anyRoute
		if pattern != "" {
			pattern = strings.Clone(pattern)
			e = entries.get(pattern, func() *entry { return newEntry(pattern) })
		}
		g.entries = append(g.entries, e)
		if i == 0 {
			g.root = e.prefix
		}
		for !strings.HasPrefix(e.prefix, g.root) {
			g.root = g.root[:len(g.root)-1]
		}
		if key := g.key(e.prefix, e.text == "" && e.literal()); key != "" {
			g.below[key] = append(g.below[key], int32(i))
		} else {
			g.open = append(g.open, int32(i))
		}
	}
	g.entries = slices.Clip(g.entries)
	g.bytes = g.size()
	return g
}

// anyRoute is an opaque pattern that may match every route. It stands for what was left out.
var anyRoute = new(entry)

// key returns the segment below the namespace, or "" where text has none. Text that is not
// a whole route may end inside of a segment.
func (g *group) key(text string, whole bool) string {
	if g.namespace != "" {
		if len(text) <= len(g.namespace) || text[0] != '/' || !strings.EqualFold(text[1:1+len(g.namespace)], g.namespace) {
			return ""
		}
		text = text[1+len(g.namespace):]
	}
	if text == "" || text[0] != '/' {
		return ""
	}
	segment, _, more := strings.Cut(text[1:], "/")
	if !more && !whole {
		return ""
	}
	return segment
}

// literal tells whether the entry is one text.
func (e *entry) literal() bool {
	return len(e.segments) > 0 && !slices.ContainsFunc(e.segments, func(s segment) bool { return s.set != nil })
}

// match returns the first entry that may match a route in lower case.
func (g *group) match(route string, steps *int) (*entry, verdict) {
	if !strings.HasPrefix(route, g.root) {
		return nil, no
	}
	below, open := []int32(nil), g.open
	if key := g.key(route, true); key != "" {
		below = g.below[key]
	}
	for len(below)+len(open) > 0 {
		list := &below
		if len(below) == 0 || len(open) > 0 && open[0] < below[0] {
			list = &open
		}
		e := g.entries[(*list)[0]]
		*list = (*list)[1:]
		if v := e.match(route, steps); v != no {
			return e, v
		}
	}
	return nil, no
}
