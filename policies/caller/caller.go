// Package caller finds out who the platform would say is calling.
//
// [Whole] is an HTTP request as the platform authenticates it: once, also for a batch.
// Its [Credentials] are read once, by the one table in table.go. They yield a [Claim]:
// the kind of credentials, and so the question that the gateway can ask. [Identities]
// asks the platform with exactly these credentials and keeps the answer, a [Caller], for
// seconds: in memory, and in a [store.Store] that other gateways share.
// [Identities.Watch] drops an answer early once a request has changed somebody's rights.
//
// A [Site] holds what this package needs to know of one site. [Own] names what counts as a
// credential there beside the platform's own. [NewReader] returns the reader of calls, which
// refuses a call with one of these headers twice.
//
// Errors are either a *call.Refusal (the credentials have no certain reading) or wrap
// [ask.ErrUndecided] or [ask.ErrTooMany].
package caller

import "slices"

// Kind says how much is known of a caller.
type Kind uint8

// The kinds of callers.
const (
	Anonymous  Kind = iota // no credentials, or none that count
	User                   // a user whom the platform named
	KeyHolder              // a shop key that the shop accepted: a user, never a role
	Unverified             // credentials that only the platform itself can check
)

// String returns the word used in vars and logs.
func (k Kind) String() string {
	return [...]string{"anonymous", "user", "key", "unverified"}[k]
}

// Caller is who the platform would say is calling.
type Caller struct {
	Kind         Kind
	ID           uint64
	Login        string   // the login name of a user, as the platform has told it; "" where it has not
	Password     string   // the uuid of the application password, for who was asked about that alone
	Scopes       []string // of the verified credential, where a rule asks for any; see package scope
	Roles        []string
	Capabilities map[string]bool
	// NoRoles and NoCapabilities are true for a user of whom the platform's answer does not
	// tell them. That is not to have none: whoever needs them cannot decide.
	NoRoles, NoCapabilities bool
	// Administrator is true for a user without roles and capabilities who sees what only an
	// administrator does: the super admin of a network, on a site of which he is no member.
	Administrator bool
	// EveryRight is true for a caller that proofs alone know: one who has every role and capability.
	EveryRight bool
}

// Accepted tells whether the platform has accepted a credential of the caller's and said whose it is.
func (c Caller) Accepted() bool { return c.Kind == User || c.Kind == KeyHolder }

// HasRole tells whether the caller has one of roles.
func (c Caller) HasRole(roles []string) bool {
	return c.EveryRight || c.Administrator && slices.Contains(roles, "administrator") || slices.ContainsFunc(c.Roles, func(r string) bool { return slices.Contains(roles, r) })
}

// Can tells whether the caller has a capability.
func (c Caller) Can(capability string) bool {
	return c.EveryRight || c.Administrator || c.Capabilities[capability]
}
