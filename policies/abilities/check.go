package abilities

import (
	"context"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Check judges a call that runs an ability, over REST or by a server of tools.
func (p *Abilities) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	id, runs, err := p.runs(r.Call)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case runs:
		return p.checkRun(ctx, r, id)
	case !p.guards():
		return policy.Verdict{}, nil
	}
	if id, describes, err := p.describes(r.Call); describes {
		return p.checkDescribed(ctx, r, id, err)
	}
	return p.checkDoor(ctx, r)
}

// checkDescribed judges the question what an ability is, as the run of it. Below this route the
// platform knows ids alone.
func (p *Abilities) checkDescribed(ctx context.Context, r *policy.Request, id string, err error) (policy.Verdict, error) {
	if err == nil {
		err = p.checkMarker(r)
	}
	if err != nil || !validAbility(id) {
		return policy.Verdict{}, err
	}
	return p.judge(ctx, r, &Subject{ID: id})
}

// checkRun judges a run over REST. A run of an ability that does not exist is left to the
// platform.
func (p *Abilities) checkRun(ctx context.Context, r *policy.Request, id string) (policy.Verdict, error) {
	if err := p.checkMarker(r); err != nil {
		return policy.Verdict{}, err
	}
	s := &Subject{ID: id}
	v, err := p.judge(ctx, r, s)
	if err != nil || v.Refused() {
		return v, err
	}
	if s.about != nil {
		switch runs := s.about.runsWith(r.Call.Method); {
		case !runs && r.WithOverride != nil: // without its override the platform refuses the call
			return policy.Verdict{}, nil
		case !runs:
			return invalid(fmt.Sprintf("The ability %s is run with %s.", id, s.about.method())), nil
		}
		v, err := p.checkInput(s.about, func() (any, bool, error) { return writtenInput(r.Call) })
		if err != nil || v.Refused() {
			return v, err
		}
	}
	return p.confirm(ctx, r, s, r.Call.Method, func() (any, bool, error) { return runInput(r.Call) })
}

// checkInput holds the input of a run against the ability's schema.
func (p *Abilities) checkInput(about *ability, input func() (any, bool, error)) (policy.Verdict, error) {
	value, set, err := input()
	if !set || err != nil {
		return policy.Verdict{}, err
	}
	reason, err := p.schemas.violation(about, value)
	if err != nil || reason == "" {
		return policy.Verdict{}, err
	}
	return invalid(fmt.Sprintf("The input of the ability %s is not valid: %s.", about.Name, reason)), nil
}

// judge decides whether the caller may run the ability with the id of s, by whatever way. The
// rules come first. The platform is asked only about an ability that they allow, and only as
// a caller with credentials. A caller without credentials may run an ability that a rule for
// everybody names without wildcard, if the platform lets them. s.about stays nil for an ability
// about which the platform says nothing.
func (p *Abilities) judge(ctx context.Context, r *policy.Request, s *Subject) (policy.Verdict, error) {
	claim, err := r.Claim()
	if err != nil {
		return policy.Verdict{}, err
	}
	rule, allowed := p.decide(s, nil)
	asks := allowed || p.asksReadonly(s)
	if claim == caller.ClaimNothing || !asks && rule.Deny {
		if rule, allowed = p.allows(s, true, p.told(r)); allowed {
			return policy.Verdict{}, nil
		}
		return p.forbid(rule, s), nil
	}
	about, answer, err := p.describe(ctx, r, s.ID)
	if s.unlisted = answer != nil && answer.Status == http.StatusNotFound; !asks {
		p.decide(s, p.told(r))
		return p.forbid(rule, s), nil
	}
	switch {
	case err != nil:
		p.decide(s, p.told(r))
		return policy.Verdict{}, err
	case answer != nil && answer.Status != http.StatusNotFound:
		return policy.InPlatformWords(answer), nil
	}
	s.about = about
	return p.judgeKnown(ctx, r, s)
}

// judgeKnown decides once s is all that can be known.
func (p *Abilities) judgeKnown(ctx context.Context, r *policy.Request, s *Subject) (policy.Verdict, error) {
	rule, allowed := p.allows(s, false, p.told(r))
	if !allowed {
		return p.forbid(rule, s), nil
	}
	return p.admit(ctx, r, rule, s)
}

// asksReadonly tells whether a rule for readonly abilities may fit s once the platform has
// said what it is.
func (p *Abilities) asksReadonly(s *Subject) bool {
	if s.about != nil || s.ID == "" {
		return false
	}
	as := Subject{ID: s.ID, Name: s.Name, by: s.by, about: new(ability)}
	as.about.Meta.Annotations.Readonly = true
	_, allowed := p.decide(&as, nil)
	return allowed
}

// admit refuses callers whom the rule does not name.
func (p *Abilities) admit(ctx context.Context, r *policy.Request, rule Rule, s *Subject) (policy.Verdict, error) {
	if rule.forAnyone() {
		return policy.Verdict{}, nil
	}
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	if admitted, err := rule.by.AdmitsRights(ctx, r, who); admitted || err != nil {
		return policy.Verdict{}, err
	}
	return p.forbid(rule, s), nil
}

// told reports considered rules to the trace of r.
func (p *Abilities) told(r *policy.Request) func(*Rule, policy.Mismatch) {
	return func(rule *Rule, why policy.Mismatch) { r.Considered("abilities", rule, rule.At, why) }
}
