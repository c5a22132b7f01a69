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
	// exact are the ids whose runs have a key of their own: that of the key, in lower case as
	// the platform's ids are, and what rules name without wildcard.
	exact map[string][]string
}

// The numbers of patterns that tell routes of abilities apart, behind those of all rules.
const (
	runsAbility = 1<<30 + iota
	describesAbility
	entersDoor
	entersInner // the first of innerREST
)

// fate is what becomes of the calls of a region with one method.
type fate struct {
	passes, refused     bool  // some call may
	passedBy, refusedBy *Rule // the first such rule; nil if none
	// sure is what becomes of the call with the region's own key, to an ability that the
	// platform does not list: true passes.
	sure bool
	// message tells that each call may fare in both ways, by its body.
	message bool
	why     string // one sentence on what decides, if calls may fare in both ways
}

func (f *fate) add(passes bool, by *Rule) {
	switch {
	case passes && !f.passes:
		f.passes, f.passedBy = true, by
	case !passes && !f.refused:
		f.refused, f.refusedBy = true, by
	}
}

func fateOf(passes bool, by *Rule) fate {
	f := fate{sure: passes}
	f.add(passes, by)
	return f
}

// divide tells apart the routes that run an ability, each ability that a rule or a literal
// route of the claim names, and the servers of tools that patterns can tell.
func (a *runnable) divide(g *regions, target *Target) {
	a.exact = map[string][]string{}
	g.AddBelow(a.namespace, "run", runsAbility)
	for i := range a.Rules {
		if r := &a.Rules[i]; r.judgesIDs() && !strings.Contains(r.Pattern, "*") {
			a.apart(g, a.namespace+"/"+strings.ToLower(r.Pattern)+"/run", r.Pattern)
		}
	}
	for i := range target.routes {
		segments, _ := target.routes[i].Segments()
		if key := "/" + strings.Join(segments, "/"); target.routes[i].Literal() && a.idOf(key) != "" {
			a.apart(g, key, a.idOf(key))
		}
	}
	if !a.guards() {
		return
	}
	g.Add(call.MustPattern(a.namespace+"/*/**"), describesAbility)
	for _, door := range a.doors {
		g.Add(door, entersDoor)
	}
	for i, root := range innerREST {
		g.Add(call.MustPattern(root), entersInner+i)
		g.Add(call.MustPattern(root+"/**"), entersInner+i)
	}
}

func (a *runnable) apart(g *regions, key string, ids ...string) {
	if _, known := a.exact[key]; !known {
		g.Apart(key)
		a.exact[key] = []string{a.idOf(key)}
	}
	a.exact[key] = append(a.exact[key], ids...)
}

// idOf returns the id that a key runs, or "".
func (a *runnable) idOf(key string) string {
	rest, ok := strings.CutPrefix(key, a.namespace+"/")
	id, runs := strings.CutSuffix(rest, "/run")
	if !ok || !runs {
		return ""
	}
	return id
}

// judgesIDs tells whether the rule may fit a run over REST.
func (r *AbilityRule) judgesIDs() bool { return r.Kind == KindAbility || r.Kind == KindReadonly }

// fate returns what becomes of the calls of a region that these patterns match.
func (p *prover) fate(c *call.Call, patterns []int) fate {
	passes, by, own := p.admits(c, p.matching(patterns))
	f := fateOf(passes, by)
	a := p.abilities
	switch {
	case !passes, a == nil, c.Method == http.MethodOptions:
	case slices.Contains(patterns, runsAbility):
		f = p.runs(c, by)
	case slices.Contains(patterns, describesAbility):
		f.add(false, byAbility)
		f.why = "The rules of abilities decide which abilities may be read at " + a.namespace + "/…, as they do for runs."
	case a.guards():
		p.enters(&f, c, own)
	}
	return f
}

var (
	innerClosed = &Rule{text: ruleInner}
	noneAllows  = &Rule{text: ruleNone}
	byAbility   = &Rule{text: "abilities: by ability"}
	byMessage   = &Rule{text: "abilities: by message"}
)

