package review

import (
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// Claim says of a set of calls that one caller never, or always, gets through.
type Claim struct {
	// Never claims that no call of the set passes. Without it every call does.
	Never bool
	// Methods and Routes are the set, written as in a rule: no method means all, GET covers
	// HEAD.
	Methods, Routes []string
	// Caller is who calls. A KeyHolder has a shop key: it counts on the shop's routes, and
	// the caller is anonymous on all others. Nobody signs.
	Caller caller.Caller
	// Credential is what each call carries. Where it has no kind, that of a KeyHolder is a key, and that of a User a login
	// cookie, which no scope names.
	Credential caller.Credential
	// InForce is what is switched on: its mode and its lines count, a lockdown does not.
	InForce policy.InForce
	// Index holds the routes of the site, as its REST root lists them: the set is then those
	// of its calls that are routes of the site. With nil the set has every route.
	Index *index.Index
}

// carried returns the credential of the claim.
func (q *Claim) carried() caller.Credential {
	c := q.Credential
	if c.Kind != "" {
		return c
	}
	switch q.Caller.Kind {
	case caller.KeyHolder:
		c.Kind = caller.CredentialKey
	case caller.User:
		c.Kind = caller.CredentialUser
	case caller.Anonymous, caller.Unverified:
	}
	return c
}

// Proof is what is known of a claim.
type Proof struct {
	// Holds is true if the claim is certain: no call breaks it.
	Holds bool
	// Counter are calls that break it, the shortest first: at most one for each rule that
	// decides, and not more than ten.
	Counter []Counterexample
	// Unproved says, in one sentence each, of what the proof cannot speak. A claim with such
	// a part does not hold.
	Unproved []string
}

// Counterexample is a call that breaks a claim.
type Counterexample struct {
	Method string // "POST"
	Route  string // "/wp/v2/posts/1", below the prefix
	// Pattern is the site's own pattern for the route, or "" without an Index.
	Pattern string
	// Rule is the rule that decides on the call, as in the Caddyfile, and At is its place, ""
	// for a built-in rule. Rule is "" where no rule decides: the default lets the call pass.
	Rule, At string
}

// maxCounter bounds the counter-examples of a claim.
const maxCounter = 10

// Prove decides a claim over all methods and routes, by asking each Decider of the chain. It covers
// login_only, the rules of access, the built-in ones, and the ids of abilities, as the
// modes in force enforce them. It does not cover what
// depends on time, on records, on carts, on parameters or on bodies, nor what the platform
// itself refuses: a call that Prove finds to pass may be refused by another policy, but none
// that Prove finds refused passes. It speaks of calls that have a certain reading, of a
// platform that says who is calling, and not of a browser's preflight, which carries nothing.
//
// The error says that the claim cannot be read, or wraps keyset.ErrTooMany.
func Prove(c *policy.Chain, q Claim) (Proof, error) {
	target, err := policy.NewTarget(q.Methods, q.Routes)
	if err != nil {
		return Proof{}, err
	}
	p := newProver(c, &q, &target)
	p.limits(c)
	if err = p.decideAll(&target); err == nil && q.Never {
		err = p.otherDots(c, &target)
	}
	if err != nil {
		return Proof{}, err
	}
	p.proof.Holds = len(p.proof.Counter) == 0 && len(p.proof.Unproved) == 0
	return p.proof, nil
}
