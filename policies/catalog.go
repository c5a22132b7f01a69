package policies

import (
	"slices"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/access"
	checkouttotal "github.com/restwarden/restwarden/policies/checkout_total"
	ordertype "github.com/restwarden/restwarden/policies/order_type"
	"github.com/restwarden/restwarden/policies/policy"
	ratelimit "github.com/restwarden/restwarden/policies/rate_limit"
	"github.com/restwarden/restwarden/policies/redact"
	"github.com/restwarden/restwarden/policies/scope"
	"github.com/restwarden/restwarden/policies/signature"
)

// Catalog lists the policies in their fixed order, cheap before expensive. The first
// refusal wins.
var Catalog = []policy.Entry{
	policy.ReadingEntry,
	access.Entry,
	scope.Entry,
	signature.Entry,
	ratelimit.Entry,
	ordertype.Entry,
	checkouttotal.Entry,
	refundTotalsEntry,
	abilities.Entry,
	stripQueryEntry,
	redact.Entry,
	sessionCookiesEntry,
	noStoreEntry,
}

// NewChain is [policy.NewChain] with the policies of the [Catalog] and the lockdown.
func NewChain(site *policy.Site, mode policy.Mode, configured map[string]*policy.Configured) (*policy.Chain, error) {
	return policy.NewChain(Catalog, access.Closed, site, mode, configured)
}

// Lookup returns the entry of the [Catalog] that takes the option word.
func Lookup(word string) (policy.Entry, bool) {
	for _, e := range Catalog {
		if slices.Contains(e.Words, word) {
			return e, true
		}
	}
	return policy.Entry{}, false
}
