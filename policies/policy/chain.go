package policy

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Outcome is what the chain decided about a request. It is a label of the metrics.
type Outcome string

// The outcomes: the request passes, a policy refuses it, or a policy that observes would.
const (
	Pass        Outcome = "pass"
	Refuse      Outcome = "refused"
	WouldRefuse Outcome = "would_refuse"
)

// Decision is what the chain decided about one request.
type Decision struct {
	Outcome Outcome
	Policy  string // the policy that refused, or would have; "" on pass
	Verdict Verdict
	Err     error // why a policy could not decide, for the log; on pass, from policies with on_error pass

	explainer Explainer // words the refusal; may be nil
}

// Code returns what vars, log and metrics say: the code of the refusal, or CodeNone.
func (d *Decision) Code() Code {
	if d.Outcome == Pass {
		return CodeNone
	}
	return d.Verdict.Code
}

// Chain asks the policies of one site in the order of the catalog.
type Chain struct {
	site   *Site
	links  []*link
	mode   Mode
	locked []*link // links with the lockdown
	pages  []*link // that judge pages
}

// NewChain provisions the policies of a catalog for site and puts them in order. configured
// holds the policies that the configuration names, by name. NewChain adds the others that the
// catalog has on by default. closed is the policy of a lockdown, which nobody configures. An
// error names the policy. The caller must close the chain.
func NewChain(catalog []Entry, closed Entry, site *Site, mode Mode, configured map[string]*Configured) (*Chain, error) {
	var on []*Configured
	for _, e := range catalog {
		p, named := configured[e.Name]
		if !named && !e.Default {
			continue
		}
		if !named {
			p = NewConfigured(e)
		}
		p.Settings.Named = named
		if p.Settings.Off {
			continue
		}
		if err := p.Settings.validate(); err != nil {
			return nil, p.Settings.errorf(e.Name, err)
		}
		on = append(on, p)
	}
	c := Link(site, mode, on...)
	if err := c.provision(site); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	site.dots, site.worded = c.dots(), c.worded()
	for _, l := range c.links {
		if _, ok := l.policy.(Scopes); ok {
			site.observed = func(f InForce) bool { return c.observes(l, f) }
		}
	}
	c.lock(closed)
	return c, nil
}

// Link returns the chain of policies that are provisioned, or need not be. It knows no lockdown.
func Link(site *Site, mode Mode, on ...*Configured) *Chain {
	c := &Chain{site: site, mode: mode}
	for _, p := range on {
		c.links = append(c.links, newLink(p))
	}
	for _, l := range c.links {
		if l.page != nil {
			c.pages = append(c.pages, l)
		}
	}
	c.locked = c.links
	return c
}

func (c *Chain) provision(site *Site) error {
	for _, l := range c.links {
		if d, ok := l.policy.(Declarer); ok {
			if err := d.Declare(site); err != nil {
				return l.settings.errorf(l.name, err)
			}
		}
	}
	for _, l := range c.links {
		if p, ok := l.policy.(Provisioner); ok {
			if err := p.Provision(site, l.settings); err != nil {
				return l.settings.errorf(l.name, err)
			}
		}
	}
	return nil
}

// Close closes the policies that own a resource.
func (c *Chain) Close() error {
	var errs []error
	for _, l := range c.links {
		if closer, ok := l.policy.(io.Closer); ok {
			if err := closer.Close(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", l.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Judge asks the policies about r. The first enforced refusal wins. A refusal that is
// only observed is reported, and the next policy is asked.
func (c *Chain) Judge(ctx context.Context, r *Request) Decision {
	if len(r.InForce.opens) > 0 {
		r.opened = new([]opened)
	}
	d := c.judge(ctx, r)
	if other := r.Call.WithoutOverride(); other != nil && d.Outcome != Refuse {
		d = c.judgeOther(ctx, r, other, d)
	}
	r.Trace.decided(r, d)
	return d
}

func (c *Chain) judge(ctx context.Context, r *Request) Decision {
	if r.Call.Kind == call.Batch {
		if d := c.judgeEarly(ctx, r); d.Outcome == Refuse {
			return d
		}
		r.Call.Open()
	}
	first := Decision{Outcome: Pass}
	for _, l := range c.linksFor(r) {
		if !l.judges(r) {
			continue
		}
		r.Observed = c.observesIn(l, r)
		verdict, err := l.check(ctx, r)
		r.Trace.asked(r, l.name, verdict, err, false)
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
	return first
}

// Refusal returns what to answer a refused call with, or nil for the platform's error object.
func (c *Chain) Refusal(r *Request, v Verdict) *ask.Answer {
	for _, l := range c.links {
		if w, ok := l.policy.(RefusalWriter); ok {
			if a := w.WriteRefusal(r, v); a != nil {
				return a
			}
		}
	}
	return nil
}

// JudgesPages tells whether a policy judges requests that are no calls.
func (c *Chain) JudgesPages() bool { return len(c.pages) > 0 }

// JudgePage asks the policies that judge pages about r, which is no call. A refusal goes as in Judge.
func (c *Chain) JudgePage(r *Request) Decision {
	d := c.judgePage(r)
	if d.Outcome != Pass {
		r.Trace.decided(r, d)
	}
	return d
}

func (c *Chain) judgePage(r *Request) Decision {
	first := Decision{Outcome: Pass}
	for _, l := range c.pages {
		r.Observed = c.observesIn(l, r)
		verdict, err := l.page.CheckPage(r)
		if err != nil {
			verdict, _ = l.undecided(err)
		}
		if !verdict.Refused() {
			continue
		}
		if d := c.refusal(l, r, verdict, err); d.Outcome == Refuse {
			return d
		} else if first.Outcome == Pass {
			first = d
		}
	}
	return first
}

// judgeEarly asks the policies that can judge a batch before it is opened. Policies that
// only observe wait for their turn in judge.
func (c *Chain) judgeEarly(ctx context.Context, r *Request) Decision {
	for _, l := range c.linksFor(r) {
		if r.Observed = c.observesIn(l, r); l.early == nil || r.Observed {
			continue
		}
		verdict, err := l.early.CheckEarly(ctx, r)
		r.Trace.asked(r, l.name, verdict, err, true)
		if err != nil {
			verdict, _ = l.undecided(err)
		}
		if verdict.Refused() {
			return c.refusal(l, r, verdict, err)
		}
	}
	return Decision{Outcome: Pass}
}

// refusal builds the decision for a policy that refuses.
func (c *Chain) refusal(l *link, r *Request, verdict Verdict, err error) Decision {
	if verdict.Rule == "" && verdict.Answer == nil {
		verdict.Rule, verdict.Pos = l.name, l.settings.At
	}
	d := l.decision(verdict, err)
	if r.Observed || verdict.Observed {
		d.Outcome = WouldRefuse
	}
	r.Trace.refused(r, d)
	return d
}

// Refused is the decision of a policy, by name, to refuse an answer in place of the call.
func (c *Chain) Refused(policy string, v Verdict, err error) Decision {
	for _, l := range c.locked {
		if l.name == policy {
			return l.decision(v, err)
		}
	}
	return Decision{Outcome: Refuse, Policy: policy, Verdict: v, Err: err}
}
