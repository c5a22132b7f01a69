package policies

import (
	"slices"
)

// Catalog lists the policies in their fixed order, cheap before expensive. The first
// refusal wins.
var Catalog = []Entry{
	ReadingEntry,
	AccessEntry,
	SignatureEntry,
	RateLimitEntry,
	OrderTypeEntry,
	CheckoutTotalEntry,
	RefundTotalsEntry,
	AbilitiesEntry,
	StripQueryEntry,
	RedactEntry,
	SessionCookiesEntry,
	NoStoreEntry,
}

// NewChain is NewChainOf with the policies of the Catalog.
func NewChain(site *Site, mode Mode, configured map[string]*Configured) (*Chain, error) {
	return NewChainOf(Catalog, Closed, site, mode, configured)
}

// Lookup returns the catalog entry that takes the option word.
func Lookup(word string) (Entry, bool) {
	for _, e := range Catalog {
		if slices.Contains(e.Words, word) {
			return e, true
		}
	}
	return Entry{}, false
}
