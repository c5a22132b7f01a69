package ordertype

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// proof is what the platform said about the ids of a call.
type proof struct {
	others []uint64    // ids of records that are not orders; see invalid
	secret bool        // others must not be named to the caller
	answer *ask.Answer // the platform's refusal, to be sent to the caller
}

// prove asks what ids are. It asks as the caller first, so that a caller without rights
// gets the platform's own refusal, whatever the records are (docs/project/design 8).
func (p *OrderType) prove(ctx context.Context, r *policy.Request, claim caller.Claim, ids []uint64) (proof, error) {
	if !claim.Verifiable() {
		return p.proveUnverified(ctx, r, ids)
	}
	as := shop.Asker(r.Ask)
	others, refusal, err := p.invalid(ctx, r, as, ids)
	switch {
	case err != nil:
		return proof{}, err
	case refusal == nil && len(others) > 0 && r.HasShopKey():
		answer, err := shop.ReadOnly(ctx, r, as)
		return proof{others: others, answer: answer}, err
	case refusal == nil:
		return proof{others: others}, nil
	}
	if p.Credential == "" {
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, nil
	}
	might, may, err := p.mayWrite(ctx, r, refusal)
	if err == nil && might {
		err = p.mayAsk(ctx, r)
	}
	if errors.Is(err, errNotTheShop) {
		might, err = false, nil
	}
	if err != nil || !might {
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, err
	}
	as = shop.WithKey(r, p.Credential)
	if !may {
		as = shop.Limited(r, as) // such a caller has no right that the gateway knows of
	}
	others, denied, err := p.invalid(ctx, r, as, ids)
	switch {
	case err == nil && denied != nil:
		return proof{}, p.refusedCredential(r, denied)
	case err == nil && len(others) > 0 && !may:
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, nil
	}
	return proof{others: others}, err
}

// invalid returns the ids that the update must not have: those of records that are not
// orders, and, in an update of one id, a missing one. Releases from 10.8 on refuse both in
// the same words (docs/platform III.1). The items of a batch are the platform's own.
func (p *OrderType) invalid(ctx context.Context, r *policy.Request, as shop.Asker, ids []uint64) (others []uint64, refusal *ask.Answer, err error) {
	found, err := p.recordsOf(ctx, r, as, ids)
	if p.updatesOne(r.Call) {
		found.others = append(found.others, found.missing...)
	}
	return found.others, found.refusal, err
}

// updatesOne tells whether c updates one record through an order route.
func (p *OrderType) updatesOne(c *call.Call) bool {
	return c.Kind != call.Batch && call.Updates(c.Method) &&
		slices.ContainsFunc(p.orders, func(orders routes.Pattern) bool { return orders.Match(c.Key) })
}

// errNoCredential says that nobody can be asked what the record is.
var errNoCredential = ask.Noted(
	fmt.Errorf("%w: the caller cannot be asked about; the line %s would help", ask.ErrUndecided, credentialLine),
	"Only the platform can check this caller, by OAuth 1 for example. "+curesOrderType,
)

// curesOrderType says what ends refusals of good callers who may not ask what a record is.
const curesOrderType = "If the shop is release 10.8 or later, the line release, such as release 11.1, ends the check; before that, the line " + credentialLine + " with a read-only key of the shop lets the gateway ask for itself."

// proveUnverified asks with the credential of order_type, since the platform cannot be
// asked who the caller is. The caller may be anybody, so a record that is not an order is
// refused as forbidden.
func (p *OrderType) proveUnverified(ctx context.Context, r *policy.Request, ids []uint64) (proof, error) {
	if p.Credential == "" {
		return proof{}, errNoCredential
	}
	if err := p.mayAsk(ctx, r); err != nil {
		return proof{}, err
	}
	as := shop.Limited(r, shop.WithKey(r, p.Credential)) // forged signatures must not become load
	found, err := p.recordsOf(ctx, r, as, ids)
	if err == nil && found.refusal != nil {
		err = p.refusedCredential(r, found.refusal)
	}
	return proof{others: found.others, secret: true}, err
}

// mayWrite tells whether a caller who may not read orders may still change them.
// Write-only keys may, and editors where orders borrow the rights of posts (docs/platform
// III.1, III.3). Only the platform knows about other users: they might.
func (p *OrderType) mayWrite(ctx context.Context, r *policy.Request, refusal *ask.Answer) (might, may bool, err error) {
	if refusal.MayNotRead() {
		return true, true, nil
	}
	who, _, err := r.Who(ctx)
	if err != nil {
		return false, false, err
	}
	may = who.Capabilities["edit_others_posts"] || who.Capabilities["edit_others_shop_orders"]
	return who.Kind != caller.Anonymous, may, nil
}

// listOf asks which of ids, at most 100, are orders of a status.
func (p *OrderType) listOf(status string, ids []uint64) ask.Question {
	include := make([]string, len(ids))
	for i, id := range ids {
		include[i] = strconv.FormatUint(id, 10)
	}
	return p.about("/"+p.site.Platform.Shop[2]+"/orders",
		"status="+status+"&per_page=100&_fields=id&include="+strings.Join(include, ","))
}

// noteOf asks for note 0 of an order.
func (p *OrderType) noteOf(id uint64) ask.Question {
	return p.about(fmt.Sprintf("/%s/orders/%d/notes/0", p.site.Platform.Shop[2], id), "")
}

// about builds a question about records.
func (p *OrderType) about(route, query string) ask.Question {
	return ask.Question{Kind: ask.KindRecord, Route: route, Query: query}
}
