package caller

import (
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/store"
)

// Site is what this package needs to know of a site.
type Site struct {
	Platform   call.Platform
	Prefix     string      // first segment of the pretty form on this site
	Own        Own         // what else counts as a credential
	Store      store.Store // shared facts
	Identities *Identities
	Now        func() time.Time

	rows []row
}

// NewSite returns a Site of platform with its table of credentials.
func NewSite(platform call.Platform, own Own) *Site {
	own = own.canonical()
	return &Site{Platform: platform, Prefix: platform.Prefix, Own: own, Now: time.Now, rows: table(&platform, own)}
}

// Own names what counts as a credential on a site beside the platform's own.
type Own struct {
	Headers []string `json:"headers,omitempty"`
	Cookies []string `json:"cookies,omitempty"`
	// Jetpack accepts callers that sign with Jetpack's token as Unverified.
	Jetpack bool `json:"jetpack,omitempty"`
}

// canonical returns o with header names in their canonical form.
func (o Own) canonical() Own {
	headers := make([]string, len(o.Headers))
	for i, h := range o.Headers {
		headers[i] = http.CanonicalHeaderKey(h)
	}
	o.Headers = headers
	return o
}

// InCheckout tells whether c belongs to the public checkout API. Its answers are about
// the shopper, so it answers scripts only of the origins that the shop names.
func (s *Site) InCheckout(c *call.Call) bool { return inNamespace(c.Key, s.Platform.Checkout) }

// inShop tells whether shop keys count on the route with this key.
func (s *Site) inShop(key string) bool {
	for _, ns := range s.Platform.Shop {
		if inNamespace(key, ns) {
			return true
		}
	}
	return inNamespace(key, s.Platform.Analytics)
}

// shopLooks tells whether the shop certainly checks its own credentials on c. It
// recognizes its routes by text in the address. Newer releases may check on other
// addresses too.
func (s *Site) shopLooks(c *call.Call) bool { return c.Form == call.Pretty && s.inShop(c.Route) }

func inNamespace(key, ns string) bool {
	rest, ok := strings.CutPrefix(key, "/"+ns)
	return ok && (rest == "" || rest[0] == '/')
}
