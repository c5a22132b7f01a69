package scope

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
)

// Check judges a call by every scope that binds the request. What refuses goes before what only observes.
func (p *Scopes) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, false)
}

// CheckEarly judges a batch by its own route, but for conditions about its parameters.
func (p *Scopes) CheckEarly(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, true)
}

// CheckReading refuses what has no certain reading and carries what may have a scope, or is for another door.
func (p *Scopes) CheckReading(r *policy.Request) (policy.Verdict, error) {
	v, err := policy.CheckReading(r)
	if !v.Refused() && err == nil {
		return v, nil
	}
	if presented, unclear := r.Presented(); len(presented) == 0 && unclear == nil && len(r.KeysOfPage()) == 0 && !r.SaysUser() {
		return p.checkDoors(r, nil), nil
	}
	if observe(p.Scopes) {
		return observed(err), nil
	}
	return v, err
}

func (p *Scopes) check(ctx context.Context, r *policy.Request, early bool) (policy.Verdict, error) {
	if v := refuseDoor(p.closeXMLRPC(r)); v.Enforces() {
		return v, nil // whoever sends it: nobody need be asked, and that script would not answer
	}
	b := p.bound(ctx, r)
	first := b.verdict
	if b.err != nil || first.Enforces() {
		return first, b.err
	}
	first = worse(first, p.checkDoors(r, b.byKey))
	for _, s := range b.scopes {
		if first.Enforces() {
			return first, nil
		}
		v, err := p.judge(s, r, early)
		if err != nil && s.observes() {
			v, err = observed(err), nil
		}
		if err != nil {
			return v, err
		}
		first = worse(first, v)
	}
	if early || first.Enforces() {
		return first, nil
	}
	v, err := p.checkInside(r, b.scopes)
	if first = worse(first, v); err != nil || first.Enforces() {
		return first, err
	}
	v, err = p.count(ctx, r, b.scopes)
	return worse(first, v), err
}

// worse returns the one of two verdicts that refuses: the first of those that count, or else of those that do not.
func worse(a, b policy.Verdict) policy.Verdict {
	if b.Enforces() && !a.Enforces() || !a.Refused() {
		return b
	}
	return a
}

// judge judges a call. The first line whose route and method match decides.
func (p *Scopes) judge(s *Scope, r *policy.Request, early bool) (policy.Verdict, error) {
	now := r.Whole.Site.Now()
	if s.ended(now) {
		return s.refuse(fmt.Sprintf("Its last day was %s.", s.Until)), nil
	}
	if line := s.around.Around(r.Client, now); line != "" {
		return s.unmet(line), nil
	}
	match, allowed := p.line(s, r.Call)
	if !allowed {
		return s.refuse("None of its lines allows the call."), nil
	}
	if err := match.ProtectNames(r.Call); err != nil {
		return policy.Verdict{}, err
	}
	line := match.UnmetAround(r)
	if line == "" && !early {
		var err error
		if line, err = match.Unmet(r); err != nil {
			return policy.Verdict{}, err
		}
	}
	if line != "" {
		return s.unmet(line), nil
	}
	return policy.Verdict{}, nil
}

// line returns the line that decides on a call. A route by which a credential can widen its scope is decided by a line
// that spells it out, and the batch of a collection by no line for one of its records.
func (p *Scopes) line(s *Scope, c *call.Call) (policy.Match, bool) {
	widener := p.widener(c)
	for i := range s.Allow {
		if match, ok := s.Allow[i].rule.Match(c); ok && (widener == nil || spells(match.Route, widener)) && !standsForBatch(match.Route, c) {
			return match, true
		}
	}
	return policy.Match{}, false
}

// standsForBatch tells whether c writes by a batch, /wc/v3/orders/batch, and the last segment of a line is a wildcard
// for one of its records.
func standsForBatch(line *routes.Pattern, c *call.Call) bool {
	segments, rest := line.Segments()
	return !rest && writesBatch(c) && len(segments) > 0 && segments[len(segments)-1] != "batch"
}

// writesBatch tells whether c writes by the batch of a collection.
func writesBatch(c *call.Call) bool { return c.Writes() && strings.HasSuffix(c.Key, "/batch") }

// unmet refuses a call for a condition.
func (s *Scope) unmet(line string) policy.Verdict {
	return s.refuse(fmt.Sprintf("The condition %q does not hold.", line))
}

func (s *Scope) refuse(note string) policy.Verdict {
	return policy.Verdict{
		Status: http.StatusForbidden, Code: policy.CodeCredentialScope, Message: "These credentials are not for this call.",
		Rule: s.String(), Pos: s.At, Origin: policy.OriginOwn, Note: note, Observed: s.observes(),
	}
}
