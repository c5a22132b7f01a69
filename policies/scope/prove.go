package scope

import (
	"fmt"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Decider implements [review.Decider] for a caller whom no scope names: a shop key, or somebody who logs in by a cookie.
// It is bound by the scopes of "*".
func (p *Scopes) Decider(at *review.Patterns, _ []routes.Pattern) review.Decide {
	lines := map[*Scope]int{} // the number of its first line
	number := 0
	for _, s := range p.Scopes {
		lines[s] = number
		for i := range s.Allow {
			for _, route := range s.Allow[i].rule.Target().Routes() {
				at.Add(route, number)
			}
			number++
		}
	}
	return func(q *review.Asked) review.Fate {
		f := review.Passes(nil)
		for _, s := range p.others(q.Caller) {
			f = f.Then(s.fate(q, lines[s]))
		}
		return f
	}
}

// others returns the scopes that bind a caller whom none names.
func (p *Scopes) others(c caller.Caller) []*Scope {
	switch c.Kind {
	case caller.KeyHolder:
		return p.keys.others
	case caller.User:
		return p.users.others
	default:
		return nil
	}
}

// fate is judge for a region of calls. The lines of the scope have numbers from first on.
func (s *Scope) fate(q *review.Asked, first int) review.Fate {
	if s.observes() {
		return review.Passes(nil)
	}
	for i := range s.Allow {
		a := &s.Allow[i]
		if !q.Matched.Has(first+i) || !a.rule.Target().HasMethod(q.Call.Method) {
			continue
		}
		f := review.Passes(nil)
		if a.Conditions != nil || s.From != nil || s.Between != "" || s.Until != "" {
			f.Refused, f.RefusedBy, f.SurePasses = true, s.name, false
			f.Why = fmt.Sprintf("%s%s has conditions or a last day: a call passes where they hold, and is refused where they do not.", s, policy.Prefixed(" at ", s.At))
		}
		return f
	}
	return review.Refuses(s.name)
}
