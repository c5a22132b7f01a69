package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
)

// record is what is known about an id.
type record uint8

const (
	isOrder  record = iota // proven
	missing                // no record, or no record of the shop's: the platform itself refuses it
	notOrder               // a record that is not an order
	hidden                 // the credentials of the question may not read orders
)

// proof is what the platform said about the ids of a call.
type proof struct {
	others []uint64    // ids of records that are not orders
	secret bool        // others must not be named to the caller
	answer *ask.Answer // the platform's refusal, to be sent to the caller
}

// prove asks what ids are. It asks as the caller first, so that a caller without rights
// gets the platform's own refusal, whatever the records are (docs/design 8).
func (p *OrderType) prove(ctx context.Context, r *Request, claim caller.Claim, ids []uint64) (proof, error) {
	if !claim.Verifiable() {
		return p.proveUnverified(ctx, r, ids)
	}
	as := asker(r.Ask)
	others, refusal, err := p.recordsOf(ctx, r, as, ids)
	switch {
	case err != nil:
		return proof{}, err
	case refusal == nil && len(others) > 0 && r.HasShopKey():
		answer, err := p.readOnly(ctx, r, as)
		return proof{others: others, answer: answer}, err
	case refusal == nil:
		return proof{others: others}, nil
	}
	if p.Credential == "" {
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, nil
	}
	might, may, err := p.mayWrite(ctx, r, refusal)
	if err != nil || !might {
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, err
	}
	others, denied, err := p.recordsOf(ctx, r, r.withKey(p.Credential), ids)
	switch {
	case err == nil && denied != nil:
		return proof{}, p.refusedCredential(r, denied)
	case err == nil && len(others) > 0 && !may:
		return proof{answer: refusal.DeniedWrite(&p.site.Platform, r.Call)}, nil
	}
	return proof{others: others}, err
}

// proveUnverified asks with the credential of order_type, since the platform cannot be
// asked who the caller is. The caller may be anybody, so a record that is not an order is
// refused as forbidden.
func (p *OrderType) proveUnverified(ctx context.Context, r *Request, ids []uint64) (proof, error) {
	if p.Credential == "" {
		return proof{}, fmt.Errorf("%w: the caller cannot be asked about; order_type { credential … } would help", ask.ErrUndecided)
	}
	as := r.limited(r.withKey(p.Credential)) // forged signatures must not become load
	others, refusal, err := p.recordsOf(ctx, r, as, ids)
	if err == nil && refusal != nil {
		err = p.refusedCredential(r, refusal)
	}
	return proof{others: others, secret: true}, err
}

// mayWrite tells whether a caller who may not read orders may still change them.
// Write-only keys may, and editors where orders borrow the rights of posts (docs/platform
// III.1, III.3). Only the platform knows about other users: they might.
func (p *OrderType) mayWrite(ctx context.Context, r *Request, refusal *ask.Answer) (might, may bool, err error) {
	if writeOnly(refusal) {
		return true, true, nil
	}
	who, _, err := r.Who(ctx)
	if err != nil {
		return false, false, err
	}
	may = who.Capabilities["edit_others_posts"] || who.Capabilities["edit_others_shop_orders"]
	return who.Kind != caller.Anonymous, may, nil
}

// readOnly returns the shop's refusal to a key that may read but not write, and nil for
// any other key. It deletes note 0, which needs the right to write and never exists
// (docs/platform III.3). It asks nothing for a policy that only observes.
func (p *OrderType) readOnly(ctx context.Context, r *Request, as asker) (*ask.Answer, error) {
	if r.Observed {
		return nil, nil
	}
	q := p.about("/"+p.site.Platform.Shop[2]+"/orders/0/notes/0", "force=true")
	q.Method = http.MethodDelete
	a, err := as(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("may the key write: %w", err)
	}
	if a.Denied() && a.Code() != "" {
		return a, nil
	}
	return nil, nil
}

func writeOnly(refusal *ask.Answer) bool {
	_, message := refusal.Fault()
	return strings.Contains(message, "read permissions")
}

// about builds a question about records.
func (p *OrderType) about(route, query string) ask.Question {
	return ask.Question{Kind: ask.KindRecord, Route: route, Query: query}
}

