package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// oddRules returns W04 and W05: rules that decide nothing, or nothing else than the rules behind
// them. It says nothing of a rule that has too many cases to decide. A plugin of a line is
// odd if all of its rules are: a site need not have every route that a plugin may have.
func (p *Access) oddRules() (odd []review.Odd) {
	g := p.regions()
	for i := 0; i < len(p.Rules); {
		end := p.sameLine(i)
		var found []review.Odd
		for j := i; j < end && len(found) == j-i; j++ {
			if o, is := g.oddRule(j); is {
				found = append(found, o)
			}
		}
		if len(found) == end-i {
			odd = append(odd, together(&p.Rules[i], found))
		}
		i = end
	}
	return odd
}

// regions divides all keys into regions, as the rules of one policy alone tell them apart.
type regions struct {
	*keyset.Automaton
	ruleNumbers
}

func (p *Access) regions() *regions {
	a := keyset.New("")
	return &regions{a, p.number(a.Add)}
}

// sameLine returns the end of the rules that a line has for one plugin, of which rule i is
// the first; i+1 for a rule of the owner's own.
func (p *Access) sameLine(i int) int {
	end := i + 1
	for r := &p.Rules[i]; r.From != "" && end < len(p.Rules) && p.Rules[end].From == r.From && p.Rules[end].At == r.At; {
		end++
	}
	return end
}

// together makes one finding of those of all rules of a plugin, whose first rule is r.
func together(r *policy.Rule, found []review.Odd) review.Odd {
	if len(found) == 1 {
		return found[0]
	}
	o := review.Odd{Code: "W04", At: r.At, Do: "remove it, or move it up", Text: fmt.Sprintf("%s never decides, since the rules before it take all of its calls", r)}
	for _, f := range found {
		if f.Code == "W05" {
			return f
		}
	}
	return o
}

// oddRule returns W04 or W05 for rule i.
func (g *regions) oddRule(i int) (o review.Odd, is bool) {
	r := &g.access.Rules[i]
	by, left, err := g.hiding(i)
	switch {
	case err != nil:
		return review.Odd{}, false
	case left == nil && len(by) > 0:
		return review.Odd{
			Code: "W04", At: r.At, Do: "remove it, or move it up",
			Text: fmt.Sprintf("%s never decides, since %s all of its calls", r, g.list(by, "before it takes", "together before it take")),
		}, true
	case left == nil || r.Deny:
		return review.Odd{}, false
	}
	u, err := g.useless(i)
	return u.odd(g, r), err == nil && u.useless
}

// list names rules with their places, and says what the one rule, or all of them, do.
func (g *regions) list(rules []int, one, all string) string {
	var names []string
	for _, rule := range rules {
		r := &g.access.Rules[rule]
		name := r.String()
		if r.At != "" {
			name += " (" + r.At + ")"
		}
		if !slices.Contains(names, name) { // a plugin has many rules
			names = append(names, name)
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
	skip := func(s *keyset.State) bool { return g.leaves(i, s.Settled(), used) == 0 }
	visit := func(p *keyset.Place) bool {
		for m, method := range policy.MethodsApart {
			if left == nil && g.leaves(i, p.State.Matches(), used).Has(m) {
				left = review.CallOf(method, p.Key())
			}
		}
		return left == nil
	}
	routes := g.access.Rules[i].Target().Routes()
	for j := range routes {
		if err := g.Walk(keyset.KeysOf(routes[j]), skip, visit); err != nil || left != nil {
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
func (g *regions) leaves(i int, patterns []int, used map[int]bool) policy.MethodSet {
	left := g.methods[i]
	var takers []int
	for _, rule := range g.matching(review.MatchedOf(patterns)) {
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
