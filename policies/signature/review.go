package signature

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Odd implements [review.Reviewer]: W07, the signatures that no rule names.
func (p *Signatures) Odd(about *review.About) (odd []review.Odd) {
	var named []string
	about.Lines(func(l policy.RouteLine) {
		if l.Rule != nil {
			named = append(named, l.Rule.SignedBy()...)
		}
	})
	for _, s := range p.Signatures {
		if !slices.Contains(named, s.Name) {
			odd = append(odd, review.Odd{
				Code: "W07", At: s.At,
				Text: fmt.Sprintf("No rule names the signature %s, so that it guards nothing", s.Name),
				Do:   fmt.Sprintf("write a rule allow signed %s for its route, or remove it", s.Name),
			})
		}
	}
	return odd
}

// Decider implements [review.Decider]: who does not sign as a rule asks is refused.
func (p *Signatures) Decider(*review.Patterns, []routes.Pattern) review.Decide {
	return func(q *review.Asked) review.Fate {
		if rule := asksToSign(q.Rule); rule != nil && !slices.Contains(rule.Names(), q.Signature) {
			return review.Refuses(rule)
		}
		return review.Passes(nil)
	}
}
