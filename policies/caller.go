package policies

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// CallerKind is how much is known of a caller.
type CallerKind uint8

const (
	Anonymous  CallerKind = iota // no credentials, or none that count
	User                         // a user whom the platform named
	KeyHolder                    // a shop key that the shop accepted: a user, never a role
	Unverified                   // credentials that only the platform itself can check
)

// String returns the word used in vars and logs.
func (k CallerKind) String() string {
	return [...]string{"anonymous", "user", "key", "unverified"}[k]
}

// Caller is who the platform would say is calling.
type Caller struct {
	Kind         CallerKind
	ID           uint64
	Roles        []string
	Capabilities map[string]bool
}

// HasRole tells whether the caller has one of roles.
func (c Caller) HasRole(roles []string) bool {
	return slices.ContainsFunc(c.Roles, func(r string) bool { return slices.Contains(roles, r) })
}

// claim is the kind of credentials that a request carries for one call: what
// the gateway can ask about, and how.
type claim uint8

const (
	claimsNothing   claim = iota
	claimsUser            // ask for the current user
	claimsSession         // a login cookie in the checkout API: ask the cart
	claimsKey             // a shop key where it counts: ask the shop
	claimsTool            // a key of the shop's tool server, on its route: ask the shop
	claimsOAuth1          // signed by OAuth 1 where it counts: cannot be asked about
	claimsJetpack         // signed with Jetpack's token: cannot be asked about, nobody to the rules unless configured
	claimsUncertain       // several of which the platform may drop either: nobody to the rules, somebody to guards
)

// claimOf works out what credentials r carries that count for its call
// (docs/design 7; docs/platform III.8). Nothing is asked. The error is a
// *call.Refusal: whether there are credentials has no certain answer.
func (s *Site) claimOf(r *Request) (claim, error) {
	h := r.HTTP.Header
	if isJetpack(r.Call) {
		return claimsJetpack, nil
	}
	if r.Call.Key == "/"+s.Platform.MCP && strings.Contains(h.Get("X-Mcp-Api-Key"), ":") {
		return claimsTool, nil
	}
	if s.inShop(r.Call.Key) {
		signed, err := isOAuth1(r)
		looks := s.shopLooks(r.Call)
		switch {
		case err != nil:
			return 0, err
		case !looks && (signed || hasQueryKey(r.Call)):
			return claimsUncertain, nil
		case !looks:
		case signed && s.hasLoginCookie(r.HTTP): // the shop does not look where the cookie is good
			return claimsUncertain, nil
		case signed:
			return claimsOAuth1, nil
		case basicShopKey(h), hasQueryKey(r.Call):
			return claimsKey, nil
		}
	}
	own, err := s.own(r.HTTP)
	if err != nil {
		return 0, err
	}
	if own || h.Get("Authorization") != "" || h.Get("X-Mcp-Api-Key") != "" {
		return claimsUser, nil
	}
	loggedIn, err := s.loginCookie(r.HTTP)
	if !loggedIn || err != nil {
		return claimsNothing, err
	}
	_, given, err := s.nonce(r)
	switch {
	case err != nil:
		return 0, err
	case given:
		return claimsUser, nil
	case s.inCheckout(r.Call.Key):
		return claimsSession, nil
	}
	return claimsNothing, nil
}

// shopLooks tells whether the shop looks for its own credentials on c: it knows
// its routes by text in the address, in this case for sure. Newer releases, and
// odd addresses, may have it look elsewhere too.
func (s *Site) shopLooks(c *call.Call) bool { return c.Form == call.Pretty && s.inShop(c.Route) }

