package caller

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/store"
)

// Site is what this package needs to know of a site.
type Site struct {
	Platform   platforms.Platform
	Prefix     string      // first segment of the pretty form on this site
	Own        Own         // what else counts as a credential
	Store      store.Store // shared facts
	Identities *Identities
	Now        func() time.Time
	// KeysInQuery tells whether the shop that answers certainly takes its credentials in the
	// query form too. With nil it is not certain.
	KeysInQuery func(*Whole) bool
	// NoKeysInQuery is true if the shop certainly takes none there.
	NoKeysInQuery bool
	// Lists tells whether the REST root of a host lists a namespace. With nil it lists none
	// but the core's.
	Lists func(host, namespace string) bool
	// Scripts returns the directory of the platform's scripts, below the site's base: "" or
	// "/core". With nil it is "".
	Scripts func(*Whole) string
	// Home returns the home address of the site that answers, as its REST root gives it,
	// or "" if that is not known. With nil it is not.
	Home func(*Whole) string

	rows    []row
	servers *hosts.Table[server] // what questions have found, by host as sent
}

// server is what stands before the platform of a host. It saves questions and proves nothing.
type server struct {
	enveloped bool // it has replaced the body of an error: questions about records go there in an envelope
	slash     bool // it redirects addresses without a slash at their end
	byQuery   bool // it closes the path of a question, and not its form in the query
}

// learn keeps what the answer to q, or its error, shows of the server before a host.
func (s *Site) learn(host string, q *ask.Question, a *ask.Answer, err error) {
	known, _ := s.servers.Get(host)
	now := known
	switch unexpected, ok := errors.AsType[*ask.UnexpectedError](err); {
	case err == nil:
		now.enveloped, now.slash = now.enveloped || a.Enveloped, now.slash || a.Slash
		now.byQuery = now.byQuery && !q.ByQuery || a.ByQuery && (a.Enveloped || a.Code() != "" || a.Worked() && isJSON(a))
	case q.ByQuery && ok:
		now.byQuery = false
	case q.Slash && ok && unexpected.Answer.Status < http.StatusBadRequest:
		now.slash = false // it redirects the other way
	}
	if now != known {
		s.servers.Put(host, now)
	}
}

// NewSite returns a Site of platform with its table of credentials.
func NewSite(platform platforms.Platform, own Own) *Site {
	own = own.canonical()
	return &Site{Platform: platform, Prefix: platform.Prefix, Own: own, Now: time.Now, rows: table(&platform, own), servers: new(hosts.Table[server])}
}

// Clone returns a copy of s, of whose servers nothing is known yet.
func (s *Site) Clone() *Site {
	another := *s
	another.servers = new(hosts.Table[server])
	return &another
}

// Own names what counts as a credential on a site beside the platform's own.
type Own struct {
	Headers []string `json:"headers,omitempty"`
	Cookies []string `json:"cookies,omitempty"`
	// Jetpack accepts callers that sign with Jetpack's token as Unverified.
	Jetpack bool `json:"jetpack,omitempty"`
}

// Validate checks the names.
func (o *Own) Validate() error {
	if o == nil {
		return nil
	}
	for _, name := range slices.Concat(o.Headers, o.Cookies) {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("credentials: %q is not the name of a header or cookie", name)
		}
	}
	for _, name := range o.Headers {
		if http.CanonicalHeaderKey(name) == "Cookie" {
			return errors.New("credentials: cookies are named one by one, with credentials cookie <name>")
		}
	}
	return nil
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

// takesSession tells whether the shop lets a login cookie count for c without the nonce, and
// whatever else is sent. It compares the letters as they are (docs/platform III.8).
func (s *Site) takesSession(c *call.Call) bool {
	return strings.HasPrefix(c.Route, "/"+strings.TrimSuffix(s.Platform.Checkout, "v1"))
}

// InShop tells whether shop keys count on the route with this key: in every namespace that
// begins with the shop's word, those of plugins for it included (docs/platform III.8).
func (s *Site) InShop(key string) bool {
	rest, ok := strings.CutPrefix(key, "/"+s.Platform.ShopWord())
	return ok && rest != "" && (rest[0] == '/' || rest[0] == '-') && key != "/"+s.Platform.MCP
}

// shopLooks tells whether the shop certainly checks its own credentials on the call. It
// recognizes its routes by text in the address, in the query form from 11.1 on
// (docs/project/interface 9, rule 4). Newer releases may check on other addresses too.
func (w *Whole) shopLooks() bool {
	if w.Call.Form == call.Aliased || w.Call.Form == call.Pretty && !w.Call.OwnPrefix {
		return false // its address may have no text that every release looks for
	}
	if w.Call.Form != call.Pretty && (w.Site.KeysInQuery == nil || !w.Site.KeysInQuery(w)) {
		return false
	}
	return w.Site.InShop(w.Call.Route)
}

// TakesKeys tells whether a shop key may count on the call. In the query form the shop's
// answer decides: its release need not be known.
func (w *Whole) TakesKeys() bool {
	return w.Site.InShop(w.Call.Route) && (w.Call.Form == call.Pretty || !w.Site.NoKeysInQuery)
}

func inNamespace(key, ns string) bool {
	rest, ok := strings.CutPrefix(key, "/"+ns)
	return ok && (rest == "" || rest[0] == '/')
}
