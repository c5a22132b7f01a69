package policy

import (
	"fmt"

	"github.com/restwarden/restwarden/policies/ask"
)

// Trace reports what the chain does with a request, as net/http/httptrace does for a
// connection. Log, metrics and explanations are made from it. Any function may be nil,
// and so may the Trace; a nil function is skipped.
type Trace struct {
	// Questions reports the questions to the platform.
	Questions ask.Trace
	// Asked reports each policy that was asked, with its verdict, or with the error for
	// which it could not decide. early is true for a batch that has not been opened.
	Asked func(r *Request, policy string, v Verdict, err error, early bool)
	// Rule reports each rule that a policy considered for a call.
	Rule func(r *Request, policy string, c Considered)
	// Refused reports each refusal of a policy, enforced or only observed.
	Refused func(r *Request, d Decision)
	// Decided reports the decision on the request. It reports again if the answer of a
	// call that passed cannot be sent.
	Decided func(r *Request, d Decision)
}

// Considered is a rule that a policy looked at for a call.
type Considered struct {
	Rule   string   // as in the Caddyfile
	Origin Origin   // where it comes from
	Allow  string   // whom a rule of access admits
	Line   string   // what the rule says, where Rule is only the plugin that it comes from
	At     string   // where the rule stands, "Caddyfile:12"; "" for a built-in one
	Why    Mismatch // why the rule did not match, "" if it did
}

// Mismatch says why a rule does not match a call.
type Mismatch string

// The reasons for which a rule does not match.
const (
	Matches      Mismatch = ""         // the rule matches
	OtherMethod  Mismatch = "method"   // the rule is for other methods
	OtherRoute   Mismatch = "route"    // the rule is for other routes
	OtherID      Mismatch = "id"       // the rule is for other abilities
	OtherMessage Mismatch = "message"  // the limit is for other messages of agents
	Excepted     Mismatch = "except"   // the route is an exception of the rule
	Replaced     Mismatch = "replaced" // a rule of the site replaces the built-in one
)

func (t *Trace) asked(r *Request, policy string, v Verdict, err error, early bool) {
	if t != nil && t.Asked != nil {
		t.Asked(r, policy, v, err, early)
	}
}

// Considered reports to the trace of r that a policy considered a rule. It formats the
// rule only if the trace wants considered rules.
func (r *Request) Considered(policy string, rule namedRule, at string, why Mismatch) {
	if r.Trace != nil && r.Trace.Rule != nil {
		c := Considered{Rule: rule.String(), Origin: rule.Origin(), At: at, Why: why}
		if of, ok := rule.(*Rule); ok {
			c.Allow, c.Line = of.Allow, of.lineOfPlugin()
		}
		r.Trace.Rule(r, policy, c)
	}
}

// namedRule is a rule as a trace reports it.
type namedRule interface {
	fmt.Stringer
	Origin() Origin
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
