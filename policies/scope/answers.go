package scope

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/redact"
	"github.com/restwarden/restwarden/policies/rewrite"
)

// enforced returns the scopes that bind r and do not only observe, once r has been judged.
func enforced(r *policy.Request) (scopes []*Scope) {
	b := bindings.Get(r)
	if b == nil {
		return nil
	}
	for _, s := range b.scopes {
		if !s.observes() {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// Rewrites asks for the body of an answer that may hold what a scope hides, or an object that the platform has
// embedded by a call of its own.
func (p *Scopes) Rewrites(r *policy.Request) policy.Rewrite {
	if r.Call.Kind != call.Single && r.Call.Kind != call.Batch {
		return policy.RewriteNothing
	}
	for _, s := range enforced(r) {
		if r.Call.Kind == call.Single && r.Call.Embeds() || len(redact.Paths(s.Hide, r.Call)) > 0 {
			return policy.RewriteBody
		}
	}
	return policy.RewriteNothing
}

// Rewrite replaces what a scope hides, and each embedded object that a scope does not allow. An error of the platform
// that does not parse stays as it is.
func (p *Scopes) Rewrite(r *policy.Request, a *ask.Answer) error {
	if len(a.Body) == 0 {
		return nil
	}
	err := p.hideIn(r, a)
	if err != nil && a.Status < http.StatusBadRequest {
		return fmt.Errorf("scope: %w", err)
	}
	return nil
}

func (p *Scopes) hideIn(r *policy.Request, a *ask.Answer) error {
	scopes := enforced(r)
	var paths [][]string
	for _, s := range scopes {
		paths = append(paths, redact.Paths(s.Hide, r.Call)...)
	}
	if len(paths) > 0 {
		body, err := rewrite.Redact(a.Body, paths)
		if err != nil {
			return err
		}
		rewrite.Replaced(a, body)
	}
	if r.Call.Kind != call.Single || !r.Call.Embeds() {
		return nil
	}
	return rewrite.EmbeddedIn(a, r.Call, func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error) {
		embedded = r.Certain(embedded)
		for _, s := range scopes {
			if embedded == nil || !p.allowsEmbedded(s, r.Part(embedded)) {
				return rewrite.ForbiddenEmbed(), nil
			}
			var err error
			if value, err = redact.Embedded(s.Hide, embedded, value); err != nil {
				return nil, err
			}
		}
		return value, nil
	})
}

func (p *Scopes) allowsEmbedded(s *Scope, r *policy.Request) bool {
	v, err := p.judge(s, r, false)
	return err == nil && !v.Refused()
}
