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
	"github.com/restwarden/restwarden/policies/signature"
)

// Catalog lists the policies in their fixed order, cheap before expensive. The first
// refusal wins.
var Catalog = []policy.Entry{
	ReadingEntry,
	access.Entry,
	signature.Entry,
	ratelimit.Entry,
	ordertype.Entry,
	checkouttotal.Entry,
	RefundTotalsEntry,
	abilities.Entry,
	StripQueryEntry,
	redact.Entry,
	SessionCookiesEntry,
	NoStoreEntry,
}

// NewChain is NewChainOf with the policies of the Catalog.
func NewChain(site *policy.Site, mode policy.Mode, configured map[string]*policy.Configured) (*policy.Chain, error) {
	return policy.NewChain(Catalog, access.Closed, site, mode, configured)
}

// Lookup returns the catalog entry that takes the option word.
func Lookup(word string) (policy.Entry, bool) {
	for _, e := range Catalog {
		if slices.Contains(e.Words, word) {
			return e, true
		}
	}
	return policy.Entry{}, false
}
