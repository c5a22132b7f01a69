package ordertype

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

const (
	// shopTTL is how long it counts that a root was read, and strangerTTL that there is none: a
	// client may name any number of bases.
	shopTTL     = time.Hour
	strangerTTL = time.Minute
)

// errNotTheShop says why the gateway's own key is not sent: whoever answers below a base that a
// client names would get it.
var errNotTheShop = fmt.Errorf("%w: no REST root of a shop was read where the call goes, so that the credential of order_type is not sent there", ask.ErrUndecided)

// mayAsk tells whether the gateway's own key may be sent to where r goes: the REST root was read
// there, and it is a shop's. The first time it asks for the root, and counts that against the
// client's limit. An error means that the root could not be read now.
func (p *OrderType) mayAsk(ctx context.Context, r *policy.Request) error {
	own, c := ownBase(r), r.Whole.Call
	if own && c.Form == call.Pretty && discover.Of(r.Site).Index(r.HTTP.Host).Lists(p.site.Platform.Shop[2]) {
		return nil
	}
	key := r.Site.Shop(r)
	seen, _ := p.roots.Get(key)
	if now := p.site.Now(); !now.Before(seen.until) {
		shop, err := p.isShop(ctx, r, own)
		if err != nil {
			return fmt.Errorf("is there a shop: %w", err)
		}
		seen = rootSeen{shop, now.Add(map[bool]time.Duration{true: shopTTL, false: strangerTTL}[shop])}
		p.roots.Put(key, seen)
	}
	if !seen.shop {
		return errNotTheShop
	}
	return nil
}

// rootSeen says what answers for the REST root somewhere, and until when that counts.
type rootSeen struct {
	shop  bool
	until time.Time
}

// isShop asks for the REST root where r goes. At the site's own base a root counts, too, that the
// platform shows to nobody, or without its namespaces, as plugins have it.
func (p *OrderType) isShop(ctx context.Context, r *policy.Request, own bool) (bool, error) {
	root, err := discover.AskRoot(ctx, shop.Limited(r, r.Ask), ask.Question{Query: "_fields=home,namespaces"})
	switch {
	case err != nil:
		return false, err
	case root.Closed:
		return own && p.marked(root.Answer), nil
	case root.Found == nil:
		return false, nil
	}
	return slices.Contains(root.Found.Namespaces, p.site.Platform.Shop[2]) || own && len(root.Found.Namespaces) == 0 && root.Found.Home != "", nil
}

// marked tells whether the platform itself refuses its root: each of its answers says which of its
// headers scripts may read.
func (p *OrderType) marked(a *ask.Answer) bool {
	exposed := strings.ToLower(strings.Join(a.Header["Access-Control-Expose-Headers"], ","))
	return a.Code() != "" && strings.Contains(exposed, strings.ToLower(p.site.Platform.TotalHeader()))
}

// ownBase tells whether the call goes to the base of the site, or where a rewrite has taken it
// away.
func ownBase(r *policy.Request) bool {
	c := r.Whole.Call
	base := c.Base
	if c.Form != call.Pretty {
		base = strings.TrimSuffix(strings.TrimSuffix(base, "index.php"), "/")
	}
	return base == r.Site.Base || base == "" && c.Rewritten != nil
}
