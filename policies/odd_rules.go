package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/cover"
)

// odd returns W04 and W05: rules that decide nothing, or nothing else than the rules behind
// them. It says nothing of a rule that has too many cases to decide.
func (p *Access) odd() (odd []Odd) {
	g := divide(p, "")
	for i := range p.Rules {
		r := &p.Rules[i]
		by, left, err := g.hiding(i)
		switch {
		case err != nil:
			continue
		case left == nil && len(by) > 0:
			odd = append(odd, Odd{
				Code: "W04", At: r.At, Do: "remove it, or move it up",
				Text: fmt.Sprintf("%s never decides, since %s all of its calls", r, g.list(by, "before it takes", "together before it take")),
			})
			continue
		case left == nil || r.Deny:
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

// hiding returns the rules before rule i that match all of its calls together: as few as one
// finds who takes the first of each region. If there is a call that they leave, hiding
// returns one in their place.
func (g *regions) hiding(i int) (by []int, left *call.Call, err error) {
	used := map[int]bool{}
	skip := func(s *cover.State) bool { return g.leaves(i, s.Settled(), used) == 0 }
	visit := func(p *cover.Place) bool {
		for m, method := range methodsApart {
			if left == nil && g.leaves(i, p.State.Matches(), used).has(m) {
				left = callOf(method, p.Key())
			}
		}
		return left == nil
	}
	routes := g.access.Rules[i].target.routes
	for j := range routes {
		if err := g.Walk(cover.KeysOf(routes[j]), skip, visit); err != nil || left != nil {
			return nil, left, err
		}
	}
	for rule := range used {
		by = append(by, rule)
	}
	slices.Sort(by)
	return by, nil, nil
}

// leaves returns the methods of rule i that the rules before it leave, where these patterns
// match. If they leave none, it adds them to used.
func (g *regions) leaves(i int, patterns []int, used map[int]bool) methodSet {
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
	for _, rule := range takers {
		if left == 0 {
			used[rule] = true
		}
	}
	return left
}
