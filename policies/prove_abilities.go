package policies

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// runnable is the policy abilities, as a proof asks it.
type runnable struct {
	*Abilities
	number int                 // of the pattern of the routes that run an ability
	named  map[string][]string // ids that rules name without wildcard, by the key of their route
}

// divide tells apart the routes that run an ability, and each ability that a rule names
// without wildcard.
func (a *runnable) divide(g *regions) {
	a.number, a.named = 1<<30, map[string][]string{}
	g.AddBelow(a.namespace, "run", a.number)
	for _, r := range a.Rules {
		if !strings.Contains(r.Pattern, "*") {
			key := a.namespace + "/" + strings.ToLower(r.Pattern) + "/run"
			a.named[key] = append(a.named[key], r.Pattern)
			g.Apart(key)
		}
	}
}

// covers tells whether a region with these patterns runs an ability.
func (a *runnable) covers(patterns []int) bool { return slices.Contains(patterns, a.number) }

// all tells whether the rules say the same of every ability, and what: no rule, or one that
// fits everything.
func (a *runnable) all() (allowed, same bool) {
	if len(a.Rules) == 0 {
		return true, true
	}
	return !a.Rules[0].Deny, a.Rules[0].Pattern == "*"
}

// runs tells whether the policy abilities lets a call pass that access lets pass. by is the
// rule of access.
func (p *prover) runs(c *call.Call, by *Rule) (passes bool, _ *Rule) {
	if c.Method == http.MethodOptions {
		return true, by
	}
	a := p.abilities
	named := a.named[c.Key]
	refused := &Rule{text: "abilities: not allowed by any rule"}
	if p.callerOf(c).Kind == caller.Anonymous {
		for _, id := range named {
			if rule, allowed := a.decide(&subject{id: id}, nil); allowed && rule.Pattern == id {
				return true, by
			}
		}
		return false, refused
	}
	id := strings.TrimSuffix(strings.TrimPrefix(c.Key, a.namespace+"/"), "/run")
	rule, allowed := a.decide(&subject{id: id}, nil)
	for _, other := range named {
		if r, also := a.decide(&subject{id: other}, nil); also == p.claim.Never {
			rule, allowed = r, also
		}
	}
	if _, same := a.all(); !same && allowed != p.claim.Never {
		p.unproved("The rules of abilities tell ids apart at %s, which the claim does not.", a.namespace+"/…/run")
	}
	if !allowed {
		if rule.Pattern != "" {
			refused = &Rule{text: rule.String(), At: rule.At}
		}
		return false, refused
	}
	return true, by
}
