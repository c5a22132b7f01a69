package diff

import (
	"slices"

	"github.com/bits-and-blooms/bitset"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/review"
)

// on returns those of some changes that are about routes of a site, with these, and with an example of one of them.
func (c *collection) on(all *keyset.Automaton, x *index.Index, changes []Change) (kept []Change, err error) {
	for _, route := range x.Routes() {
		of, examples, err := c.of(all, route)
		if err != nil {
			return nil, err
		}
		for i := range changes {
			change := &changes[i]
			common := change.regions.Intersection(of)
			if common.None() {
				continue
			}
			if change.Routes == nil {
				first, _ := common.NextSet(0)
				change.Example.Route = examples[first]
			}
			change.Routes = append(change.Routes, route.Called())
		}
	}
	for _, change := range changes {
		if slices.Sort(change.Routes); len(change.Routes) > 0 {
			kept = append(kept, change)
		}
	}
	return kept, nil
}

// of returns the regions that a route of a site has calls in, with one call in each.
func (c *collection) of(all *keyset.Automaton, route *index.Route) (of *bitset.BitSet, examples map[uint]string, err error) {
	of, examples = new(bitset.BitSet), map[uint]string{}
	space, _ := review.SpaceOf(route)
	err = all.Walk(space, nil, func(place *keyset.Place) bool {
		if n, compared := c.regions.number[place.State]; compared {
			number := uint(n)
			if of.Set(number); examples[number] == "" {
				examples[number] = place.Route()
			}
		}
		return true
	})
	return of, examples, err
}
