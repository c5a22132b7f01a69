package policies

import (
	"slices"

	"github.com/restwarden/restwarden/policies/ask"
)

// Catalog lists the policies in their fixed order, cheap before expensive. The first
// refusal wins.
var Catalog = []Entry{
	{"call", []string{"call"}, true, func() Policy { return new(Reading) }, append([]Code{CodeMisread}, ReadingCodes...)},
	{
		"access",
		[]string{"login_only", "access", "allow", "deny", "recommended"},
		true, func() Policy { return new(Access) },
		[]Code{CodeNotLoggedIn, CodeForbidden, CodeNoRoute, CodeTooMany, CodePlatform},
	},
	{"signature", []string{"signature"}, false, func() Policy { return new(Signatures) }, []Code{CodeSignature}},
	{"rate_limit", []string{"rate_limit"}, false, func() Policy { return new(RateLimits) }, []Code{CodeTooMany}},
	{
		"order_type",
		[]string{"order_type"},
		true, func() Policy { return new(OrderType) },
		[]Code{codeInvalidID, ask.CodeCannotBatch, ask.CodeCannotCreate, ask.CodeCannotDelete, ask.CodeCannotEdit, CodeForbidden, CodeTooMany, CodePlatform},
	},
	{"checkout_total", []string{"checkout_total"}, true, func() Policy { return new(CheckoutTotal) }, []Code{codeTotalMismatch, CodeInvalidParam, CodePlatform}},
	{"refund_totals", []string{"refund_totals"}, true, func() Policy { return new(RefundTotals) }, []Code{codeComputeTotals, ask.CodeCannotCreate, CodePlatform}},
	{
		"abilities",
		[]string{"abilities"},
		false, func() Policy { return new(Abilities) },
		[]Code{CodeForbidden, CodeInvalidParam, CodeConfirm, CodeTooMany, CodePlatform},
	},
	{"strip_query", []string{"strip_query"}, false, func() Policy { return new(StripQuery) }, nil},
	{"redact", []string{"redact"}, true, func() Policy { return new(Redact) }, nil},
	{"session_cookies", []string{"session_cookies"}, false, func() Policy { return new(SessionCookies) }, nil},
	{"no_store", []string{"no_store"}, true, func() Policy { return new(NoStore) }, nil},
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