// proofsAtOnce bounds how many questions of one batch are under way at a time.
const proofsAtOnce = 4

// recordsOf returns the ids of records that are not orders. refusal is the platform's
// answer if the credentials may not read orders; it ends the questions.
func (p *OrderType) recordsOf(ctx context.Context, r *Request, as asker, ids []uint64) (others []uint64, refusal *ask.Answer, err error) {
	if len(ids) > 2 {
		if ids, refusal, err = p.listed(ctx, r, as, ids); refusal != nil || err != nil {
			return nil, refusal, err
		}
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(proofsAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			is, answer, err := p.recordOf(ctx, r, as, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				return err
			case is == hidden:
				refusal = answer
				return errHidden
			case is == notOrder:
				others = append(others, id)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil && refusal == nil {
		return nil, nil, err
	}
	return others, refusal, nil
}

var errHidden = errors.New("the asker may not read orders")

// listed asks the list route for all ids at once. Every id in the list is an order; the
// others are still open (docs/platform III.3).
func (p *OrderType) listed(ctx context.Context, r *Request, as asker, ids []uint64) (open []uint64, refusal *ask.Answer, err error) {
	include := make([]string, len(ids))
	for i, id := range ids {
		include[i] = strconv.FormatUint(id, 10)
	}
	a, err := as(ctx, p.about("/"+p.site.Platform.Shop[2]+"/orders",
		"status=any&per_page=100&_fields=id&include="+strings.Join(include, ",")))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("which of the ids are orders: %w", err)
	case a.Denied() && a.Code() != "":
		return nil, a, nil
	}
	var orders []struct {
		ID uint64 `json:"id"`
	}
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &orders) != nil {
		return ids, nil, nil //nolint:nilerr // no list leaves all of them open
	}
	found := map[uint64]bool{}
	for _, o := range orders {
		found[o.ID] = true
	}
	for _, id := range ids {
		if !found[id] {
			open = append(open, id)
			continue
		}
		p.remember(ctx, r, id)
	}
	return open, nil, nil
}

// recordOf asks for note 0 of the order. The platform answers "no such note" for an order
// and "no such order" for any other record (docs/platform III.3).
func (p *OrderType) recordOf(ctx context.Context, r *Request, as asker, id uint64) (record, *ask.Answer, error) {
	orders := fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[2], id)
	a, err := as(ctx, p.about(orders+"/notes/0", ""))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	code := a.Code()
	switch {
	case a.Status == http.StatusNotFound && code == p.site.Platform.ErrorPrefix+"invalid_id":
		p.remember(ctx, r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && code == p.site.Platform.ErrorPrefix+"order_invalid_id":
		return p.missingOrNot(ctx, as, orders, id)
	case a.Status == http.StatusNotFound && code == string(CodeNoRoute):
		return p.recordOfV1(ctx, r, as, id)
	case a.Denied() && code != "":
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, ask.Unexpected(a))
}

// recordOfV1 asks the v1 route, which checks the type itself, if the shop has no note
// routes.
func (p *OrderType) recordOfV1(ctx context.Context, r *Request, as asker, id uint64) (record, *ask.Answer, error) {
	a, err := as(ctx, p.about(fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[0], id), ""))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	switch {
	case a.Status == http.StatusOK:
		p.remember(ctx, r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && a.Code() == string(CodeNoRoute):
		return missing, nil, nil // there is no shop
	case a.Status == http.StatusNotFound && a.Code() != "":
		return p.missingOrNot(ctx, as, fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[2], id), id)
	case a.Denied() && a.Code() != "":
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, ask.Unexpected(a))
}

// missingOrNot asks the order route itself. A record that it does not find, it refuses; a
// record that it finds, it would treat as an order.
func (p *OrderType) missingOrNot(ctx context.Context, as asker, route string, id uint64) (record, *ask.Answer, error) {
	a, err := as(ctx, p.about(route, "_fields=id"))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	case a.Status == http.StatusNotFound && a.Code() != "":
		return missing, nil, nil
	}
	return notOrder, nil, nil
}
