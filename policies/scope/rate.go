package scope

import (
	"context"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// count counts a call that scopes allow against the rate of each. Only a credential that the platform has verified
// counts, so that nobody uses up the calls of another one by naming it. Each part of a batch is a call.
func (p *Scopes) count(ctx context.Context, r *policy.Request, scopes []*Scope) (policy.Verdict, error) {
	scopes = slices.DeleteFunc(slices.Clone(scopes), func(s *Scope) bool { return s.Rate == "" })
	if r.Call.Kind == call.Batch || r.WithOverride != nil || len(scopes) == 0 {
		return policy.Verdict{}, nil
	}
	v, err := p.take(ctx, r, scopes)
	if err != nil && observe(scopes) {
		return observed(err), nil
	}
	return v, err
}

// take counts the call against the rates of scopes.
func (p *Scopes) take(ctx context.Context, r *policy.Request, scopes []*Scope) (first policy.Verdict, err error) {
	who, answer, err := r.Whole.Who(ctx)
	if err != nil || answer != nil || !who.Accepted() {
		return first, err
	}
	verified, err := p.verified(ctx, r)
	if err != nil {
		return first, err
	}
	for _, s := range scopes {
		if !slices.Contains(verified, s) {
			continue
		}
		taken, err := store.Shared(r.Site.Store).Take(ctx, "rate:"+r.Site.Name+":scope "+s.Name, s.rate)
		if err != nil {
			return first, err
		}
		if taken.Allowed {
			continue
		}
		v := policy.TooMany(policy.Seconds(taken.RetryAfter.Seconds()))
		v.Rule, v.Pos, v.Origin, v.Observed = s.String(), s.At, policy.OriginOwn, s.observes()
		first = worse(first, v)
	}
	return first, nil
}
