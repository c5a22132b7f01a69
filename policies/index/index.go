package index

import (
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Bounds of an index and of one question to it.
const (
	maxRoutes     = 10_000
	maxText       = 2 << 20 // bytes of all patterns, and of all namespaces
	maxNamespaces = 1000
	maxRoute      = 2048    // bytes of a route as called
	maxSteps      = 500_000 // of compiled patterns, each byte of a route by the weight of the pattern
)

// Index holds the route patterns of one site. It never changes; equal ones are one value.
type Index struct {
	groups []*group // in the order of the namespaces; the last one has none

	digested sync.Once
	digest   [sha256.Size]byte // of Names
}

var (
	indexes pool[[sha256.Size]byte, Index]
	groups  pool[[sha256.Size]byte, group]
)

// New reads the route patterns of a REST root, such as "/wp/v2/posts/(?P<id>[\d]+)", and
// its namespaces, both in the order of the root. Text beyond the bounds of an index is left
// out; routes that it might match have no name.
func New(routes, namespaces []string) *Index {
	key := keyOf(append([]string{strings.Join(namespaces, "\x00")}, routes...))
	return indexes.get(key, func() *Index { return build(routes, namespaces) })
}

func build(routes, namespaces []string) *Index {
	x := new(Index)
	if len(namespaces) > maxNamespaces || len(strings.Join(namespaces, "")) > maxText {
		return x
	}
	patterns, cut := map[string][]string{}, false
	for i, text := 0, 0; i < len(routes); i++ {
		if text += len(routes[i]); i >= maxRoutes || text > maxText {
			cut = true
			break
		}
		if routes[i] != "" {
			of := namespaceOf(routes[i], namespaces)
			patterns[of] = append(patterns[of], routes[i])
		}
	}
	for i, namespace := range append(slices.Clip(namespaces), "") {
		if slices.Contains(namespaces[:i], namespace) || namespace == "" && i < len(namespaces) {
			continue
		}
		list := patterns[namespace]
		if cut {
			list = append(list, "")
		}
		x.groups = append(x.groups, groups.get(keyOf(append([]string{namespace}, list...)), func() *group {
			return newGroup(strings.Clone(namespace), list)
		}))
	}
	return x
}

// namespaceOf returns the namespace of a pattern: the longest one that it is below.
func namespaceOf(pattern string, namespaces []string) (longest string) {
	for _, ns := range namespaces {
		if rest, ok := strings.CutPrefix(pattern, "/"+ns); ok && (rest == "" || rest[0] == '/') && len(ns) > len(longest) {
			longest = ns
		}
	}
	return longest
}

// Lists tells whether the REST root lists a namespace, with regard to case.
func (x *Index) Lists(namespace string) bool {
	return x != nil && namespace != "" && slices.ContainsFunc(x.groups, func(g *group) bool { return g.namespace == namespace })
}

func keyOf(parts []string) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range parts {
		write(h, part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func write(h hash.Hash, part string) {
	sum := sha256.Sum256([]byte(part))
	h.Write(sum[:])
}

// Pattern returns the site's own pattern for a route as the platform dispatches it, with
// names for its groups: "/contact-form-7/v1/contact-forms/:id/feedback". ok is false where
// no pattern certainly fits. A name never holds text of the route.
//
// Where several patterns fit, the first one counts. The platform goes on to the next one if
// the first has no such method; the index does not know methods.
func (x *Index) Pattern(route string) (pattern string, ok bool) {
	if e := x.find(route); e != nil {
		return e.name, true
	}
	return "", false
}

// find returns the entry that certainly fits a route, or nil.
func (x *Index) find(route string) *entry {
	if x == nil || len(route) > maxRoute || !printable(route) {
		return nil
	}
	low, steps := lowerText(route), maxSteps
	path, filtered := strings.TrimLeft(route, "/"), false
	for _, g := range x.groups {
		if g.namespace == "" || !strings.HasPrefix(path, g.namespace) { // with regard to case
			continue
		}
		filtered = true
		switch e, v := g.match(low, &steps); v {
		case yes:
			return e
		case perhaps:
			return nil
		case no:
		}
	}
	if filtered {
		return nil
	}
	return x.anywhere(low, &steps)
}

// anywhere looks in all namespaces. The order across them is not kept, so that only a
// single match counts.
func (x *Index) anywhere(low string, steps *int) (found *entry) {
	for _, g := range x.groups {
		e, v := g.match(low, steps)
		if v == perhaps || v == yes && found != nil && e.name != found.name {
			return nil
		}
		if v == yes {
			found = e
		}
	}
	return found
}

// printable tells whether a route is free of control bytes. "$" would match before the end
// of a line.
func printable(route string) bool {
	return !strings.ContainsFunc(route, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// lowerText folds ASCII letters, as the platform does.
func lowerText(s string) string { return phpvars.Lower(s) }
