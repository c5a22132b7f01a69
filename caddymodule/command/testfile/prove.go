package testfile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// prove decides a proof for each of its callers. The first one that fails is told.
func (r *Runner) prove(ctx context.Context, p *Proof) Outcome {
	o := Outcome{Status: Passed, Expected: p.claim(), Got: "proved"}
	for i := range p.As {
		one := r.proveFor(ctx, p, i)
		one.Expected = o.Expected
		one.Requests += o.Requests
		if one.Status == Failed || one.Status == Unknown && o.Status == Passed {
			o = one
		}
		if o.Status == Failed {
			return o
		}
		o.Requests = one.Requests
	}
	return o
}

func (p *Proof) claim() string {
	if p.Always {
		return "every call passes"
	}
	return "no call passes"
}

// proveFor decides p for one caller. A counter-example counts only if a run confirms it.
func (r *Runner) proveFor(ctx context.Context, p *Proof, i int) Outcome {
	o := Outcome{Status: Unknown, Got: "cannot be proved for " + p.Callers[i]}
	proved, err := r.Gateway.Prove(ctx, p, i)
	if past, ok := errors.AsType[*hole](err); ok {
		o.Status, o.Got, o.Why = Failed, "calls reach the site past the rules", past.text
		if p.Always {
			o.Got = "calls do not come to the site"
		}
		return o
	}
	if err != nil {
		o.Why = err.Error()
		return o
	}
	if proved.Holds && len(proved.Counter) == 0 && len(proved.Unproved) == 0 {
		o.Status, o.Got = Passed, "proved"
		return o
	}
	for at, c := range proved.Counter {
		if r.confirm(ctx, p, i, c, &o); len(o.Also) == maxAlso {
			if more := len(proved.Counter) - at - 1; more > 0 {
				o.Also = append(o.Also, fmt.Sprintf("and %d more, each by another rule", more))
			}
			break
		}
	}
	if o.Status == Failed {
		return o
	}
	o.Why = strings.Join(proved.Unproved, " ")
	if o.Why == "" {
		o.Why = "Some call may break it, but no request that was tried does, so that nobody knows: a test with the request itself says more."
	}
	return o
}

// maxAlso bounds the counter-examples beside the first.
const maxAlso = 9

// confirm runs a counter-example, in one form after the other. The first that is confirmed
// is the outcome, the next ones stand beside it.
func (r *Runner) confirm(ctx context.Context, p *Proof, i int, c Counterexample, o *Outcome) {
	for _, url := range c.URLs {
		request, err := dryrun.Build(c.Method, url, nil, nil)
		if err != nil {
			continue
		}
		request.As = p.As[i]
		result, err := r.Gateway.Run(ctx, request)
		o.Requests++
		if err != nil || !p.brokenBy(result.Answer) {
			continue
		}
		var one Outcome
		one.tell(result)
		line := c.Method + " " + url
		if o.Status == Failed {
			o.Also = append(o.Also, line+one.rule())
			return
		}
		q := &Request{Request: request, Method: c.Method, URL: url}
		one.Status, one.Got = Failed, fmt.Sprintf("%s as %s: %s", one.Got, p.Callers[i], line)
		one.Curl, one.Explain, one.Requests = r.curl(q), r.explain(q), o.Requests
		*o = one
		return
	}
}

// brokenBy tells whether a call with that answer breaks p. What would be refused passes.
func (p *Proof) brokenBy(a dryrun.Answer) bool {
	if p.Always {
		return a == dryrun.Refused
	}
	return a == dryrun.Pass || a == dryrun.WouldRefuse
}
