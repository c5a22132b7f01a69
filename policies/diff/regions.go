package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// regions are the regions of keys that two chains tell apart. They are described by what tells them apart.
type regions struct {
	dashed string   // the set of the shop's namespaces beside its own
	first  int      // the number of the first of told in the automaton
	told   []told   // what tells the regions apart
	routes []string // one of each region, as a client sends it
	number map[*keyset.State]int
	in     [][]int // of each region, those of told that have it, in order
}

// told is a set of keys by which regions are told apart.
type told struct {
	text    string
	pattern *routes.Pattern // nil where no pattern says it
	has     func(key string) bool
	whole   bool          // all its regions are added
	regions bitset.BitSet // those within it
}

// newRegions returns an empty regions. It adds what tells regions apart to an automaton, under numbers from first on.
func newRegions(all *keyset.Automaton, first int, by []review.Region, site *policy.Site) *regions {
	r := &regions{first: first, number: map[*keyset.State]int{}}
	word := "/" + site.Platform.ShopWord()
	r.dashed = word + "-*/**"
	every, shop := routes.MustPattern("/**"), routes.MustPattern(word+"/**")
	for _, region := range slices.Concat([]review.Region{{Pattern: &every}, {Pattern: &shop}}, by) {
		t := told{text: region.Key}
		switch {
		case region.Pattern != nil:
			t.text, t.pattern = masked(region.Pattern), region.Pattern
		case region.Below != "":
			t.text += "/**/" + region.Below
		default:
			t.has = func(key string) bool { return key == region.Key }
		}
		if slices.ContainsFunc(r.told, func(other told) bool { return other.text == t.text }) {
			continue
		}
		switch {
		case region.Pattern != nil:
			all.Add(*region.Pattern, first+len(r.told))
		case region.Below != "":
			all.AddBelow(region.Key, region.Below, first+len(r.told))
		}
		r.told = append(r.told, t)
	}
	r.told = append(r.told, told{text: r.dashed, has: func(key string) bool { return strings.HasPrefix(key, word+"-") }})
	return r
}

// within says that regions within some patterns alone are added.
func (r *regions) within(patterns []routes.Pattern) {
	for i := range r.told {
		t := &r.told[i]
		t.whole = slices.ContainsFunc(patterns, func(p routes.Pattern) bool { return p.String() == "/**" || t.pattern != nil && p.Covers(*t.pattern) })
	}
}

// masked is the text of a pattern with * for the names of parameters: patterns that match the same keys have one text.
func masked(p *routes.Pattern) string {
	segments, rest := p.Segments()
	text := make([]string, len(segments))
	for i, s := range segments {
		if text[i] = s; s[0] == ':' {
			text[i] = "*"
		}
	}
	if rest {
		text = append(text, "**")
	}
	return "/" + strings.Join(text, "/")
}

// add adds the region of a place, and returns its number.
func (r *regions) add(place *keyset.Place) int {
	number, key := len(r.routes), place.Key()
	r.number[place.State] = number
	var in []int
	for _, n := range place.State.Matches() {
		if n >= r.first {
			in = append(in, n-r.first)
		}
	}
	for i := range r.told {
		if r.told[i].has != nil && r.told[i].has(key) {
			in = append(in, i)
		}
	}
	if place.Literal() && !slices.ContainsFunc(r.told, func(t told) bool { return t.text == key }) { // a policy may look at the key itself
		in = append(in, len(r.told))
		r.told = append(r.told, told{text: key, whole: true})
	}
	for _, i := range in {
		r.told[i].regions.Set(uint(number))
	}
	r.routes, r.in = append(r.routes, place.Route()), append(r.in, in)
	return number
}

// describe returns the sets of keys that some regions have together: by the sets that have most of them, or by those that
// need the fewest exceptions, whichever is shorter.
func (r *regions) describe(some *bitset.BitSet) []Set {
	wide := r.cover(some, func(n, _ int) float64 { return float64(n) })
	near := r.cover(some, func(n, except int) float64 { return float64(n) / float64(1+except) })
	if length(near) < length(wide) {
		return near
	}
	return wide
}

