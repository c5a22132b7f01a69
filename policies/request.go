package policies

import (
	"context"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// Request is one REST call on its way through the chain. It belongs to one
// goroutine.
type Request struct {
	// Whole is the HTTP request that makes the call. Whole.Call is its own call; of a
	// part of a batch, that is the batch.
	*caller.Whole
	Call  *call.Call // to be judged
	Site  *Site
	Trace *Trace // told what is done; may be nil

	// Observed is set by the chain while a policy is asked that only observes:
	// it must not ask anything that writes.
	Observed bool

	// Matched is the rule that was decided by last, set by access: its route is for
	// vars, its signatures are for the policy signature.
	Matched Match

	part  bool   // of a batch
	quota *quota // set by rate_limit: what is left of the scarcest limit
}

// Part returns the request as the part p of a batch: same caller, own call.
func (r *Request) Part(p *call.Call) *Request {
	part := *r
	part.Call = p
	part.Matched = Match{}
	part.quota = nil
	part.part = true
	return &part
}

// asker puts the questions of one caller, or of the gateway.
type asker func(context.Context, ask.Question) (*ask.Answer, error)

// withKey returns an asker that asks with a shop key in place of the caller's credentials.
func (r *Request) withKey(key string) asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		q.As, q.Key = ask.AsKey, key
		return r.Ask(ctx, q)
	}
}

// limited returns an asker that puts only as many questions as one client may cause.
func (r *Request) limited(by asker) asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		if err := r.Rate(); err != nil {
			return nil, err
		}
		return by(ctx, q)
	}
}
