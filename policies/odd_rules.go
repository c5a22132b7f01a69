package policies

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/cover"
)

// odd returns W04 and W05: rules that decide nothing, or nothing else than the rules behind
// them. It says nothing of a rule that has too many cases to decide.
func (p *Access) odd() (odd []Odd) {
	g := divide(p, "")
	for i := range p.Rules {
		r := &p.Rules[i]
		by, hidden, err := g.hiding(i)
		switch {
		case err != nil:
			continue
		case hidden && len(by) > 0:
			odd = append(odd, oddf("W04", r.At, "%s never decides, since %s all of its calls: remove it, or move it up.", r, g.list(by, "before it takes", "together before it take")))
			continue
		case hidden || r.Deny:
			continue
		}
		if u, err := g.useless(i); err == nil && u.useless {
			odd = append(odd, u.odd(g, r))
		}
	}
	return odd
}

// list names rules with their places, and says what the one rule, or all of them, do.
func (g *regions) list(rules []int, one, all string) string {
	names := make([]string, len(rules))
	for i, rule := range rules {
		r := &g.access.Rules[rule]
		names[i] = r.String()
		if r.At != "" {
			names[i] += " (" + r.At + ")"
		}
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last] + " " + all
	}
	return names[0] + " " + one
}

// hiding tells whether the rules before rule i match all of its calls, and which of them do:
// as few as one finds who takes each region's first.
func (g *regions) hiding(i int) (by []int, hidden bool, err error) {
	hidden = true
	used := map[int]bool{}
	// hides tells whether the rules before i among those of patterns have all methods of i.
	hides := func(patterns []int) bool {
		left := g.methods[i]
		var takers []int
		for _, rule := range g.matching(patterns) {
			if rule >= i || left == 0 {
				break
			}
			if left&g.methods[rule] != 0 {
				takers = append(takers, rule)
			}
			left &^= g.methods[rule]
		}
		if left != 0 {
			return false
		}
		for _, rule := range takers {
			used[rule] = true
		}
		return true
	}
	routes := g.access.Rules[i].target.routes
	for j := range routes {
		err := g.Walk(cover.KeysOf(routes[j]),
			func(s *cover.State) bool { return hides(s.Settled()) },
			func(p *cover.Place) bool { hidden = hides(p.State.Matches()); return hidden })
		if err != nil || !hidden {
			return nil, false, err
		}
	}
	for rule := range used {
		by = append(by, rule)
	}
	slices.Sort(by)
	return by, true, nil
}
