package scope

import (
	"context"
	"slices"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// count counts a call that scopes allow against the rate of each. Only a credential that the platform has verified
// counts, so that nobody uses up the calls of another one by naming it. Each part of a batch is a call, and one without
// parts is one.
func (p *Scopes) count(ctx context.Context, r *policy.Request, scopes []*Scope) (policy.Verdict, error) {
	scopes = slices.DeleteFunc(slices.Clone(scopes), func(s *Scope) bool { return s.Rate == "" })
	if len(r.Call.Parts) > 0 || r.WithOverride != nil || len(scopes) == 0 {
		return policy.Verdict{}, nil
	}
	v, err := p.take(ctx, r, scopes)
	if err != nil && observe(scopes) {
		return observed(err), nil
	}
	return v, err
}

// take counts the call against the rates of scopes. It refuses what the platform may accept by a credential that cannot
// be counted: a signature of OAuth 1, or one of several that the request carries.
func (p *Scopes) take(ctx context.Context, r *policy.Request, scopes []*Scope) (first policy.Verdict, err error) {
	verified, doubtful, err := p.accepted(ctx, r)
	if err != nil {
		return first, err
	}
	for _, s := range scopes {
		switch {
		case slices.Contains(verified, s):
			v, err := s.take(ctx, r)
			if err != nil {
				return first, err
			}
			first = worse(first, v)
		case doubtful:
			first = worse(first, s.refuse("It has a rate, and nobody can tell that the platform takes this credential."))
		}
	}
	return first, nil
}

// accepted returns the scopes of the credential that the platform has accepted of r. Doubtful tells that it may accept
// another one that r carries, or has accepted one of several.
func (p *Scopes) accepted(ctx context.Context, r *policy.Request) (verified []*Scope, doubtful bool, err error) {
	claim, err := r.Claim()
	if err != nil {
		return nil, false, err
	}
	who, answer, err := r.Whole.Who(ctx)
	if err != nil {
		return nil, false, err
	}
	if answer == nil && who.Accepted() {
		verified, err = p.verified(ctx, r)
	}
	return verified, who.Accepted() || !claim.Verifiable(), err
}

// take counts a call against the rate of the scope.
func (s *Scope) take(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	taken, err := store.Shared(r.Site.Store).Take(ctx, "rate:"+r.Site.Name+":scope "+s.Name, s.rate)
	if taken.Allowed || err != nil {
		return policy.Verdict{}, err
	}
	v := policy.TooMany(policy.Seconds(taken.RetryAfter.Seconds()))
	v.Rule, v.Pos, v.Origin, v.Observed = s.String(), s.At, policy.OriginOwn, s.observes()
	return v, nil
}
