package caller

import (
	"cmp"
	"net/netip"
	"strconv"

	"github.com/restwarden/restwarden/policies/ask"
)

// count counts a question against the limit of a client, unless the platform has accepted
// the credentials under key. It returns ask.ErrTooMany above the limit.
func (ids *Identities) count(key cacheKey, client netip.Addr) (counted bool, err error) {
	if ids.cache.wasAccepted(key) {
		return false, nil
	}
	if !ids.limit.Allow(AddressKey(client)) {
		return false, ask.ErrTooMany
	}
	return true, nil
}

// giveBack gives back what a question about good credentials counted against a client's limit, as
// often as the limit allows for one user, or one address without a user. Good credentials have any
// number of spellings that the gateway has to ask about, by a port in Host, or with a cookie or a
// header that the platform ignores.
func (ids *Identities) giveBack(who Caller, client netip.Addr) {
	address := AddressKey(client)
	name := cmp.Or(userName(who), "at "+address)
	if ids.limit.Allow(name) {
		ids.limit.Refund(address)
	}
}

// AddressKey returns the address as limits count it: IPv6 by /64, since one client
// commonly has that many.
func AddressKey(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// userName names a user that the platform has confirmed. It is "" for others.
func userName(who Caller) string {
	if who.ID == 0 {
		return ""
	}
	return "user " + strconv.FormatUint(who.ID, 10)
}

// NameOf names who is calling, however the credentials are spelled: a user, or a shop key. who is what the platform has
// said. It is "" for others, since unconfirmed credentials cost nothing to make up.
func (w *Whole) NameOf(who Caller) string {
	if who.Kind == KeyHolder {
		if name, ok := w.ShopKeyName(); ok {
			return "key " + w.Site.Identities.KeyedName(name)
		}
	}
	return userName(who)
}
