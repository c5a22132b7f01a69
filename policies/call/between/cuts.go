package between

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Cuts are what caches may cut out of a raw path.
type Cuts struct {
	path   string
	pairs  []string // that may be cut
	Whole  bool     // no part of a pair stays, see cutWhole
	joints *joints  // nil where there are more than are looked at
}

// CutsOf returns what caches may cut out of a raw path; nil for nothing.
func CutsOf(path string) *Cuts {
	if !cuttable(path) {
		return nil
	}
	pairs, whole := cutWhole(path)
	return &Cuts{path, pairs, whole, jointsOf(path)}
}

// MakeCall tells whether what is left of the path may name a call, by one of the prefixes or by a variable, a script
// or a dot segment.
func (c *Cuts) MakeCall(prefixes []string) bool {
	return c.joints == nil || c.joints.makeCall(prefixes)
}

// LeaveMany tells whether many texts may be left.
func (c *Cuts) LeaveMany() bool { return !c.Whole || len(c.pairs) > 1 }

// Left returns what is left without all pairs that may be cut.
func (c *Cuts) Left() string {
	return strings.Join(slices.DeleteFunc(strings.Split(c.path, "&"), func(pair string) bool { return slices.Contains(c.pairs, pair) }), "&")
}

// Head returns the beginning of the path that no cut changes, and no decoding. There must be joints.
func (c *Cuts) Head() string {
	end := 0
	for end < len(c.path) && !c.joints.gaps.has(end) && c.path[end] != '%' {
		end++
	}
	return c.path[:end]
}

// makeCall is Cuts.MakeCall for the joints of a path.
func (j *joints) makeCall(prefixes []string) bool {
	j.starts.remove(0) // nothing comes before a path
	route := literal(platforms.RouteVar)
	route.shifts = true
	words := append([]word{route, variableName(platforms.RouteVar), literal(".php/"), frontController}, dotSegments[:]...)
	for _, prefix := range prefixes {
		words = append(words, literal(prefix))
	}
	return slices.ContainsFunc(words, j.makes)
}
