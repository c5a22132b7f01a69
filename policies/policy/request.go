package policy

import (
	"context"
	"net/url"

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

	// ClientURL is the address as the client sent it, where a rewrite has changed it; else nil.
	ClientURL *url.URL

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

	// MustSign is set where a lockdown leaves the call open to those who sign it.
	MustSign bool

	opened       *[]opened // that pass by lines which open calls; nil where no line does
	IsPart       bool      // of a batch
	WithOverride *Request  // the reading with the override, where this is the one without
	slots        *slots    // what policies have found out; nil for nearly all
	scopes       *granted  // of the caller; nil until they are found out
}

// Part returns the request for the part p of a batch: the same caller, another call.
func (r *Request) Part(p *call.Call) *Request {
	part := *r
	part.Call = p
	part.Matched = Match{}
	part.slots = r.slots.ofRequest()
	part.IsPart, part.WithOverride = true, nil
	return &part
}

// Foresee implements [caller.Foreseer].
func (r *Request) Foresee(ctx context.Context) *caller.Ahead { return r.Site.Foresee(ctx, r) }

// Settle gives back what reading the call took, see [call.Call.Settle]. It is called once r is
// decided. After that no policy may look into parameters or arguments.
func (r *Request) Settle() {
	r.Call.Settle()
	r.slots.settle()
}
