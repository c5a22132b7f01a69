package access

import (
	"context"
	"fmt"

	"github.com/restwarden/restwarden/policies/policy"
)

// judge applies a rule with its conditions. Those about parameters, for which the body may have to be read, come last.
// early leaves them out.
func (p *Access) judge(ctx context.Context, r *policy.Request, match policy.Match, early bool) (policy.Verdict, error) {
	if line := match.UnmetAround(r); line != "" {
		return unmet(line), nil
	}
	verdict, err := p.apply(ctx, r, match.Rule)
	switch {
	case verdict.Refused() && verdict.Answer == nil: // else the platform refuses, not the rule
		verdict.Yields = match.Rule.Yields()
		return verdict, err
	case err != nil || verdict.Refused() || early:
		return verdict, err
	}
	line, err := match.Unmet(r)
	if err != nil || line == "" {
		return policy.Verdict{}, err
	}
	return unmet(line), nil
}

// unmet refuses a call for a condition, which its owner has set for everybody: no line opens the call.
func unmet(line string) policy.Verdict {
	v := policy.Forbidden()
	v.Note = fmt.Sprintf("The condition %q of the rule does not hold.", line)
	return v
}

// meets tells whether the conditions of the rule of a match hold.
func meets(r *policy.Request, own policy.Match, early bool) (bool, error) {
	if own.UnmetAround(r) != "" {
		return false, nil
	}
	if early {
		return true, nil
	}
	line, err := own.Unmet(r)
	return line == "", err
}