// enters changes the fate of calls to a server of tools. Without a message only those pass
// that need none.
func (p *prover) enters(f *fate, c *call.Call, own Match) {
	switch {
	case !p.abilities.knowsDoor(c.Key):
	case !p.abilities.isOpen(c.Key, own):
		*f = fateOf(false, innerClosed)
	case c.Method == http.MethodPost:
		f.add(false, byMessage)
		f.message = true
		f.why = "What passes at " + c.Key + ", a server of tools, depends on the message: the rules of abilities judge it."
	}
}

// runs returns the fate of runs of abilities over REST.
func (p *prover) runs(c *call.Call, by *Rule) (f fate) {
	a, who := p.abilities, p.callerOf(c)
	add := func(id string, about *ability) {
		s := &subject{id: id, about: about}
		passes, rule := a.run(s, who, by)
		f.add(passes, rule)
		if c := a.confirms(s); passes && c != nil {
			f.add(false, &Rule{text: c.String(), At: c.At})
		}
	}
	ids, exact := a.exact[c.Key]
	f.sure, _ = a.run(&subject{id: a.idOf(c.Key)}, who, by)
	for _, about := range abilitiesFor(c.Method, who) {
		for _, id := range ids {
			add(id, about)
		}
		if !exact {
			add(a.idOf(c.Key), about)
			a.others(&f, about, who, by)
		}
		if about == nil {
			f.why = "Only the platform knows which abilities are readonly or destructive, on which the rules of abilities depend at " + a.namespace + "/…/run."
			if f.passes && f.refused {
				f.why = "The rules of abilities tell ids apart at " + a.namespace + "/…/run, which the claim does not."
			}
		}
	}
	if exact && p.claim.Never && f.passes && !f.sure { // by an id in other letters, which a rule names
		f.sure = slices.ContainsFunc(ids, func(id string) bool {
			passes, _ := a.run(&subject{id: id}, who, by)
			return passes
		})
	}
	return f
}

// abilitiesFor returns what the platform may say of an ability that is run with a method: nil
// for one that it does not list. It says nothing to anonymous callers.
func abilitiesFor(method string, who caller.Caller) []*ability {
	abouts := []*ability{nil}
	if who.Kind == caller.Anonymous {
		return abouts
	}
	for bits := range 8 {
		about := new(ability)
		note := &about.Meta.Annotations
		destructive := bits&2 > 0
		note.Readonly, note.Destructive, note.Idempotent = bits&1 > 0, &destructive, bits&4 > 0
		if about.runsWith(method) {
			abouts = append(abouts, about)
		}
	}
	return abouts
}

// run tells whether a caller may run s, as judge decides it, and which rule says so.
func (a *runnable) run(s *subject, who caller.Caller, by *Rule) (passes bool, _ *Rule) {
	rule, allowed := a.decide(s, nil)
	if who.Kind == caller.Anonymous {
		allowed = allowed && rule.names(s) && rule.forAnyone() && a.confirms(s) == nil
	}
	return rule.verdict(allowed && (!s.about.destructive() || a.names(rule, s)), who, by)
}

// verdict tells whether a caller passes whom a rule allows or not.
func (r AbilityRule) verdict(allowed bool, who caller.Caller, by *Rule) (passes bool, _ *Rule) {
	switch {
	case allowed && (r.Allow == "" || r.by.who == whoAnyone || r.by.admits(who)):
		return true, by
	case r.Pattern == "":
		return false, noneAllows
	}
	return false, &Rule{text: r.String(), At: r.At}
}

// others adds what may become of runs of ids that no rule names. A pattern with a wildcard
// may fit them.
func (a *runnable) others(f *fate, about *ability, who caller.Caller, by *Rule) {
	for i := range a.Confirm {
		if c := &a.Confirm[i]; !c.exact() && !about.harmless() {
			f.add(false, &Rule{text: c.String(), At: c.At})
		}
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		if !r.judgesIDs() || !strings.Contains(r.Pattern, "*") || r.Kind == KindReadonly && (about == nil || !about.Meta.Annotations.Readonly) {
			continue
		}
		f.add(r.verdict(!r.Deny && !about.destructive() && who.Kind != caller.Anonymous, who, by))
		if strings.Trim(r.Pattern, "*") == "" {
			return
		}
	}
	f.add(AbilityRule{}.verdict(a.open && !about.destructive() && who.Kind != caller.Anonymous, who, by))
}
