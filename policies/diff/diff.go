package diff

import (
	"slices"

	"github.com/bits-and-blooms/bitset"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Effect is what a change does to calls.
type Effect string

// The effects.
const (
	Opened   Effect = "opened"    // each of the calls was refused, and passes
	Closed   Effect = "closed"    // each of the calls passed, and is refused
	MayOpen  Effect = "may_open"  // some of the calls may have been refused, and may pass
	MayClose Effect = "may_close" // some of the calls may have passed, and may be refused
)

// Holder is somebody whose calls are compared.
type Holder struct {
	// Name is what `--as` takes: "anonymous", "role:editor", "scope:erp".
	Name string
	review.Holder
}

// Change is a set of calls on which two chains decide otherwise, by the same lines. No call of a holder is in two changes
// with one effect.
type Change struct {
	Effect Effect
	// Methods are of [policy.MethodsApart], whose last one stands for every method that no line names; none stands for all.
	Methods []string
	Sets    []Set
	// Routes are the names of the routes of the site that have such calls; none where its index is not known.
	Routes []string
	Who    []string // the names of holders
	// Old and New are the lines that decide. Of two, one that both configurations have is left out: the other one has
	// changed.
	Old, New Line
	// Why says what else decides on calls that may open or close, in one sentence; it may be "".
	Why     string
	Example Example

	regions *bitset.BitSet
}

// Set are the keys that a route matches, but for those that one of others does.
type Set struct {
	Route  string
	Except []string
}

// Line is what decides on one side; "" where no line does, and the default lets calls pass.
type Line struct{ Text, At string }

// Example is one call of a Change.
type Example struct {
	Method string
	Route  string // as a client sends it
	Who    int    // of the holders
}

// Compare returns the calls on which two chains for one platform decide otherwise, for each of some holders. What opens
// stands before what closes, and what is certain before what is not; then calls that write, and those that anybody may
// make, come first. With an index only changes of its routes count. The error is keyset.ErrTooMany.
func Compare(before, after *policy.Chain, holders []Holder, x *index.Index) ([]Change, error) {
	within, everywhere := touched(before, after)
	if len(within) == 0 && !everywhere {
		return nil, nil
	}
	all := keyset.New(before.Site().Platform.ShopWord())
	old, next := review.NewDeciders(before, all, 0, nil)
	now, next := review.NewDeciders(after, all, next, nil)
	c := comparison{
		before: old, after: now, holders: holders, found: map[cell]*bitset.BitSet{}, why: map[reason]string{}, was: linesOf(before), is: linesOf(after),
		regions: newRegions(all, next, slices.Concat(old.Told, now.Told), before.Site()),
	}
	if everywhere {
		within = []routes.Pattern{routes.MustPattern("/**")}
	}
	for _, pattern := range within {
		all.Mark(pattern)
	}
	c.regions.within(within)
	skip := func(s *keyset.State) bool { return !s.Marked() }
	err := all.Walk(keyset.KeysOf(routes.MustPattern("/**")), skip, func(place *keyset.Place) bool {
		if place.State.Within() {
			c.visit(place)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	changes := c.changes()
	if x == nil {
		return changes, nil
	}
	return c.on(all, x, changes)
}
