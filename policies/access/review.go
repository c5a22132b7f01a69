package access

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Odd implements [review.Reviewer]: W04, W05 and W15 to W17.
func (p *Access) Odd(about *review.About) []review.Odd {
	odd := append(p.oddRules(), p.oddPlugins(about.Site, about.Platform)...)
	if about.Site != nil {
		odd = append(odd, p.absentPlugins(about.Site, about.Platform)...)
	}
	return odd
}

// Narrow implements [review.RouteReviewer]: rules that take away or name callers, and whose :name or *
// stands for one segment where the site's own route takes a slash.
func (p *Access) Narrow(x *index.Index) (odd []review.Odd) {
	routes := x.Routes()
	for i := range p.Rules {
		if r := &p.Rules[i]; r.Origin() == policy.OriginOwn && r.Allow != "anyone" {
			odd = append(odd, p.narrow(r, x, routes)...)
		}
	}
	return odd
}

// ruleNumbers are the rules of p with the numbers of their patterns: within a region that patterns
// tell apart the same rules match, and the same guards, whatever the key.
type ruleNumbers struct {
	access  *Access
	rules   []int              // the number of the rule of each pattern
	methods []policy.MethodSet // of each rule
}

// number hands out the patterns of the rules, and behind them those of the guards, to add.
func (p *Access) number(add func(route routes.Pattern, number int)) ruleNumbers {
	g := ruleNumbers{access: p}
	for i := range p.Rules {
		target := p.Rules[i].Target()
		for _, route := range target.Routes() {
			add(route, len(g.rules))
			g.rules = append(g.rules, i)
		}
		g.methods = append(g.methods, target.MethodSet())
	}
	number := len(g.rules)
	for i := range p.guards {
		for _, route := range slices.Concat(p.guards[i].Target().Routes(), p.guards[i].except) {
			add(route, number)
			number++
		}
	}
	return g
}

// matching returns the numbers of the rules of patterns, each once, in order.
func (g *ruleNumbers) matching(patterns review.Matched) (rules []int) {
	for pattern := range patterns.All() {
		if pattern >= len(g.rules) {
			break
		}
		if rule := g.rules[pattern]; len(rules) == 0 || rules[len(rules)-1] != rule {
			rules = append(rules, rule)
		}
	}
	return rules
}

// Decider implements [review.Decider]. Whom a rule asks for a signature is left to the policy signature.
func (p *Access) Decider(at *review.Patterns, _ []routes.Pattern) review.Decide {
	g := p.number(at.Add)
	return func(q *review.Asked) review.Fate {
		guard, own := g.decide(&policy.Request{Call: q.Call, InForce: q.InForce}, q.Matched)
		for _, m := range [...]policy.Match{guard, own} {
			if m.Rule != nil && m.Rule.Who() != policy.Anyone && m.Rule.Who() != policy.BySignature && !m.Rule.Admits(q.Caller) {
				return review.Refuses(m.Rule)
			}
		}
		last := own // as Check leaves it in Request.Matched
		if own.Rule == nil {
			last = guard
		}
		f := review.Passes(last.Rule)
		f.Depends = guard.Depends() + own.Depends()
		if f.Rule = last; last.Rule == &defaultAnyone {
			f.PassedBy = nil
		}
		if last.Rule.Conditions != nil {
			f.Refused, f.RefusedBy, f.SurePasses = true, last.Rule, false
			f.Why = fmt.Sprintf("%s%s has conditions: a call passes where they hold, and is refused where they do not.", last.Rule, policy.Prefixed(" at ", last.Rule.At))
		}
		return f
	}
}

// decide is Access.decide for a call of a region.
func (g *ruleNumbers) decide(r *policy.Request, patterns review.Matched) (guard, own policy.Match) {
	for _, i := range g.matching(patterns) {
		if match, ok := g.access.Rules[i].Match(r.Call); ok {
			own = match
			break
		}
	}
	return g.access.decideWith(r, own)
}
