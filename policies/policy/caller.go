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

func (r *Request) withScopes(ctx context.Context, who caller.Caller) (caller.Caller, error) {
	site := r.Site
	if !site.namesScopes || site.Scopes == nil || !who.Accepted() || site.observed != nil && site.observed(r.InForce) {
		return who, nil
	}
	if r.scopes == nil {
		r.scopes = new(granted)
		r.scopes.names, r.scopes.err = site.Scopes.Verified(ctx, r)
	}
	who.Scopes = r.scopes.names
	return who, r.scopes.err
}
