package caller

import (
	"net/http"
	"slices"
	"sync"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// ProvenByAnswer tells whether an answer with 2xx, in JSON, shows that the platform has accepted what w presents: one credential
// and no other log-in, on a call that nobody else may make. It asks nothing, and is for a request before Settle.
func (w *Whole) ProvenByAnswer() bool {
	c := w.Call
	if c.Kind != call.Single || c.Form == call.Aliased || !knownOnly()[w.Site.Platform.Name].has(c) {
		return false
	}
	if c.Method != c.Wire { // a server that drops what overrides it has another call answered
		return false
	}
	if _, envelope := c.QueryVariable("_envelope"); envelope { // its status is 200, whatever the answer is
		return false
	}
	presented, err := w.Presented()
	return err == nil && len(presented) == 1 && !w.namesPassword() && w.Site.countCredentials(w.HTTP, 2)+w.keysInForm() < 2
}

// keysInForm returns how many variables of a form carry a shop key. They are not among what countCredentials counts.
func (w *Whole) keysInForm() (n int) {
	for _, variable := range [...]string{"consumer_key", oauth1[0]} {
		if _, set, err := w.Call.FormVariable(variable); set || err != nil {
			n++
		}
	}
	return n
}

// knownRoutes are routes that the platform runs only for somebody it knows.
type knownRoutes struct{ always, writes []routes.Pattern }

// knownOnly returns those of each platform, by its name.
var knownOnly = sync.OnceValue(func() map[string]knownRoutes {
	of := map[string]knownRoutes{}
	for _, p := range platforms.All() {
		of[p.Name] = knownRoutesOf(&p)
	}
	return of
})

// knownRoutesOf returns those of a platform (docs/platform III.8). Plugins have public routes in the same namespaces, so
// that each is spelled out; a name stands for a number. Reads of products are none: shops open them.
func knownRoutesOf(p *platforms.Platform) (known knownRoutes) {
	add := func(to *[]routes.Pattern, namespace string, below ...string) {
		for _, route := range below {
			*to = append(*to, routes.MustPattern("/"+namespace+route))
		}
	}
	for _, shop := range p.Shop {
		add(&known.always, shop, "/orders", "/orders/:id", "/orders/:id/notes", "/orders/:id/notes/:note", "/orders/:id/refunds", "/orders/:id/refunds/:refund",
			"/customers", "/customers/:id", "/coupons", "/coupons/:id", "/webhooks", "/webhooks/:id")
		add(&known.writes, shop, "/products", "/products/:id", "/products/:id/variations", "/products/:id/variations/:variation")
	}
	add(&known.always, p.Core, "/users/me", "/users/me/application-passwords", "/settings")
	add(&known.writes, p.Core, "/users", "/users/:id", "/posts", "/posts/:id", "/pages", "/pages/:id", "/media", "/media/:id", "/categories", "/categories/:id", "/tags", "/tags/:id")
	return known
}

// has tells whether c is a call of such a route. To OPTIONS the platform answers everybody.
func (k knownRoutes) has(c *call.Call) bool {
	fits := func(p routes.Pattern) bool {
		return p.Match(c.Key) && !slices.ContainsFunc(p.Names(), func(name string) bool {
			_, number := call.ParseID(p.Group(c.Key, name))
			return !number
		})
	}
	switch c.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return slices.ContainsFunc(k.always, fits) || c.Writes() && slices.ContainsFunc(k.writes, fits)
	}
	return false
}
