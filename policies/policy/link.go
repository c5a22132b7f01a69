package policy

import (
	"cmp"
	"context"
	"errors"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// link is a policy in the chain, with the interfaces that it implements.
type link struct {
	name     string
	codes    []Code
	policy   Policy
	settings Settings
	always   bool // the policy enforces whatever the modes say

	reading ReadingChecker // nil if the policy does not implement it; likewise below
	checker Checker
	batch   BatchChecker
	early   EarlyChecker

	preflight PreflightChecker
	page      PageChecker

	verifies bool // the policy is a Verifier
}

func newLink(p *Configured) *link {
	l := &link{name: p.Entry.Name, codes: p.Entry.Codes, policy: p.Policy, settings: p.Settings}
	l.reading, _ = p.Policy.(ReadingChecker)
	l.checker, _ = p.Policy.(Checker)
	l.batch, _ = p.Policy.(BatchChecker)
	l.early, _ = p.Policy.(EarlyChecker)
	l.preflight, _ = p.Policy.(PreflightChecker)
	l.page, _ = p.Policy.(PageChecker)
	_, l.verifies = p.Policy.(Verifier)
	return l
}

func (l *link) decision(v Verdict, err error) Decision {
	d := Decision{Outcome: Refuse, Policy: l.name, Verdict: v, Err: err}
	d.explainer, _ = l.policy.(Explainer)
	return d
}

// undecided turns an error into the verdict of a policy that could not decide. passed is
// true if the owner lets such calls pass.
func (l *link) undecided(err error) (v Verdict, passed bool) {
	switch refusal, ok := errors.AsType[*call.Refusal](err); {
	case ok:
		return FromRefusal(refusal), false
	case errors.Is(err, ask.ErrTooMany):
		return TooMany(1), false
	case l.settings.OnError == PassOnError:
		return Verdict{}, true
	}
	return CouldNotDecide(err), false
}

// judges tells whether the policy has anything to judge.
func (l *link) judges(r *Request) bool {
	if r.Preflight {
		return l.preflight != nil
	}
	return l.reading != nil || (l.checker != nil || l.batch != nil) && r.Call.Kind != call.Refused
}

func (l *link) check(ctx context.Context, r *Request) (Verdict, error) {
	if r.Preflight {
		return l.preflight.CheckPreflight(ctx, r)
	}
	if l.reading != nil {
		if verdict, err := l.reading.CheckReading(r); err != nil || verdict.Refused() || l.checker == nil {
			return verdict, err
		}
	}
	switch {
	case r.Call.Kind == call.Batch && l.batch != nil:
		return l.batch.CheckBatch(ctx, r)
	case l.checker == nil, r.Call.Kind == call.Refused:
		return Verdict{}, nil
	}
	verdict, err := l.checker.Check(ctx, r)
	if err != nil || verdict.Enforces() || r.Call.Kind != call.Batch {
		return verdict, err
	}
	parts, err := l.checkParts(ctx, r)
	if err != nil || parts.Enforces() || !verdict.Refused() {
		return parts, err
	}
	return verdict, nil
}

// checkParts judges each part as if it had been sent alone. One on which the policy could not decide passes where the
// owner says so, and the others are judged.
func (l *link) checkParts(ctx context.Context, r *Request) (Verdict, error) {
	p := passing{link: l}
	verdict, err := worstOf(ctx, &p, r)
	if err != nil || verdict.Enforces() {
		return verdict, err
	}
	return verdict, p.err
}

// passing is the checker of a link, without what the owner lets pass.
type passing struct {
	*link
	err error // the first of them
}

// Check implements Checker.
func (p *passing) Check(ctx context.Context, r *Request) (Verdict, error) {
	verdict, err := p.checker.Check(ctx, r)
	if err == nil {
		return verdict, nil
	}
	if _, passed := p.undecided(err); !passed {
		return verdict, err
	}
	p.err = cmp.Or(p.err, err)
	return Verdict{}, nil
}

// worstOf judges each part as if it had been sent alone. The first refusal stands for
// all and names the ids of the refused parts.
func worstOf(ctx context.Context, p Checker, r *Request) (Verdict, error) {
	var refused Verdict
	var parts []Part
	var ids []uint64
	for _, part := range r.Call.Parts {
		v, err := p.Check(ctx, r.Part(part))
		if err != nil {
			return Verdict{}, err
		}
		switch {
		case !v.Refused(), v.Observed && refused.Enforces():
			continue
		case refused.Observed && !v.Observed: // what is refused counts, not what would be
			parts, ids = nil, nil
			refused = v
		case !refused.Refused():
			refused = v
		}
		parts = append(parts, Part{part, v})
		if id, ok := part.ItemID(); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		refused.Data = map[string]any{"ids": ids}
	}
	refused.Parts = parts
	return refused, nil
}
