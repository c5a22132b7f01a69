package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/restwarden/restwarden/policies/call"
)

// judgeOther judges what r is to a server that drops what overrides its method. d is the
// decision on r as it was sent, no enforced refusal. Both readings must be allowed, so that of
// two refusals the enforced one counts. A refusal of the other reading alone makes it r.Call,
// so that the record names its method.
func (c *Chain) judgeOther(ctx context.Context, r *Request, other *call.Call, d Decision) Decision {
	also := r.without(other)
	e := c.judge(ctx, also)
	r.slots = r.slots.with(also.slots)
	if e.Outcome == Pass || e.Outcome == WouldRefuse && d.Outcome == WouldRefuse {
		d.Err = errors.Join(d.Err, e.Err)
		return d
	}
	note := fmt.Sprintf("Servers may drop what overrides the method, a header or the query, and without it the call is %s.", other.Method)
	if e.Verdict.Note != "" {
		note += " " + e.Verdict.Note
	}
	e.Verdict.Note = note
	if e.Outcome == Refuse {
		r.Call = other
	}
	r.Trace.refused(r, e)
	return e
}

// without returns the request for other, the reading of r without its override header. What
// r has counted and spent is not counted again.
func (r *Request) without(other *call.Call) *Request {
	also := *r
	also.Call, also.WithOverride = other, r
	also.Matched, also.MustSign, also.slots = Match{}, false, r.slots.ofRequest()
	if r.Trace != nil {
		quiet := *r.Trace
		quiet.Refused = nil // judgeOther reports what counts
		also.Trace = &quiet
	}
	return &also
}

// SignedCall returns the reading of the call that its signature is of. A signer who writes _method into
// the query signs that method. A header that something on the way drops or adds is none of his.
func (r *Request) SignedCall() *call.Call {
	if r.WithOverride != nil {
		if _, set := r.Call.QueryVariable("_method"); set {
			return r.WithOverride.Call
		}
	}
	return r.Call
}
