package ordertype

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// credentialLine is the line by which the gateway asks about orders for itself.
const credentialLine = "order_type { credential <key:secret> }" //nolint:gosec // a placeholder

// Odd implements [review.Reviewer]: W24, updates signed by OAuth 1 that cannot be decided. The site shows a
// shop at an http address, where keys count in no other way, and there is no credential. Nothing is
// odd where such updates pass all the same.
func (p *OrderType) Odd(about *review.About) []review.Odd {
	if about.Site == nil || !about.Site.PlainHTTP() {
		return nil
	}
	shop := about.Platform.Shop[1:] // v1 checks the type itself
	if !slices.ContainsFunc(shop, about.Site.HasNamespace) ||
		p.Credential != "" || p.notNeeded() || about.Settings.OnError == policy.PassOnError || !about.Enforces {
		return nil
	}
	cures := strings.ToLower(curesOrderType[:1]) + strings.TrimSuffix(curesOrderType[1:], ".")
	return []review.Odd{{
		Code: "W24", At: about.Settings.At, Do: "write the one that fits, or make the site https",
		Text: "The shop has an http address, where clients sign by OAuth 1, and order_type has no credential, so that their updates of orders which nobody has listed get 503: " + cures,
	}}
}
