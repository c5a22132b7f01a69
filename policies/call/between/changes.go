package between

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Changes are what something on the way may make of a raw query, beside small letters and decoding
// alone, see phpvars.Hidden. A nil one is nothing.
type Changes struct {
	marked string   // the query, if some end it or begin it at one of its "?" or "|"
	cuts   bool     // parameters of it are cut
	gone   []string // pairs that may be cut, if all cuts take whole pairs
	split  string   // the query, if cuts leave a part of a pair
	many   bool     // there are more joints than are looked at

	joints  *joints // of split
	settled bool    // they were let go
}

// ChangesOf returns what may become of a raw query.
func ChangesOf(query string) *Changes {
	cuts, marked := cuttable(query), strings.ContainsAny(query, "?|")
	if !cuts && !marked {
		return nil
	}
	c := &Changes{cuts: cuts}
	if marked {
		c.marked = query
	}
	if cuts {
		pairs, whole := cutWhole(query)
		if c.gone = pairs; !whole {
			c.split, c.joints = query, jointsOf(query)
			c.many = c.joints == nil
		}
	}
	return c
}

// Sets tells whether the variable name may get a value that the query does not give it.
func (c *Changes) Sets(name string) bool {
	switch {
	case c == nil:
		return false
	case c.many:
		return true
	}
	if marks(c.marked, name) {
		return true
	}
	j := c.found()
	return j != nil && (j.bends(name) || j.makes(variableName(name)))
}

// Settle lets the joints go, which take more than the query. Later questions look for them again.
func (c *Changes) Settle() {
	if c != nil {
		c.joints, c.settled = nil, true
	}
}

// found returns the joints of the query; nil where cuts take whole pairs.
func (c *Changes) found() *joints {
	if c.settled && c.split != "" {
		return jointsOf(c.split)
	}
	return c.joints
}

// marks tells whether the variable name gets a value where a query ends before the "?" and "|" at its
// end, or begins behind a "?" (docs/platform I.13, B8 and B10). Each pair may be the last one, in some order, and each
// "?" the first that a cache leaves.
func marks(query, name string) bool {
	if query == "" {
		return false
	}
	for pair := range strings.SplitSeq(query, "&") {
		if end := Trimmed(pair); end != pair && sets(end, name) {
			return true
		}
		_, behind, _ := strings.Cut(pair, "?")
		for behind != "" {
			var piece string
			if piece, behind, _ = strings.Cut(behind, "?"); sets(Trimmed(piece), name) {
				return true
			}
		}
	}
	return false
}

func sets(pair, name string) bool { return phpvars.Has(pair, name) || phpvars.Hidden(pair, name) }

// bends tells whether a pair that sets the variable name may get another name or another value.
func (j *joints) bends(name string) bool {
	return j.anyPair(func(from, to int) bool {
		return sets(j.text[from:to], name) && j.gaps.any(from+1, to+1)
	})
}

// Loses tells whether a pair of the variable name may be gone: it is glued to the rest of another
// name, or cut away.
func (c *Changes) Loses(name string) bool {
	switch {
	case c == nil:
		return false
	case c.many, slices.ContainsFunc(c.gone, func(pair string) bool { return phpvars.Has(pair, name) }):
		return true
	}
	j := c.found()
	return j != nil && j.anyPair(func(from, to int) bool {
		return phpvars.Has(j.text[from:to], name) && (j.within || j.gaps.has(from))
	})
}

// anyPair tells whether is holds for a pair, between two positions.
func (j *joints) anyPair(is func(from, to int) bool) bool {
	for from := 0; from <= len(j.text); {
		to := len(j.text)
		if i := strings.IndexByte(j.text[from:], '&'); i >= 0 {
			to = from + i
		}
		if is(from, to) {
			return true
		}
		from = to + 1
	}
	return false
}

// Certain tells whether all variables of the query are those that it has.
func (c *Changes) Certain() bool { return c == nil || !c.many && c.split == "" && c.marked == "" }
