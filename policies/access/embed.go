package access

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/rewrite"
)

// Rewrites asks for the body of an answer with embedded objects if a rule of the site may
// refuse one of them. For _embed the platform itself runs a call for each link
// (WP_REST_Server::embed_links), which the gateway cannot judge beforehand. Built-in
// rules apply to direct calls only; the policy redact hides embedded authors.
func (p *Access) Rewrites(r *policy.Request) policy.Rewrite {
	if r.Call.Kind != call.Single || r.Call.Foreign || !r.Call.Embeds() {
		return policy.RewriteNothing
	}
	if !slices.ContainsFunc(p.Rules, func(rule policy.Rule) bool { return rule.Who() != policy.Anyone || rule.Conditions != nil }) && (!p.LoginOnly || !r.IsAnonymous(r.HTTP.Context())) {
		return policy.RewriteNothing
	}
	return policy.RewriteBody
}

// Rewrite replaces every embedded object that the caller may not read by an error, as the
// platform itself does.
func (p *Access) Rewrite(r *policy.Request, a *ask.Answer) error {
	return rewriteEmbedded(r, a, func(embedded *call.Call, value jsontext.Value) jsontext.Value {
		if embedded == nil || !p.allowsEmbedded(r, embedded) {
			return rewrite.ForbiddenEmbed()
		}
		return value
	})
}

// rewriteEmbedded replaces each embedded object of an answer by what replaced returns.
// replaced gets nil for an object that comes from no certain call.
func rewriteEmbedded(r *policy.Request, a *ask.Answer, replaced func(*call.Call, jsontext.Value) jsontext.Value) error {
	err := rewrite.EmbeddedIn(a, r.Call, func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error) {
		return replaced(r.Certain(embedded), value), nil
	})
	if err != nil {
		return fmt.Errorf("access: the answer is not JSON: %w", err)
	}
	return nil
}

// allowsEmbedded tells whether the site's own rules let the caller of r make the call c.
// It returns false if they cannot decide.
func (p *Access) allowsEmbedded(r *policy.Request, c *call.Call) bool {
	part := r.Part(c)
	match := p.ownRule(part)
	switch {
	case match.Rule != nil:
	case p.LoginOnly:
		match = p.openedEmbedded(part)
	default:
		match.Rule = &defaultAnyone
	}
	verdict, err := p.judge(r.HTTP.Context(), part, match, false)
	return err == nil && !verdict.Refused()
}

// openedEmbedded returns the line that opens the call of an embedded object, if no guard takes it away, or login_only.
func (p *Access) openedEmbedded(part *policy.Request) policy.Match {
	quiet := *part
	quiet.Trace = nil // no rule decides on a call
	if guard, line := p.decideWith(&quiet, policy.Match{}); guard.Rule == nil {
		return line
	}
	return policy.Match{Rule: &p.loginOnly}
}
