package caller

import (
	"slices"
	"strings"
)

// Claim is the kind of credentials that a request carries for its call. It says what the
// gateway can ask the platform, and how.
type Claim uint8

// The claims, with the question that each allows.
const (
	ClaimNothing       Claim = iota
	ClaimUser                // ask for the current user
	ClaimSession             // a login cookie in the checkout API, whatever else is sent: ask for the cart
	ClaimKey                 // a shop key on a route that accepts shop keys: ask the shop
	ClaimTool                // a key of the shop's tool server, on its route: ask the shop
	ClaimOAuth1              // signed by OAuth 1 on a route that accepts it: the platform cannot be asked who it is, see arrivalQuestion
	ClaimJetpack             // signed with Jetpack's token: the platform cannot be asked; anonymous to rules unless the site accepts Jetpack
	ClaimUncertain           // several credentials, any of which the platform may drop: anonymous to rules, not to guards
	ClaimNamespace           // a login cookie without a nonce on the index of a namespace: ask for a nonce, then for the current user
	ClaimAdministrator       // made by no request: the user who is calling has no roles, and may be a network's super admin
	ClaimBasic               // made by no request: whom Authorization names, whatever else says who is calling
	ClaimPassword            // made by no request: which application password stands in Authorization
	ClaimToken               // made by no request: whom a token names, whatever login cookie is beside it
)

// Verifiable tells whether the gateway can ask the platform who makes the claim.
func (c Claim) Verifiable() bool {
	return c != ClaimOAuth1 && c != ClaimJetpack && c != ClaimUncertain
}

// claimOf determines which credentials of w count for its call (docs/identity.md;
// docs/platform III.8). It asks nothing. The error is a *call.Refusal: it is not certain
// whether there are credentials.
func (w *Whole) claimOf() (Claim, error) {
	s, h := w.Site, w.HTTP.Header
	if _, err := s.hasCookie(h, true); err != nil { // whatever counts for the call: the platform may take it beside that
		return 0, err
	}
	if isJetpack(w.Call.QueryVariable) {
		if farQuery(w.HTTP.URL.RawQuery) {
			return ClaimUncertain, nil
		}
		return ClaimJetpack, nil
	}
	if w.Call.Key == "/"+s.Platform.MCP && strings.Contains(h.Get("X-Mcp-Api-Key"), ":") {
		return ClaimTool, nil
	}
	if s.takesSession(w.Call) {
		if loggedIn, err := s.hasCookie(h, false); loggedIn || err != nil {
			return ClaimSession, err
		}
	}
	if s.InShop(w.Call.Key) {
		if claim, err := w.shopClaim(); claim != ClaimNothing || err != nil {
			return claim, err
		}
	}
	switch own, err := w.hasOwnLogin(); {
	case err != nil:
		return 0, err
	case own:
		return ClaimUser, nil
	}
	if loggedIn, err := s.hasCookie(h, false); !loggedIn || err != nil {
		return ClaimNothing, err
	}
	nonce, err := w.hasNonce()
	switch {
	case err != nil:
		return 0, err
	case nonce:
		return ClaimUser, nil
	case w.readsNamespace():
		return ClaimNamespace, nil
	}
	return ClaimNothing, nil
}

// IgnoresCookie tells whether w has a login cookie that the platform does not count, since
// nothing else says that the caller meant the call. A plugin may count it all the same.
func (w *Whole) IgnoresCookie() bool {
	claim, err := w.Claim()
	return err == nil && claim == ClaimNothing && w.Site.hasLoginCookie(w.HTTP.Header)
}

// shopClaim looks for the shop's own credentials on a call of the shop.
func (w *Whole) shopClaim() (Claim, error) {
	signed, byHeader, err := isOAuth1(w)
	if err != nil {
		return 0, err
	}
	w.byHeader = byHeader
	inQuery := hasQueryKey(w.Call.QueryVariable)
	switch {
	case signed && (!w.shopLooks() || w.Site.hasLoginCookie(w.HTTP.Header)): // with a valid cookie the shop ignores the signature
		return ClaimUncertain, nil
	case signed && w.Site.InCheckout(w.Call): // whoever signs badly is nobody there (docs/platform III.8)
		return ClaimUncertain, nil
	case signed && byHeader && !plainHeader(w.HTTP.Header.Get("Authorization")), signed && !byHeader && farQuery(w.HTTP.URL.RawQuery):
		return ClaimUncertain, nil
	case signed:
		return ClaimOAuth1, nil
	case !inQuery && !basicShopKey(w.HTTP.Header):
		return ClaimNothing, nil
	case w.TakesKeys():
		return ClaimKey, nil
	case inQuery:
		return ClaimUncertain, nil
	}
	return ClaimNothing, nil
}

// hasOwnLogin tells whether w has a login that needs no nonce: a header of the table about which the
// platform is asked for the current user, or a cookie that the site names.
func (w *Whole) hasOwnLogin() (bool, error) {
	own, err := w.Site.hasCookie(w.HTTP.Header, true)
	return own || slices.ContainsFunc(w.Site.rows, func(r row) bool { return r.in == inHeader && r.user && r.says(w.HTTP.Header) }), err
}

// hasNonce tells whether w has the REST nonce, as a variable or as a header. An empty
// nonce counts: the platform refuses it.
func (w *Whole) hasNonce() (bool, error) {
	p := &w.Site.Platform
	if _, set, err := w.Call.Variable(p.NonceParam); set || err != nil {
		return set, err
	}
	return len(w.HTTP.Header[p.NonceHeader]) > 0, nil
}

// isJetpack tells whether a query is signed with Jetpack's token.
func isJetpack(query variables) bool {
	for _, name := range []string{"token", "signature"} {
		if v, _ := query(name); v == "" {
			return false
		}
	}
	v, _ := query("_for")
	return v == "jetpack"
}
