package policies

import (
	"fmt"

	"github.com/restwarden/restwarden/policies/ask"
)

// Trace is told what the chain does with a request, as net/http/httptrace is told of a
// connection: log, metrics and explanations are made of it. Any function may be nil, and
// so may the Trace: then nothing is done for it.
type Trace struct {
	// Questions is told of the questions to the platform.
	Questions ask.Trace
	// Asked is told of each policy that was asked, with its verdict, or with the error
	// for which it could not decide. early is true for a batch that has not been opened.
	Asked func(r *Request, policy string, v Verdict, err error, early bool)
	// Rule is told of each rule that a policy considered for a call.
	Rule func(r *Request, policy string, c Considered)
	// Refused is told of each refusal of a policy, enforced or only observed.
	Refused func(r *Request, d Decision)
	// Decided is told what became of the request, once.
	Decided func(r *Request, d Decision)
}

// Considered is a rule that a policy looked at for a call.
type Considered struct {
	Rule string   // in its own words, as in the Caddyfile
	At   string   // where it stands, "Caddyfile:12"; "" for a built-in one
	Why  Mismatch // why it did not match, "" where it did
}

// Mismatch says why a rule is not about a call.
type Mismatch string

const (
	Matches     Mismatch = ""         // it is
	OtherMethod Mismatch = "method"   // about other methods
	OtherRoute  Mismatch = "route"    // about other routes
	OtherID     Mismatch = "id"       // about other abilities
	Excepted    Mismatch = "except"   // the route is an exception of the rule
	Replaced    Mismatch = "replaced" // a rule of the site's own stands in for the built-in one
)

func (t *Trace) asked(r *Request, policy string, v Verdict, err error, early bool) {
	if t != nil && t.Asked != nil {
		t.Asked(r, policy, v, err, early)
	}
}

// considered tells the trace of r about a rule of a policy. Its words are made only if
// somebody listens.
func (r *Request) considered(policy string, rule fmt.Stringer, at string, why Mismatch) {
	if r.Trace != nil && r.Trace.Rule != nil {
		r.Trace.Rule(r, policy, Considered{Rule: rule.String(), At: at, Why: why})
	}
}

func (t *Trace) refused(r *Request, d Decision) {
	if t != nil && t.Refused != nil {
		t.Refused(r, d)
	}
}

func (t *Trace) decided(r *Request, d Decision) {
	if t != nil && t.Decided != nil {
		t.Decided(r, d)
	}
}