// length is how long sets are to read: a set is longer than an exception.
func length(sets []Set) (n int) {
	for i := range sets {
		n += 4 + len(sets[i].Except)
	}
	return n
}

// cover is describe by sets that are worth most, by the number of regions that they add and of exceptions.
func (r *regions) cover(some *bitset.BitSet, worth func(n, except int) float64) (sets []Set) {
	for left := some.Clone(); left.Any(); {
		best, covers, most := Set{}, (*bitset.BitSet)(nil), 0.0
		for i := range r.told {
			t := &r.told[i]
			n := int(t.regions.IntersectionCardinality(left))
			if n == 0 || !t.whole || worth(n, 0) <= most {
				continue
			}
			except, ok := r.except(&t.regions, some)
			if w := worth(n, len(except)); ok && w > most {
				best, covers, most = Set{t.text, except}, &t.regions, w
			}
		}
		if covers == nil {
			best, covers = r.exactly(left)
		}
		sets = append(sets, best)
		left = left.Difference(covers)
	}
	return sets
}

// except returns what of the regions within a set is not among some: by sets that have none of these, and first those that have most.
func (r *regions) except(within, some *bitset.BitSet) (names []string, ok bool) {
	type candidate struct {
		most int // of the regions that are left: there may be fewer by now
		told int
	}
	byMost := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.told, b.told)) }
	good, bad := within.Intersection(some), within.Difference(some)
	var candidates []candidate
	for i := range r.told {
		t := &r.told[i]
		if n := t.regions.IntersectionCardinality(bad); n > 0 && t.regions.IntersectionCardinality(good) == 0 {
			candidates = append(candidates, candidate{int(n), i})
		}
	}
	slices.SortFunc(candidates, byMost)
	for bad.Any() {
		if len(candidates) == 0 {
			return nil, false
		}
		first := candidates[0]
		candidates = candidates[1:]
		set := &r.told[first.told].regions
		switch n := int(set.IntersectionCardinality(bad)); n {
		case first.most:
			names = append(names, r.told[first.told].text)
			bad.InPlaceDifference(set)
		case 0:
		default:
			first.most = n
			at, _ := slices.BinarySearchFunc(candidates, first, byMost)
			candidates = slices.Insert(candidates, at, first)
		}
	}
	return names, true
}

// exactly returns the set of the first of some regions, with those that nothing tells from it: what all sets that have it
// have in common, but for all others.
func (r *regions) exactly(some *bitset.BitSet) (set Set, covers *bitset.BitSet) {
	first, _ := some.NextSet(0)
	within, alike := (*bitset.BitSet)(nil), new(bitset.BitSet)
	var common routes.Pattern
	for _, i := range r.in[first] {
		t := &r.told[i]
		if within == nil {
			within, common = t.regions.Clone(), *t.pattern // of all keys
			continue
		}
		within.InPlaceIntersection(&t.regions)
		switch {
		case t.pattern != nil:
			common, _ = common.Meet(*t.pattern)
		case t.text != r.dashed:
			set.Route = t.text
		}
	}
	if set.Route == "" {
		set.Route = masked(&common)
		if slices.ContainsFunc(r.in[first], func(i int) bool { return r.told[i].text == r.dashed }) {
			set.Route = r.inDashed(set.Route)
		}
	}
	for i := range within.EachSet() {
		if slices.Equal(r.in[i], r.in[first]) {
			alike.Set(i)
		}
	}
	set.Except, _ = r.except(within, alike)
	return set, alike
}

// inDashed returns the keys of a route that are in the shop's namespaces beside its own.
func (r *regions) inDashed(route string) string {
	rest, all := strings.CutPrefix(route, "/*")
	switch {
	case route == "/**":
		return r.dashed
	case all:
		return strings.TrimSuffix(r.dashed, "/**") + rest
	}
	return route
}
