package abilities

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// runnable is the policy abilities, as a proof asks it.
type runnable struct {
	*Abilities
	// exact are the ids whose runs have a key of their own: that of the key, in lower case as
	// the platform's ids are, and what rules name without wildcard.
	exact map[string][]string
	text  string // what the rules say
}

// The numbers of patterns that tell routes of abilities apart.
const (
	runsAbility = iota
	describesAbility
	entersDoor
	entersInner // the first of message.InnerREST
)

// Decider implements [review.Decider].
func (p *Abilities) Decider(at *review.Patterns, claimed []routes.Pattern) review.Decide {
	a := &runnable{p, map[string][]string{}, policy.Meaning([]any{p.Rules, p.Doors, p.Confirm})}
	a.divide(at, claimed)
	return a.fate
}

// divide tells apart the routes that run an ability, each ability that a rule or a literal
// route of the claim names, and the servers of tools that patterns can tell.
func (a *runnable) divide(g *review.Patterns, claimed []routes.Pattern) {
	g.AddBelow(a.namespace, "run", runsAbility)
	for i := range a.Rules {
		if r := &a.Rules[i]; r.judgesIDs() && !strings.Contains(r.Pattern, "*") {
			a.apart(g, a.namespace+"/"+strings.ToLower(r.Pattern)+"/run", r.Pattern)
		}
	}
	for i := range claimed {
		segments, _ := claimed[i].Segments()
		if key := "/" + strings.Join(segments, "/"); claimed[i].Literal() && a.idOf(key) != "" {
			a.apart(g, key, a.idOf(key))
		}
	}
	if !a.guards() {
		return
	}
	g.Add(routes.MustPattern(a.namespace+"/*/**"), describesAbility)
	for _, door := range a.doors {
		g.Add(door, entersDoor)
	}
	for i, root := range message.InnerREST {
		g.Add(routes.MustPattern(root), entersInner+i)
		g.Add(routes.MustPattern(root+"/**"), entersInner+i)
	}
}

func (a *runnable) apart(g *review.Patterns, key string, ids ...string) {
	if _, known := a.exact[key]; !known {
		g.Apart(key)
		a.exact[key] = []string{a.idOf(key)}
	}
	a.exact[key] = append(a.exact[key], ids...)
}

// idOf returns the id that a key runs, or "".
func (a *runnable) idOf(key string) string {
	id, ok := idIn(key, a.namespace, runSuffix)
	if !ok {
		return ""
	}
	return id
}

// judgesIDs tells whether the rule may fit a run over REST.
func (r *Rule) judgesIDs() bool { return r.Kind == KindAbility || r.Kind == KindReadonly }

// fate decides on a region as Check does on a request. The input of what runs is judged beside the rules.
func (a *runnable) fate(q *review.Asked) review.Fate {
	f := a.fateOf(q)
	switch {
	case f.Passes && f.Refused:
		f.Depends = a.text
	case f.Passes && q.Matched.Has(runsAbility):
		f.Depends = "input"
	}
	return f
}

func (a *runnable) fateOf(q *review.Asked) review.Fate {
	switch {
	case q.Call.Method == http.MethodOptions:
	case q.Matched.Has(runsAbility):
		return a.runs(q)
	case q.Matched.Has(describesAbility):
		f := review.Passes(nil)
		f.Add(false, byAbility)
		f.Why = "The rules of abilities decide which abilities may be read at " + a.namespace + "/…, as they do for runs."
		return f
	case a.guards():
		return a.enters(q)
	}
	return review.Passes(nil)
}

var (
	innerClosed = policy.RuleNamed(ruleInner, "")
	byAbility   = policy.RuleNamed("abilities: by ability", "")
	byMessage   = policy.RuleNamed("abilities: by message", "")
)

// enters returns the fate of calls that may go to a server of tools. Without a message only those
// pass that need none.
func (a *runnable) enters(q *review.Asked) review.Fate {
	f, c := review.Passes(nil), q.Call
	switch {
	case !a.knowsDoor(c.Key):
	case !a.isOpen(c.Key, q.Rule):
		return review.Refuses(innerClosed)
	case c.Method == http.MethodPost:
		f.Add(false, byMessage)
		f.ByMessage = true
		f.Why = "What passes at " + c.Key + ", a server of tools, depends on the message: the rules of abilities judge it."
	}
	return f
}

// runs returns the fate of runs of abilities over REST.
func (a *runnable) runs(q *review.Asked) (f review.Fate) {
	add := func(id string, about *ability) {
		s := &Subject{ID: id, about: about}
		passes, rule := a.run(s, q.Caller)
		f.Add(passes, rule)
		if c := a.confirms(s); passes && c != nil {
			f.Add(false, policy.RuleNamed(c.String(), c.At))
		}
	}
	own := a.idOf(q.Call.Key)
	ids, exact := a.exact[q.Call.Key]
	f.SurePasses, _ = a.run(&Subject{ID: own}, q.Caller)
	f.SureRefused = !f.SurePasses
	for _, about := range abilitiesFor(q.Call.Method, q.Caller) {
		for _, id := range ids {
			add(id, about)
		}
		if !exact {
			add(own, about)
			a.others(&f, about, q.Caller)
		}
		if about == nil {
			f.Why = "Only the platform knows which abilities are readonly or destructive, on which the rules of abilities depend at " + a.namespace + "/…/run."
			if f.Passes && f.Refused {
				f.Why = "The rules of abilities tell ids apart at " + a.namespace + "/…/run, which the claim does not."
			}
		}
	}
	f.SurePasses = f.SurePasses || exact && f.Passes && slices.ContainsFunc(ids, func(id string) bool { // in other letters
		passes, _ := a.run(&Subject{ID: id}, q.Caller)
		return passes
	})
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

// run tells whether a caller may run s, and which rule refuses it.
func (a *runnable) run(s *Subject, who caller.Caller) (passes bool, by *policy.Rule) {
	nobody := who.Kind == caller.Anonymous
	rule, allowed := a.allows(s, nobody, nil)
	if nobody && a.confirms(s) != nil {
		allowed = false
	}
	return rule.verdict(allowed, who)
}

// verdict tells whether a caller passes whom a rule allows or not, and names the rule that refuses.
func (r Rule) verdict(allowed bool, who caller.Caller) (passes bool, by *policy.Rule) {
	if allowed && r.admits(who) {
		return true, nil
	}
	return false, policy.RuleNamed(r.line())
}

// others adds what may become of runs of ids that no rule names. A pattern with a wildcard
// may fit them.
func (a *runnable) others(f *review.Fate, about *ability, who caller.Caller) {
	for i := range a.Confirm {
		if c := &a.Confirm[i]; !c.exact() && !about.harmless() {
			f.Add(false, policy.RuleNamed(c.String(), c.At))
		}
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		if !r.judgesIDs() || !strings.Contains(r.Pattern, "*") || r.Kind == KindReadonly && (about == nil || !about.Meta.Annotations.Readonly) {
			continue
		}
		f.Add(r.verdict(!r.Deny && !about.destructive() && who.Kind != caller.Anonymous, who))
		if strings.Trim(r.Pattern, "*") == "" {
			return
		}
	}
	f.Add(Rule{}.verdict(a.open && !about.destructive() && who.Kind != caller.Anonymous, who))
}
