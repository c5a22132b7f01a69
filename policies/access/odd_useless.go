package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// use is what an allow rule changes.
type use struct {
	useless   bool
	behind    []int // the rules that would decide in its place
	otherwise bool  // the default would decide on some of its calls
}

// useless tells whether rule i changes nothing: on each call on which it decides, the same
// callers would be admitted without it, the same built-in rule would match, and the same
// parameters would be protected. A rule with conditions is never useless.
func (g *regions) useless(i int) (u use, err error) {
	routes := g.access.Rules[i].Target().Routes()
	dead := func(s *keyset.State) bool { return g.leaves(i, s.Settled(), map[int]bool{}) == 0 }
	u.useless = true
	for j := range routes {
		err := g.Walk(keyset.KeysOf(routes[j]), dead, func(p *keyset.Place) bool {
			rules, key := g.matching(review.MatchedOf(p.State.Matches())), p.Key()
			for m, method := range policy.MethodsApart {
				if first, next := g.deciding(rules, m); first == i && u.useless {
					u.useless = g.same(review.CallOf(method, key), i, next)
					u.replaced(next)
				}
			}
			return u.useless
		})
		if err != nil {
			return u, err
		}
	}
	return u, nil
}

// replaced notes the rule that would decide on some calls, or the default where it is -1.
func (u *use) replaced(next int) {
	switch {
	case next < 0:
		u.otherwise = true
	case !slices.Contains(u.behind, next):
		u.behind = append(u.behind, next)
	}
}

// deciding returns the first two of rules that have a method, or -1.
func (g *regions) deciding(rules []int, method int) (first, next int) {
	first, next = -1, -1
	for _, rule := range rules {
		switch {
		case !g.methods[rule].Has(method):
		case first >= 0:
			return first, rule
		default:
			first = rule
		}
	}
	return first, next
}

// same tells whether a call, on which rule i decides, would be decided in the same way by the
// rule next, or by the default where next is -1.
func (g *regions) same(c *call.Call, i, next int) bool {
	own, _ := g.access.Rules[i].Match(c)
	var other policy.Match
	if next >= 0 {
		other, _ = g.access.Rules[next].Match(c)
	}
	if g.access.Rules[i].Conditions != nil || next >= 0 && g.access.Rules[next].Conditions != nil {
		return false
	}
	guard, own := g.access.decideWith(&policy.Request{Call: c}, own)
	otherGuard, other := g.access.decideWith(&policy.Request{Call: c}, other)
	return guard.Rule == otherGuard.Rule && slices.Equal(parameters(own.Route), parameters(other.Route)) &&
		slices.Equal(callers(guard.Rule, own.Rule), callers(otherGuard.Rule, other.Rule))
}

// parameters returns the named segments of a pattern with their places.
func parameters(p *routes.Pattern) (names []string) {
	if p == nil {
		return nil
	}
	segments, _ := p.Segments()
	for i, s := range segments {
		if s[0] == ':' {
			names = append(names, fmt.Sprint(i, s))
		}
	}
	return names
}

// callers describes whom all of the rules admit: equal ones admit the same callers. A nil rule
// admits anyone.
func callers(rules ...*policy.Rule) (all []string) {
	narrow := false // to some users
	for _, r := range rules {
		if r == nil || r.Who() == policy.Anyone {
			continue
		}
		names := slices.Clone(r.Names())
		slices.Sort(names)
		all = append(all, fmt.Sprint(r.Who(), strings.Join(slices.Compact(names), ",")))
		narrow = narrow || r.Who() == policy.ByRole || r.Who() == policy.ByCapability || r.Who() == policy.ByScope
		if r.Deny {
			return []string{"nobody"}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(one string) bool { return narrow && one == fmt.Sprint(policy.Users, "") })
}

// odd is W05 for rule r.
func (u *use) odd(g *regions, r *policy.Rule) review.Odd {
	var others []string
	if slices.Sort(u.behind); len(u.behind) > 0 {
		others = append(others, g.list(u.behind, "behind it", "behind it"))
	}
	if u.otherwise && g.access.LoginOnly {
		others = append(others, "login_only")
	}
	o := review.Odd{Code: "W05", At: r.At, Do: "remove it"}
	switch {
	case !u.otherwise || g.access.LoginOnly:
		o.Text = fmt.Sprintf("%s changes nothing, since without it the same callers would pass by %s", r, strings.Join(others, " and "))
	case r.Who() == policy.Anyone:
		o.Text = fmt.Sprintf("%s changes nothing but what a lockdown leaves open, since without login_only anyone may make these calls anyway", r)
		o.Do = "set login_only, or remove the rule"
	default:
		o.Text = fmt.Sprintf("%s changes nothing, since the built-in rule of the route asks for the same callers", r)
	}
	return o
}
