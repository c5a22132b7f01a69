package confirming

import (
	"context"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/store"
)

// Path is where the page of a confirmation is, below the base of its site; its token follows.
const Path = "/.well-known/restwarden/confirm/"

// WrongTokens is how many wrong tokens an address may try. Nobody can guess one; the bound
// is for the store.
var WrongTokens = store.Rate{Count: 20, Per: time.Minute}

// People is what this process has for those who confirm calls. It outlives reloads, so that
// a link stays the same.
type People struct {
	links *confirm.Links
	// wrong bounds the tokens that an address may try.
	wrong *store.Limiter
	// telling has a place for each notification under way.
	telling chan struct{}
}

// NewPeople returns People for all sites of this process.
func NewPeople() (*People, error) {
	wrong, err := store.NewLimiter(WrongTokens)
	return &People{links: confirm.NewLinks(), wrong: wrong, telling: make(chan struct{}, MaxTelling)}, err
}

// Desk is where people decide on the calls of one site.
type Desk struct {
	Site   string // its name
	Base   string // the path of its pages before Path
	Ledger *confirm.Ledger
	People *People
	Logger *zap.Logger
	// Origin returns scheme and host of the site as the configuration names it, or "". A link
	// with a host that a client has sent could lead the owner, and the token, to the client.
	Origin func() string
}

// Token returns the token in the first of the addresses, without those that are nil, that is
// below Path; ok is false if none is.
func (d *Desk) Token(addresses ...*url.URL) (token string, ok bool) {
	for _, u := range addresses {
		if u == nil {
			continue
		}
		if token, ok = strings.CutPrefix(u.Path, d.Base+Path); ok {
			return token, true
		}
	}
	return "", false
}

// Link returns the address of the page of a confirmation. Where Origin returns "", it is the
// path alone.
func (d *Desk) Link(ctx context.Context, c *confirm.Confirmation) (string, error) {
	token, err := d.People.links.Token(ctx, d.Ledger, c)
	if err != nil {
		return "", err
	}
	return d.Origin() + d.Base + Path + token, nil
}

// Decide lets a person decide, and says in the log who has. The errors are those of
// [confirm.Ledger.Decide].
func (d *Desk) Decide(ctx context.Context, id string, give bool, by adminapi.By) (*confirm.Confirmation, error) {
	c, err := d.Ledger.Decide(ctx, id, give)
	if err == nil {
		d.Logger.Info("confirmation "+string(c.State), zap.String("site", d.Site), zap.String("confirmation", c.ID), zap.Inline(by))
	}
	return c, err
}
