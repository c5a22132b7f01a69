package policies

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/restwarden/restwarden/policies/call"
)

// Outcome is what became of a call; a label of the metrics.
type Outcome string

const (
	Pass        Outcome = "pass"
	Refuse      Outcome = "refused"
	WouldRefuse Outcome = "would_refuse"
)

// Decision is what the chain says of one request.
type Decision struct {
	Outcome Outcome
	Policy  string // that refused, or would have; "" on pass
	Verdict Verdict
	Err     error // why a policy could not decide, for the log; on pass, of those with on_error pass
}

// Chain asks the policies of one site in the order of the catalog.
type Chain struct {
	links []link
	mode  Mode
	// Count, where set, is told every decision of a policy that is a refusal,
	// enforced or not, and the pass at the end of those that go through.
	Count func(Decision)
}

type link struct {
	name   string
	policy Policy
	common *Common
}

// NewChain provisions the policies for site and puts them in order.
// configured holds those that the configuration names, by name; the others are
// made from the catalog where they are on by default.
func NewChain(site *Site, mode Mode, configured map[string]Policy) (*Chain, error) {
	c := &Chain{mode: mode}
	for _, e := range Catalog {
		p, named := configured[e.Name]
		if !named {
			if !e.Default {
				continue
			}
			p = e.New()
		}
		common := CommonOf(p)
		common.named = named
		if common.Off {
			continue
		}
		if err := common.validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		c.links = append(c.links, link{e.Name, p, common})
	}
	return c, c.provision(site)
}

// provision runs in two passes over the order: signatures are known before the
// rules that name them.
func (c *Chain) provision(site *Site) error {
	for _, early := range []bool{true, false} {
		for _, l := range c.links {
			if _, is := l.policy.(*Signatures); is != early {
				continue
			}
			if err := l.policy.Provision(site); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	return nil
}

// CommonOf returns the part of the configuration that every policy has.
func CommonOf(p Policy) *Common { return p.(interface{ common() *Common }).common() }

// Policies returns the policies that are on, in order, by name.
func (c *Chain) Policies(yield func(name string, p Policy) bool) {
	for _, l := range c.links {
		if !yield(l.name, l.policy) {
			return
		}
	}
}

// Judge asks the policies about r. The first enforced refusal wins; refusals
// that are only observed are counted and the next policy is asked.
func (c *Chain) Judge(ctx context.Context, r *Request) Decision {
	if r.Call.Kind == call.Batch {
		if d := c.judgeEarly(ctx, r); d.Outcome == Refuse {
			return d
		}
		r.Call.Open()
	}
	first := Decision{Outcome: Pass}
	for i := range c.links {
		l := &c.links[i]
		if r.Call.Kind == call.Refused && l.name != "call" {
			continue // there is no call to judge
		}
		r.Observed = c.observed(l)
		verdict, err := l.check(ctx, r)
		if err != nil {
			var passed bool
			if verdict, passed = l.undecided(err); passed {
				first.Err = errors.Join(first.Err, fmt.Errorf("%s: %w", l.name, err))
				continue
			}
		}
		if !verdict.Refused() {
			continue
		}
		d := c.refusal(l, r, verdict, err)
		if d.Outcome == Refuse {
			return d
		}
		if first.Outcome == Pass {
			first = d
		}
	}
	if first.Outcome == Pass {
		c.count(first)
	}
	return first
}

// judgeEarly asks whoever can judge a batch before it is opened. What would only be
// observed is asked in its turn.
func (c *Chain) judgeEarly(ctx context.Context, r *Request) Decision {
	for i := range c.links {
		l := &c.links[i]
		early, ok := l.policy.(EarlyChecker)
		if r.Observed = c.observed(l); !ok || r.Observed {
			continue
		}
		verdict, err := early.CheckEarly(ctx, r)
		if err != nil {
			verdict, _ = l.undecided(err)
		}
		if verdict.Refused() {
			return c.refusal(l, r, verdict, err)
		}
	}
	return Decision{Outcome: Pass}
}

// refusal is the decision of a policy to refuse, counted.
func (c *Chain) refusal(l *link, r *Request, verdict Verdict, err error) Decision {
	if verdict.Rule == "" {
		verdict.Rule, verdict.Pos = l.name, l.common.At
	}
	d := Decision{Outcome: Refuse, Policy: l.name, Verdict: verdict, Err: err}
	if r.Observed {
		d.Outcome = WouldRefuse
	}
	c.count(d)
	return d
}

func (c *Chain) observed(l *link) bool {
	if l.common.Mode != "" {
		return l.common.Mode == Observe
	}
	return c.mode == Observe
}

func (c *Chain) count(d Decision) {
	if c.Count != nil {
		c.Count(d)
	}
}

// undecided turns an error into the verdict of a policy that could not decide;
// passed is true where its owner wants such calls to go through.
func (l *link) undecided(err error) (v Verdict, passed bool) {
	var refusal *call.Refusal
	switch {
	case errors.As(err, &refusal):
		return fromRefusal(refusal), false
	case errors.Is(err, ErrTooManyQuestions):
		return tooMany(1), false
	case l.common.OnError == PassOnError:
		return Verdict{}, true
	}
	return Unavailable(), false
}

func (l *link) check(ctx context.Context, r *Request) (Verdict, error) {
	if r.Call.Kind != call.Batch {
		return l.policy.Check(ctx, r)
	}
	if b, ok := l.policy.(BatchChecker); ok {
		return b.CheckBatch(ctx, r)
	}
	verdict, err := l.policy.Check(ctx, r)
	if err != nil || verdict.Refused() {
		return verdict, err
	}
	return checkParts(ctx, l.policy, r)
}

// checkParts judges each part as if it had been sent alone; the first refusal
// stands for all and names the ids of the refused parts.
func checkParts(ctx context.Context, p Policy, r *Request) (Verdict, error) {
	var refused Verdict
	var ids []uint64
	for _, part := range r.Call.Parts {
		v, err := p.Check(ctx, r.Part(part))
		if err != nil {
			return Verdict{}, err
		}
		if !v.Refused() {
			continue
		}
		if !refused.Refused() {
			refused = v
		}
		if id, ok := part.ItemID(); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		refused.Data = map[string]any{"ids": ids}
	}
	return refused, nil
}

func tooMany(seconds int) Verdict {
	return Verdict{
		Status: http.StatusTooManyRequests, Code: CodeTooMany,
		Message: "Too many requests. Please try again later.",
		Header:  http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}
