package policies

// Entry is one policy of the catalog.
type Entry struct {
	Name  string   // in Caddyfile, JSON, metrics, logs and docs
	Words []string // the options of the directive that the policy takes
	// Default tells whether the policy is on without being named.
	Default bool
	New     func() Policy
}

// Catalog lists the policies in their fixed order: cheap before expensive,
// first refusal wins.
var Catalog = []Entry{
	{"call", []string{"call"}, true, func() Policy { return new(Reading) }},
	{"access", []string{"access", "login_only", "allow", "deny", "recommended"}, true, func() Policy { return new(Access) }},
	{"signature", []string{"signature"}, false, func() Policy { return new(Signatures) }},
	{"rate_limit", []string{"rate_limit"}, false, func() Policy { return new(RateLimits) }},
	{"order_type", []string{"order_type"}, true, func() Policy { return new(OrderType) }},
	{"checkout_total", []string{"checkout_total"}, true, func() Policy { return new(CheckoutTotal) }},
	{"refund_totals", []string{"refund_totals"}, true, func() Policy { return new(RefundTotals) }},
	{"abilities", []string{"abilities"}, false, func() Policy { return new(Abilities) }},
	{"strip_query", []string{"strip_query"}, false, func() Policy { return new(StripQuery) }},
	{"redact", []string{"redact"}, true, func() Policy { return new(Redact) }},
	{"session_cookies", []string{"session_cookies"}, false, func() Policy { return new(SessionCookies) }},
	{"no_store", []string{"no_store"}, true, func() Policy { return new(NoStore) }},
}

// Lookup returns the catalog entry that takes the option word.
func Lookup(word string) (Entry, bool) {
	for _, e := range Catalog {
		for _, w := range e.Words {
			if w == word {
				return e, true
			}
		}
	}
	return Entry{}, false
}
