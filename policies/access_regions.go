package policies

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/cover"
)

// methodsApart are the methods that targets tell apart. The last one stands for every method
// that no target names.
var methodsApart = append(slices.Clip(knownMethods), "PROPFIND")

// methodSet is a set of methodsApart.
type methodSet uint16

func (t *Target) methodSet() (set methodSet) {
	for i, m := range methodsApart {
		if t.method(m) {
			set |= 1 << i
		}
	}
	return set
}

func (s methodSet) has(i int) bool { return s&(1<<i) != 0 }

// regions divides all keys into regions: within one, the same rules of access match, and the
// same guards, whatever the key.
type regions struct {
	*cover.Automaton
	access  *Access
	rules   []int       // the number of the rule of each pattern
	methods []methodSet // of each rule
}

// divide returns the regions of the rules of p. word is as in cover.New.
func divide(p *Access, word string) *regions {
	g := &regions{Automaton: cover.New(word), access: p}
	for i := range p.Rules {
		target := &p.Rules[i].target
		for _, route := range target.routes {
			g.Add(route, len(g.rules))
			g.rules = append(g.rules, i)
		}
		g.methods = append(g.methods, target.methodSet())
	}
	number := len(g.rules)
	for i := range p.guards {
		for _, route := range slices.Concat(p.guards[i].target.routes, p.guards[i].except) {
			g.Add(route, number)
			number++
		}
	}
	return g
}

// matching returns the numbers of the rules of patterns, each once, in order.
func (g *regions) matching(patterns []int) (rules []int) {
	for _, pattern := range patterns {
		if pattern >= len(g.rules) {
			break
		}
		if rule := g.rules[pattern]; len(rules) == 0 || rules[len(rules)-1] != rule {
			rules = append(rules, rule)
		}
	}
	return rules
}

// decide returns what Access.decide does for a call of a region that these rules match, with
// the number of the own rule, or -1.
func (g *regions) decide(c *call.Call, rules []int) (guard, own Match, number int) {
	number = -1
	for _, i := range rules {
		if match, ok := g.access.Rules[i].match(c); ok {
			own, number = match, i
			break
		}
	}
	guard, own = g.access.decideWith(&Request{Call: c}, own)
	return guard, own, number
}

// callOf is a call with this key.
func callOf(method, key string) *call.Call {
	return &call.Call{Kind: call.Single, Method: method, Route: key, Key: key}
}
