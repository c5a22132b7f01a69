package policy

import (
	"context"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
)

// granted are the scopes of a caller.
type granted struct {
	names []string
	err   error
}

// Who is [caller.Whole.Who], with the scopes of the caller where a rule names any. What will be asked about the record
// may be asked with it.
func (r *Request) Who(ctx context.Context) (caller.Caller, *ask.Answer, error) {
	if !r.IsPart && r.Site.Foresee != nil {
		r.Foreseer = r
	}
	who, answer, err := r.Whole.Who(ctx)
	if err != nil || answer != nil {
		return who, answer, err
	}
	who, err = r.withScopes(ctx, who)
	return who, nil, err
}

// Rights is [caller.Whole.Rights], with the scopes of the caller as Who.
func (r *Request) Rights(ctx context.Context) (caller.Caller, error) {
	who, err := r.Whole.Rights(ctx)
	if err != nil {
		return who, err
	}
	return r.withScopes(ctx, who)
}

// Known is [caller.Whole.Known], with the scopes that Who or Rights has found.
func (r *Request) Known() (caller.Caller, bool) {
	who, known := r.Whole.Known()
	if known && r.scopes != nil {
		who.Scopes = r.scopes.names
	}
	return who, known
}

// MayHold returns the scopes that the caller may hold, see [Scopes]: what takes away asks for them, since a credential
// beside another is not verified.
func (r *Request) MayHold(ctx context.Context) ([]string, error) {
	if !r.grantsScopes() {
		return nil, nil
	}
	return r.Site.Scopes.MayHold(ctx, r)
}

// grantsScopes tells whether rules of the site name scopes that are in force.
func (r *Request) grantsScopes() bool {
	site := r.Site
	return site.namesScopes && site.Scopes != nil && (site.observed == nil || !site.observed(r.InForce))
}

func (r *Request) withScopes(ctx context.Context, who caller.Caller) (caller.Caller, error) {
	if !r.grantsScopes() || !who.Accepted() {
		return who, nil
	}
	if r.scopes == nil {
		r.scopes = new(granted)
		r.scopes.names, r.scopes.err = r.Site.Scopes.Verified(ctx, r)
	}
	who.Scopes = r.scopes.names
	return who, r.scopes.err
}
