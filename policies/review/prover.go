package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
)

// prover decides one claim, region by region: within one, the same patterns of each policy match.
type prover struct {
	*keyset.Automaton
	claim    *Claim
	site     *policy.Site
	methods  []string // of the claim, apart
	deciders *Deciders
	holder   Holder // of the claim
	found    map[*keyset.State][]breach
	named    map[Counterexample]bool // by rule alone
	proof    Proof
}

// breach is a method whose calls break the claim in one region, and the rule that decides on
// them.
type breach struct {
	method string
	rule   *policy.Rule
}

func newProver(c *policy.Chain, q *Claim, target *policy.Target) *prover {
	p := &prover{claim: q, site: c.Site(), holder: Holder{Caller: q.Caller, Credential: q.carried()}, found: map[*keyset.State][]breach{}, named: map[Counterexample]bool{}}
	word := ""
	if q.Caller.Kind == caller.KeyHolder {
		word = p.site.Platform.ShopWord()
	}
	p.Automaton = keyset.New(word)
	p.deciders, _ = NewDeciders(c, q.InForce, p.Automaton, 0, target.Routes())
	for _, route := range target.Routes() {
		p.Mark(route)
	}
	set := target.MethodSet()
	for i, m := range policy.MethodsApart {
		if set.Has(i) {
			p.methods = append(p.methods, m)
		}
	}
	return p
}

// limits says what lets calls pass that the rules refuse.
func (p *prover) limits(c *policy.Chain) {
	if !p.claim.Never {
		return
	}
	reads := p.claim.InForce.Enforces()
	for _, m := range c.Policies() {
		if m.Observes(p.claim.InForce) {
			continue
		}
		if guard, ok := m.Policy.(ReadingGuard); ok {
			reads = reads || guard.GuardsReading()
		}
		if _, decides := m.Policy.(Decider); decides && m.Settings.OnError == policy.PassOnError {
			p.unproved("%s has on_error pass: a call passes if the platform cannot be asked.", m.Name)
		}
	}
	if !reads {
		p.unproved("The policy call does not enforce: a request that has no certain reading passes, and it may be such a call.")
	}
}

func (p *prover) unproved(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.proof.Unproved, text) {
		p.proof.Unproved = append(p.proof.Unproved, text)
	}
}

// decideAll decides the claim for its routes: those of a site, or all of its patterns.
func (p *prover) decideAll(target *policy.Target) error {
	if p.claim.Index != nil {
		return p.routesOf(p.claim.Index)
	}
	for _, route := range target.Routes() {
		if err := p.walk(keyset.KeysOf(route), ""); err != nil || p.full() {
			return err
		}
	}
	return nil
}

// otherDots says which routes of a claim the platform runs for others too, which may pass: it takes
// a dot for any byte, and only what a line names is refused with another one in its place.
func (p *prover) otherDots(c *policy.Chain, target *policy.Target) error {
	for _, route := range target.Routes() {
		routes := wider(p.site.Dots(), route)
		if len(routes) == 0 {
			continue
		}
		wide, err := policy.NewTarget(p.claim.Methods, routes)
		if err != nil {
			return err
		}
		also := newProver(c, p.claim, &wide)
		if err := also.decideAll(&wide); err != nil {
			return err
		}
		if len(also.proof.Counter)+len(also.proof.Unproved) > 0 {
			p.unproved("No line names %s, and the platform takes its dot for any character: a call with another one there may pass. Name the route in a rule.", route)
		}
	}
	return nil
}

// routesOf decides the claim for the routes of a site.
func (p *prover) routesOf(x *index.Index) error {
	for _, route := range x.Routes() {
		var err error
		if prefix, opaque := route.Opaque(); opaque {
			err = p.opaque(prefix)
		} else {
			err = p.walk(plain(p.site.Dots(), route), route.Name())
		}
		if err != nil || p.full() {
			return err
		}
	}
	return nil
}

// walk decides the claim for a space. pattern is what the site calls it.
func (p *prover) walk(space keyset.Space, pattern string) error {
	skip := func(s *keyset.State) bool { return !s.Marked() }
	return p.Walk(space, skip, func(place *keyset.Place) bool {
		if !place.State.Within() {
			return true
		}
		found, known := p.found[place.State]
		if !known {
			found = p.judge(place)
			p.found[place.State] = found
		}
		for _, b := range found {
			p.counter(b, place.Route(), pattern)
		}
		return !p.full()
	})
}

func (p *prover) full() bool { return len(p.proof.Counter) >= maxCounter }

// counter keeps a call that breaks the claim, if none is known by the same rule.
func (p *prover) counter(b breach, route, pattern string) {
	var by Counterexample
	if b.rule != nil {
		by.Rule, by.At = b.rule.String(), b.rule.At
	}
	if p.named[by] || p.full() {
		return
	}
	p.named[by] = true
	by.Method, by.Route, by.Pattern = b.method, route, pattern
	p.proof.Counter = append(p.proof.Counter, by)
}

// judge asks the rules about one call for each method of the claim, at a place that stands
// for its region.
func (p *prover) judge(place *keyset.Place) (found []breach) {
	for _, method := range p.methods {
		f := p.deciders.Fate(&p.holder, CallOf(method, place.Key()), place.State.Matches())
		switch {
		case f.ByMessage:
			p.unproved("%s", f.Why)
		case f.SurePasses && p.claim.Never:
			found = append(found, breach{method, f.PassedBy})
		case f.SureRefused && !p.claim.Never:
			found = append(found, breach{method, f.RefusedBy})
		case f.Passes && f.Refused:
			p.unproved("%s", f.Why)
		}
	}
	return found
}

// opaque says that nothing is known of the routes that begin with a text, if they may be in
// the claim.
func (p *prover) opaque(prefix string) error {
	may, err := mayBegin(p.Automaton, prefix)
	if err != nil || !may {
		return err
	}
	if prefix == "" {
		p.unproved("The index of the site has routes that cannot be reasoned about.")
	} else {
		p.unproved("The index of the site has a route that cannot be reasoned about; it begins with %s.", prefix)
	}
	return nil
}

// mayBegin tells whether a marked pattern may match a route that begins with a text.
func mayBegin(a *keyset.Automaton, prefix string) (bool, error) {
	segments := strings.Split(strings.TrimPrefix(prefix, "/"), "/")
	last := len(segments) - 1 // the text may end inside of it
	state, err := a.Start()
	for i := 0; i < last && err == nil && state.Marked(); i++ {
		steps := state.Alphabet().Exactly(segments[i], 0)
		if len(steps) == 0 { // below the old address of the checkout API
			segments[last], i = "", last
			continue
		}
		state, err = state.Behind(steps[0])
	}
	return err == nil && state.Marked(), err
}
