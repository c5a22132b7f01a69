package scope

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Decider implements [review.Decider].
func (p *Scopes) Decider(at *review.Patterns, _ []routes.Pattern) review.Decide {
	number := 0
	add := func(route routes.Pattern) {
		at.Add(route, number)
		number++
	}
	for _, route := range slices.Concat(p.wideners, message.Named) { // within a region the same ones match
		add(route)
	}
	for _, s := range p.Scopes {
		for i := range s.Allow {
			for _, route := range s.Allow[i].rule.Target().Routes() {
				add(route)
				if batch, ok := batchOf(&route); ok {
					add(batch)
				}
			}
		}
	}
	d := decider{p, policy.Meaning(p)}
	return func(q *review.Asked) review.Fate {
		f := review.Passes(nil)
		for _, s := range p.held(q.Credential) {
			f = f.Then(d.fate(s, q.Call))
		}
		return f
	}
}

// decider is the policy, as a proof asks it.
type decider struct {
	*Scopes
	text string // what all scopes say
}

// batchOf returns the batch that a line for the records of a collection does not stand for, see standsForBatch.
func batchOf(line *routes.Pattern) (batch routes.Pattern, ok bool) {
	segments, rest := line.Segments()
	last := len(segments) - 1
	if rest || last < 0 || !routes.IsWildcard(segments[last]) {
		return batch, false
	}
	batch, err := routes.ParsePattern("/" + strings.Join(slices.Concat(segments[:last], []string{"batch"}), "/"))
	return batch, err == nil
}

// fate is judge for the calls of a region, for which one stands.
func (p *decider) fate(s *Scope, c *call.Call) review.Fate {
	if s.observes() {
		return review.Passes(nil)
	}
	match, allowed := p.line(s, c)
	if !allowed {
		return review.Refuses(s.name)
	}
	f := review.Passes(nil)
	f.Depends = match.Depends()
	if c.Method == http.MethodPost && message.NamesTools(c.Key) {
		f.Refused, f.RefusedBy = true, s.name
		f.Depends += p.text
		f.Why = fmt.Sprintf("A message to %s, a server of tools, may run a REST call inside, which %s judges.", c.Key, s)
	}
	if match.Rule.Conditions != nil || s.From != nil || s.Between != "" || s.Until != "" {
		f.Refused, f.RefusedBy, f.SurePasses = true, s.name, false
		f.Depends += fmt.Sprint(s.From, s.Between, s.Until)
		f.Why = fmt.Sprintf("%s%s has conditions or a last day: a call passes where they hold, and is refused where they do not.", s, policy.Prefixed(" at ", s.At))
	}
	return f
}
