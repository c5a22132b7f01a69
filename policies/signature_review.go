package policies

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
)

// Odd implements Reviewer: W07, the signatures that no rule names.
func (p *Signatures) Odd(about *About) (odd []Odd) {
	var named []string
	about.Lines(func(l RouteLine) {
		if l.Rule != nil {
			named = append(named, l.Rule.SignedBy()...)
		}
	})
	for _, s := range p.Signatures {
		if !slices.Contains(named, s.Name) {
			odd = append(odd, Odd{
				Code: "W07", At: s.At,
				Text: fmt.Sprintf("No rule names the signature %s, so that it guards nothing", s.Name),
				Do:   fmt.Sprintf("write a rule allow signed %s for its route, or remove it", s.Name),
			})
		}
	}
	return odd
}

// Decider implements Decider: who does not sign is refused where a rule asks for a signature.
func (p *Signatures) Decider(*Patterns, []call.Pattern) Decide {
	return func(q *Asked) Fate {
		if rule := asksToSign(q.Rule); rule != nil {
			return Refuses(rule)
		}
		return Passes(nil)
	}
}
