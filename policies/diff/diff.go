package diff

import (
	"slices"

	"github.com/bits-and-blooms/bitset"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
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
type Line struct {
	Text, At string
	// Stays tells that both sides have the line.
	Stays bool
}

// Example is one call of a Change.
type Example struct {
	Method string
	Route  string // as a client sends it
	Who    int    // of the holders
}

// Comparison compares two chains for one platform. It is for one goroutine.
type Comparison struct {
	before, after *review.Deciders
	all           *keyset.Automaton
	first         int              // the number of the regions' first pattern
	within        []routes.Pattern // where calls may be decided otherwise; none for nowhere
	site          *policy.Site
	scopes        [2]policy.Scopes  // before and after; nil for none
	scoped        map[string]bool   // keys, whether one of them names them
	was, is       map[string]string // what the lines of a configuration say, before and after
}

// New returns the comparison of two chains.
func New(before, after *policy.Chain) *Comparison {
	c := &Comparison{site: before.Site(), scoped: map[string]bool{}, was: linesOf(before), is: linesOf(after)}
	c.scopes = [...]policy.Scopes{before.Site().Scopes, after.Site().Scopes}
	within, everywhere := touched(before, after)
	if everywhere {
		within = []routes.Pattern{routes.MustPattern("/**")}
	}
	c.within, c.all = within, keyset.New(c.site.Platform.ShopWord())
	c.before, c.first = review.NewDeciders(before, policy.InForce{}, c.all, 0, nil)
	c.after, c.first = review.NewDeciders(after, policy.InForce{}, c.all, c.first, nil)
	return c
}

// Changes returns the calls that are decided otherwise, for each of some holders. What opens stands before what closes; then calls
// that write, and those that anybody may make, come first. With an index only changes of its routes count. The error is
// keyset.ErrTooMany. It may be called once, and before Of.
func (c *Comparison) Changes(holders []Holder, x *index.Index) ([]Change, error) {
	if len(c.within) == 0 {
		return nil, nil
	}
	found := collection{
		Comparison: c, holders: holders, found: map[cell]*bitset.BitSet{}, why: map[reason]string{},
		regions: newRegions(c.all, c.first, slices.Concat(c.before.Told, c.after.Told), c.site),
	}
	for _, pattern := range c.within {
		c.all.Mark(pattern)
	}
	found.regions.within(c.within)
	skip := func(s *keyset.State) bool { return !s.Marked() }
	err := c.all.Walk(keyset.KeysOf(routes.MustPattern("/**")), skip, func(place *keyset.Place) bool {
		if place.State.Within() {
			found.visit(place)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	changes := found.changes()
	if x == nil {
		return changes, nil
	}
	return found.on(c.all, x, changes)
}

// counts tells whether a holder is somebody on a route: elsewhere than in the shop a shop key is a login that nobody has. A scope
// binds its name there, too.
func (c *Comparison) counts(h *review.Holder, key string) bool {
	if !c.outside(h, key) {
		return true
	}
	scoped, known := c.scoped[h.Credential.Key]
	if !known {
		scoped = len(scopesOf(c.scopes[0], &h.Credential))+len(scopesOf(c.scopes[1], &h.Credential)) > 0
		c.scoped[h.Credential.Key] = scoped
	}
	return scoped
}

// Of returns what becomes of one call of a holder; nothing where it is decided as before. The error is keyset.ErrTooMany.
func (c *Comparison) Of(h *review.Holder, method, key string) ([]Effect, error) {
	if !c.counts(h, key) || !slices.ContainsFunc(c.within, func(p routes.Pattern) bool { return p.Match(key) }) {
		return nil, nil
	}
	state, err := c.all.At(key)
	if err != nil || state == nil {
		return nil, err
	}
	one := review.CallOf(method, key)
	old, now := c.before.Fate(h, one, state.Matches()), c.after.Fate(h, one, state.Matches())
	found := effects(&old, &now)
	if c.outside(h, key) {
		found = perhaps(found)
	}
	return found, nil
}

// outside tells whether a holder of a shop key calls another route than the shop's.
func (c *Comparison) outside(h *review.Holder, key string) bool {
	return h.Caller.Kind == caller.KeyHolder && !c.site.InShop(key)
}