// HasCredentials tells whether a request carries anything that may count as a
// credential, so that its answer is private.
func (s *Site) HasCredentials(r *http.Request) bool {
	for _, name := range [...]string{"Authorization", "X-Mcp-Api-Key", "Cart-Token"} {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	if s.hasLoginCookie(r) {
		return true
	}
	if own, err := s.own(r); own || err != nil {
		return true
	}
	for _, name := range [...]string{"consumer_key", "oauth_consumer_key", "signature"} {
		if phpvars.Has(r.URL.RawQuery, name) {
			return true
		}
	}
	return false
}

// nonce returns the REST nonce of the request: the parameter, else the header.
// An empty one is given too, and refused by the platform.
func (s *Site) nonce(r *Request) (nonce string, given bool, err error) {
	if n, set, err := r.Call.Variable(s.Platform.NonceParam); set || err != nil {
		return n, set, err
	}
	if n := r.HTTP.Header[s.Platform.NonceHeader]; len(n) > 0 {
		return n[0], true, nil
	}
	return "", false, nil
}

// loginCookie tells whether r carries a login cookie. A name that PHP would
// only fold onto one is a *call.Refusal: no browser sends it.
func (s *Site) loginCookie(r *http.Request) (bool, error) {
	found := false
	for pair := range cookiePairs(r) {
		switch {
		case s.Platform.LogsIn(pair):
			found = true
		case !strings.HasPrefix(pair, s.Platform.AuthCookie):
			if _, folds := foldsOnto(pair, s.Platform.AuthCookie); folds {
				return false, ambiguous("cookie_alias")
			}
		}
	}
	return found, nil
}

func (s *Site) hasLoginCookie(r *http.Request) bool {
	found, err := s.loginCookie(r)
	return found || err != nil
}

// cookiePairs yields the cookies of r as sent, "name=value".
func cookiePairs(r *http.Request) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range r.Header["Cookie"] {
			for pair := range strings.SplitSeq(line, ";") {
				if !yield(strings.TrimLeft(pair, " \t\r\n\v\f")) {
					return
				}
			}
		}
	}
}

// foldsOnto tells whether some release of PHP reads the name of a cookie as one
// that begins with prefix, and returns what follows: dots, blanks and brackets
// become underscores, and older releases decode it first (docs/platform I.1.5;
// CVE-2020-7070).
func foldsOnto(pair, prefix string) (rest string, folds bool) {
	name, _, _ := strings.Cut(pair, "=")
	name = strings.TrimLeft(phpvars.Decode(name), " ")
	if len(name) < len(prefix) {
		return "", false
	}
	for i := range len(prefix) {
		c := name[i]
		if c == '.' || c == ' ' || c == '[' || c == '+' {
			c = '_'
		}
		if c != prefix[i] {
			return "", false
		}
	}
	return name[len(prefix):], true
}

// own tells whether r carries a credential that the configuration names. Cookies
// are read as PHP reads them, not by what an RFC lets them hold; a name that PHP
// would only fold onto one is a *call.Refusal.
func (s *Site) own(r *http.Request) (found bool, err error) {
	for _, name := range s.Credentials.Headers {
		found = found || len(r.Header[name]) > 0
	}
	if len(s.Credentials.Cookies) == 0 {
		return found, nil
	}
	for pair := range cookiePairs(r) {
		is, alias := s.ownCookie(pair)
		if alias {
			return false, ambiguous("cookie_alias")
		}
		found = found || is
	}
	return found, nil
}

// ownCookie tells whether a cookie, "name=value", is one that the configuration
// names, or one that PHP would fold onto it.
func (s *Site) ownCookie(pair string) (is, alias bool) {
	name, _, _ := strings.Cut(pair, "=")
	for _, own := range s.Credentials.Cookies {
		if name == own {
			return true, false
		}
		if rest, folds := foldsOnto(pair, own); folds && (rest == "" || rest[0] == '[' || rest[0] == 0) {
			alias = true
		}
	}
	return false, alias
}

// inShop tells whether shop keys count on the route with this key.
func (s *Site) inShop(key string) bool {
	for _, ns := range s.Platform.Shop {
		if inNamespace(key, ns) {
			return true
		}
	}
	return inNamespace(key, s.Platform.Analytics)
}

// InCheckout tells whether c belongs to the public checkout API, which answers
// scripts of other origins only where the shop names them, since its answers
// are about the shopper.
func (s *Site) InCheckout(c *call.Call) bool { return s.inCheckout(c.Key) }

func (s *Site) inCheckout(key string) bool { return inNamespace(key, s.Platform.Checkout) }

func inNamespace(key, ns string) bool {
	rest, ok := strings.CutPrefix(key, "/"+ns)
	return ok && (rest == "" || rest[0] == '/')
}

// isJetpack tells whether the request is signed with Jetpack's token.
func isJetpack(c *call.Call) bool {
	for _, name := range []string{"token", "signature"} {
		if v, _ := c.QueryVariable(name); v == "" {
			return false
		}
	}
	v, _ := c.QueryVariable("_for")
	return v == "jetpack"
}
