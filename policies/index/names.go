package index

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// Names returns what the routes of the index are called, sorted, each name once. An opaque
// pattern is called by the text that its routes begin with, and a short hash: "/a/v1*~01234567".
func (x *Index) Names() []string {
	if x == nil {
		return nil
	}
	names := make([]string, 0, x.Len())
	for _, g := range x.groups {
		for _, e := range g.entries {
			if e != anyRoute {
				names = append(names, e.called())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Len returns how many patterns the index has.
func (x *Index) Len() (n int) {
	if x == nil {
		return 0
	}
	for _, g := range x.groups {
		n += len(g.entries)
	}
	return n
}

// Digest identifies Names. It is computed once, since many sites share an index.
func (x *Index) Digest() [sha256.Size]byte {
	x.digested.Do(func() { x.digest = DigestOf(x.Names()) })
	return x.digest
}

// DigestOf returns the digest of an index with these names.
func DigestOf(names []string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(names, "\n")))
}

// Called returns what Names calls the route.
func (r *Route) Called() string { return r.entry.called() }

// Called returns what Names calls the route in an index.
func (l *Listed) Called() string {
	return entries.get(l.Pattern, func() *entry { return newEntry(l.Pattern) }).called()
}

const hashLen = 8

func (e *entry) called() string {
	if e.name == "" {
		sum := sha256.Sum256([]byte(e.text))
		prefix := routes.Masked(e.prefix)
		return prefix[:min(len(prefix), maxName-hashLen)] + "*~" + hex.EncodeToString(sum[:hashLen/2])
	}
	return e.name
}

// IsName tells whether text may be one of Names: it is not too long and of the characters
// that names have.
func IsName(text string) bool {
	return text != "" && len(text) <= maxName+len("*~") && nameBytes.Holds(text)
}

var nameBytes = between.AlnumAnd(plainMarks + ":*[]()|")
