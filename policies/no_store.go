package policies

import (
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// noStoreEntry is the policy in the catalog.
var noStoreEntry = policy.Entry{
	Name:    "no_store",
	Words:   []string{"no_store"},
	Default: true,
	New:     func() policy.Policy { return new(NoStore) },
}

// NoStore keeps private answers out of caches: it adds no-store to the answer to a call
// that carries credentials. Refusals always have it.
type NoStore struct{}

// Rewrites asks for the header of answers to calls with credentials.
func (*NoStore) Rewrites(r *policy.Request) policy.Rewrite {
	if r.Call.Kind == call.Page || !r.Site.HasCredentials(r.HTTP) {
		return policy.RewriteNothing
	}
	return policy.RewriteHeader
}

// Rewrite adds no-store if the platform has not said it.
func (*NoStore) Rewrite(_ *policy.Request, a *ask.Answer) error {
	if !strings.Contains(strings.Join(a.Header["Cache-Control"], ","), "no-store") {
		a.SetHeader("Cache-Control", "no-store")
	}
	return nil
}
