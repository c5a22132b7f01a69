// Package caller finds out who is calling: who the platform would say has sent a
// request.
//
// [Whole] is a request as the platform authenticates it. Its [Credentials] are read
// once, by the one table in table.go, and work out a [Claim]: what the gateway can ask
// about. [Identities] asks the platform with exactly these credentials and keeps the
// answer, a [Caller], for seconds.
package caller

import "slices"

// Kind is how much is known of a caller.
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
	Roles        []string
	Capabilities map[string]bool
}

// HasRole tells whether the caller has one of roles.
func (c Caller) HasRole(roles []string) bool {
	return slices.ContainsFunc(c.Roles, func(r string) bool { return slices.Contains(roles, r) })
}
