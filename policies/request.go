package policies

import (
	"context"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// Request is one REST call on its way through the chain. It belongs to one goroutine.
type Request struct {
	// Whole is the HTTP request that makes the call. For a part of a batch, Whole.Call is
	// the batch.
	*caller.Whole
	Call  *call.Call // the call to be judged
	Site  *Site
	Trace *Trace // reports each step; may be nil

	// InForce is what the site's switches said when the request came.
	InForce InForce

	// Preflight is true for a browser's preflight, which only a PreflightChecker judges.
	Preflight bool

	// Observed is true while the chain asks a policy that only observes. Such a policy
	// must not ask questions that write.
	Observed bool

	// Matched is the rule that access applied last. Its route fills the vars; its
	// signatures are those that the policy signature verifies.
	Matched Match

	part     bool     // of a batch
	first    *Request // the reading with the override, where this is the one without
	mustSign bool     // set by the lockdown: only the signature of the call opens it
	slots    slots    // what policies have found out
}

// Part returns the request for the part p of a batch: the same caller, another call.
func (r *Request) Part(p *call.Call) *Request {
	part := *r
	part.Call = p
	part.Matched = Match{}
	part.slots = r.slots.ofRequest()
	part.part, part.first = true, nil
	return &part
}

// Settle gives back what reading the call took, see [call.Call.Settle]. It is called once r is
// decided. After that no policy may look into parameters or arguments.
func (r *Request) Settle() {
	r.Call.Settle()
	r.slots.settle()
}

// asker puts questions as one caller, or as the gateway.
type asker func(context.Context, ask.Question) (*ask.Answer, error)

// withKey returns an asker that uses a shop key in place of the caller's credentials.
func (r *Request) withKey(key string) asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		q.As, q.Key = ask.AsKey, key
		return r.Ask(ctx, q)
	}
}

// limited returns an asker that counts each question against the rate of the client.
func (r *Request) limited(by asker) asker {
	return func(ctx context.Context, q ask.Question) (*ask.Answer, error) {
		if err := r.Rate(); err != nil {
			return nil, err
		}
		return by(ctx, q)
	}
}

// readOnly returns the shop's refusal to a key that may read but not write, and nil for
// any other key. It deletes note 0, which needs the right to write and never exists
// (docs/platform III.3). It asks nothing for a policy that only observes.
func (r *Request) readOnly(ctx context.Context, as asker) (*ask.Answer, error) {
	if r.Observed {
		return nil, nil
	}
	a, err := as(ctx, ask.Question{
		Kind: ask.KindRecord, Method: http.MethodDelete,
		Route: "/" + r.Site.Platform.Shop[2] + "/orders/0/notes/0", Query: "force=true",
	})
	if err != nil {
		return nil, fmt.Errorf("may the key write: %w", err)
	}
	if a.Denied() && a.Code() != "" {
		return a, nil
	}
	return nil, nil
}
