package policies

import (
	"net/http"
	"net/netip"

	"github.com/restwarden/restwarden/policies/call"
)

// Request is one REST call on its way through the chain. It belongs to one
// goroutine.
type Request struct {
	Call    *call.Call
	HTTP    *http.Request // as it will be forwarded; to be read, not changed
	Site    *Site
	Client  netip.Addr // address of the client, as the server determined it
	Secure  bool       // https on the client's side
	Backend Backend
	// Observed is set by the chain while a policy is asked that only observes:
	// it must not ask anything that writes.
	Observed bool

	// Matched is the rule that let the call through, set by access: its route
	// for vars and its signatures for the policy signature.
	Matched *Rule

	who   *whoMemo
	part  bool   // of a batch
	quota *quota // set by rate_limit: what is left of the scarcest limit
}

// Part returns the request as the part p of a batch: same caller, own call.
func (r *Request) Part(p *call.Call) *Request {
	r.memo()
	part := *r
	part.Call = p
	part.Matched = nil
	part.quota = nil
	part.part = true
	return &part
}

// memo returns what is known of the caller. The platform authenticates the
// request once, by its own route, so the parts of a batch share it.
func (r *Request) memo() *whoMemo {
	if r.who == nil {
		r.who = &whoMemo{of: r}
	}
	return r.who
}

type whoMemo struct {
	of     *Request // the whole request
	asked  bool
	caller Caller
	answer *Answer
	err    error
}
