package policies

import (
	"slices"
	"strings"
)

// credentialLine is the line by which the gateway asks about orders for itself.
const credentialLine = "order_type { credential <key:secret> }" //nolint:gosec // a placeholder

// LacksCredential says in a sentence, without a full stop, that updates signed by OAuth 1
// cannot be decided on a site: it shows a shop at an http address, where keys count in no other
// way, and order_type has no credential. at is where order_type stands. text is "" for other
// sites, for one that is not known, and where such updates pass all the same.
func (c *Chain) LacksCredential(site *Installed) (at, text string) {
	if site == nil || !site.http {
		return "", ""
	}
	shop := c.site.Platform.Shop[1:] // v1 checks the type itself
	if !slices.ContainsFunc(site.namespaces, func(ns string) bool {
		return slices.ContainsFunc(shop, func(own string) bool { return strings.EqualFold(ns, own) })
	}) {
		return "", ""
	}
	for i := range c.links {
		l := &c.links[i]
		if p, ok := l.policy.(*OrderType); ok && p.Credential == "" && !p.notNeeded() && l.settings.OnError != PassOnError && !c.observes(l, InForce{}) {
			cures := strings.ToLower(curesOrderType[:1]) + strings.TrimSuffix(curesOrderType[1:], ".")
			return l.settings.At, "the shop has an http address, where clients sign by OAuth 1, and order_type has no credential, so that their updates of orders which nobody has listed get 503: " + cures
		}
	}
	return "", ""
}

// oddCredential returns W24, see LacksCredential.
func (c *Chain) oddCredential(site *Installed) []Odd {
	at, text := c.LacksCredential(site)
	if text == "" {
		return nil
	}
	return []Odd{{Code: "W24", At: at, Text: strings.ToUpper(text[:1]) + text[1:], Do: "write the one that fits, or make the site https"}}
}
