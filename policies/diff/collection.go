package diff

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"

	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// collection collects the changes of one comparison.
type collection struct {
	*Comparison
	holders []Holder
	regions *regions
	found   map[cell]*bitset.BitSet
	why     map[reason]string // of the first of its calls
}

// reason is what a change does, and the lines that decide.
type reason struct {
	effect   Effect
	old, now Line
}

// cell are the calls of a holder with one method that change for a reason.
type cell struct {
	reason
	holder, method int // the latter of policy.MethodsApart
}

// visit compares the calls of one region.
func (c *collection) visit(place *keyset.Place) {
	number := c.regions.add(place)
	for i, method := range policy.MethodsApart {
		one := review.CallOf(method, place.Key())
		for j := range c.holders {
			h := &c.holders[j].Holder
			if !c.counts(h, place.Key()) {
				continue
			}
			old, now := c.before.Fate(h, one, place.State.Matches()), c.after.Fate(h, one, place.State.Matches())
			found, why := effects(&old, &now), cmp.Or(now.Why, old.Why, byParameters)
			if c.outside(h, place.Key()) {
				found, why = perhaps(found), byKeyOutside
			}
			for _, effect := range found {
				c.add(cell{reasonOf(effect, &old, &now), j, i}, number, why)
			}
		}
	}
}

// linesOf returns what the lines of a chain say, by their names.
func linesOf(c *policy.Chain) map[string]string {
	lines := map[string]string{}
	for _, m := range c.Policies() {
		if p, ok := m.Policy.(policy.Router); ok {
			p.EachRoute(func(l policy.RouteLine) {
				if l.Rule != nil {
					lines[l.Rule.String()] += policy.Meaning(l.Rule)
				} else {
					lines[l.Text] += fmt.Sprint(l.Routes)
				}
			})
		}
	}
	return lines
}

func (c *collection) add(to cell, region int, why string) {
	set := c.found[to]
	if set == nil {
		set = new(bitset.BitSet)
		c.found[to] = set
	}
	set.Set(uint(region))
	if to.effect == MayOpen || to.effect == MayClose {
		c.why[to.reason] = cmp.Or(c.why[to.reason], why)
	}
}

// effects says what becomes of the calls of a region that fare as old says, and now as now does.
func effects(old, now *review.Fate) []Effect {
	switch {
	case !old.Passes && !now.Passes:
		return nil
	case !old.Passes && !now.Refused:
		return []Effect{Opened}
	case !now.Passes && !old.Refused:
		return []Effect{Closed}
	case !old.Passes || old.Refused && !now.Refused:
		return []Effect{MayOpen}
	case !now.Passes || now.Refused && !old.Refused:
		return []Effect{MayClose}
	case old.Depends == now.Depends:
		return nil
	case !old.Refused && old.Depends == "":
		return []Effect{MayClose}
	case !now.Refused && now.Depends == "":
		return []Effect{MayOpen}
	}
	return []Effect{MayOpen, MayClose}
}

// perhaps returns effects that are not certain.
func perhaps(certain []Effect) []Effect {
	for i, e := range certain {
		switch e {
		case Opened:
			certain[i] = MayOpen
		case Closed:
			certain[i] = MayClose
		case MayOpen, MayClose:
		}
	}
	return certain
}

// byKeyOutside says why calls may open or close that carry a shop key elsewhere than in the shop.
const byKeyOutside = "Elsewhere than in the shop a key is a login that nobody has, or nobody's, by where it stands."

// byParameters says why calls may open or close that pass on both sides, but for what the lines say of parameters.
const byParameters = "A line takes a parameter from the route: a request that names another one in its query or body is refused."

func reasonOf(effect Effect, old, now *review.Fate) reason {
	opens := effect == Opened || effect == MayOpen
	return reason{effect, lineOf(old, !opens), lineOf(now, opens)}
}

// lineOf returns the line that lets calls pass, or refuses them, or does the other where none of them fares so.
func lineOf(f *review.Fate, passes bool) Line {
	by := f.RefusedBy
	if passes && f.Passes || !f.Refused {
		by = f.PassedBy
	}
	if by == nil {
		return Line{}
	}
	return Line{Text: by.String(), At: by.At}
}

// changes returns what has been found.
func (c *collection) changes() (changes []Change) {
	causes := map[cell]*bitset.BitSet{}
	why := map[reason]string{}
	for one, regions := range c.found {
		text := c.why[one.reason]
		one.reason = c.cause(one.reason)
		why[one.reason] = max(why[one.reason], text) // the same whatever the order
		if known := causes[one]; known != nil {
			known.InPlaceUnion(regions)
		} else {
			causes[one] = regions
		}
	}
	for one, holders := range alike(causes) {
		change := Change{Effect: one.effect, Old: one.old, New: one.now, Why: why[one.reason], Sets: c.regions.describe(one.regions)}
		slices.Sort(holders)
		for _, j := range holders {
			change.Who = append(change.Who, c.holders[j].Name)
		}
		first, _ := one.regions.NextSet(0)
		change.Methods, change.Example = methodsOf(one.methods), Example{exampleOf(one.methods), c.regions.routes[first], holders[0]}
		change.regions = one.regions
		changes = append(changes, change)
	}
	slices.SortFunc(changes, byDanger)
	return changes
}

// cause is a reason without the line that both configurations have: the other one has changed. A reason of two such lines,
// which may have changed places, stays as it is.
func (c *collection) cause(r reason) reason {
	oldStays, newStays := c.stays(r.old), c.stays(r.now)
	r.old.Stays, r.now.Stays = oldStays && r.old.Text != "", newStays && r.now.Text != ""
	switch {
	case oldStays && !newStays:
		r.old = Line{}
	case newStays && !oldStays:
		r.now = Line{}
	}
	return r
}

// stays tells whether both configurations have a line, which those that no owner writes always are.
func (c *collection) stays(l Line) bool { return c.was[l.Text] == c.is[l.Text] }

// rectangle is calls of some holders that change for one reason: those with all of some methods in all of some regions.
type rectangle struct {
	reason
	methods policy.MethodSet
	regions *bitset.BitSet
}

// alike returns the rectangles with their holders. Two of them may be of the same regions, or of the same holders, but not
// of both.
func alike(cells map[cell]*bitset.BitSet) map[*rectangle][]int {
	type key struct {
		reason
		holder  int
		regions string
	}
	methods, sets := map[key]policy.MethodSet{}, map[string]*bitset.BitSet{}
	for one, regions := range cells {
		text := textOf(regions)
		sets[text] = regions
		methods[key{one.reason, one.holder, text}] |= 1 << one.method
	}
	type merged struct {
		reason
		methods policy.MethodSet
		regions string
	}
	holders := map[merged][]int{}
	for one, set := range methods {
		to := merged{one.reason, set, one.regions}
		holders[to] = append(holders[to], one.holder)
	}
	found := map[*rectangle][]int{}
	for one, who := range holders {
		found[&rectangle{one.reason, one.methods, sets[one.regions]}] = who
	}
	return found
}

// textOf writes a set; equal ones have one text.
func textOf(set *bitset.BitSet) string {
	var b []byte
	for _, word := range set.Words() {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return strings.TrimRight(string(b), "\x00")
}
