package review

import (
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
)

// Holder is somebody who makes calls, with what the calls carry.
type Holder struct {
	// Caller is whom the platform takes the holder for. A KeyHolder is one on the shop's routes alone.
	Caller caller.Caller
	// Credential is what each call carries, whether or not the platform takes it there. One without a name is none that a
	// scope names.
	Credential caller.Credential
	// Signature is the name of the signature that each call carries and that is valid; "" for none.
	Signature string
}

// Deciders are the policies of a chain that decide on regions of calls, in the order of the chain and as the configured
// modes enforce them.
type Deciders struct {
	// Told are the regions that the policies tell apart. A call's fate depends on which of them have its key, and for a
	// KeyHolder on whether the key is the shop's.
	Told []Region

	site    *policy.Site
	inForce policy.InForce
	all     []decider
}

// decider is a policy of which a proof speaks.
type decider struct {
	patterns *Patterns
	decide   Decide
}

// NewDeciders returns the Deciders of a chain over an automaton, to which it adds what they tell apart, under the numbers from
// first to the one before next. Of what is in force the mode and the lines count. For claimed see [Decider].
func NewDeciders(c *policy.Chain, f policy.InForce, a *keyset.Automaton, first int, claimed []routes.Pattern) (d *Deciders, next int) {
	d = &Deciders{site: c.Site(), inForce: f}
	switched := &Patterns{all: a, from: first, to: first, told: &d.Told}
	for _, route := range f.Routes() {
		switched.Add(route, 0)
	}
	first = switched.to
	(&Patterns{all: a, told: &d.Told}).Apart("/" + d.site.Platform.MCP)
	for _, m := range c.Policies() {
		p, decides := m.Policy.(Decider)
		if !decides || m.Observes(f) {
			continue
		}
		patterns := &Patterns{all: a, from: first, to: first, told: &d.Told}
		d.all = append(d.all, decider{patterns, p.Decider(patterns, claimed)})
		first = patterns.to
	}
	return d, first
}

// Fate returns what becomes of a holder's calls of a region: c stands for them, and matched are the numbers that match.
func (d *Deciders) Fate(h *Holder, c *call.Call, matched []int) Fate {
	who := d.callerOf(h, c)
	if !who.NoRoles && !who.NoCapabilities {
		return d.fateOf(who, h, c, matched)
	}
	most := who
	most.EveryRight = true
	return between(d.fateOf(who, h, c, matched), d.fateOf(most, h, c, matched))
}

// fateOf is Fate for one whom the platform takes for a caller.
func (d *Deciders) fateOf(who caller.Caller, h *Holder, c *call.Call, matched []int) Fate {
	f, q := Passes(nil), Asked{Call: c, Holder: Holder{who, h.Credential, h.Signature}, InForce: d.inForce}
	if line, closed := d.inForce.Closed(c); closed && !who.Accepted() {
		return Refuses(line.Rule)
	}
	if d.site.Scopes != nil && who.Accepted() {
		q.Caller.Scopes = d.site.Scopes.Granted(q.Credential)
	}
	for i := 0; i < len(d.all) && f.Passes; i++ {
		p := &d.all[i]
		q.Matched, q.Rule = p.patterns.of(matched), f.Rule
		f = f.Then(p.decide(&q))
	}
	return f
}

// callerOf returns whom the platform takes a holder for on a route.
func (d *Deciders) callerOf(h *Holder, c *call.Call) caller.Caller {
	if h.Caller.Kind == caller.KeyHolder && !d.site.InShop(c.Key) {
		return caller.Caller{}
	}
	return h.Caller
}
