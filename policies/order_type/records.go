package ordertype

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// known is what is known about an id.
type known uint8

const (
	isOrder  known = iota // proven
	missing               // no record, or no record of the shop's: the order route finds none
	noRoute               // there is no order route: the platform itself says so
	notOrder              // a record that is not an order
	hidden                // the credentials of the question may not read orders
)

// records is what the platform said about ids.
type records struct {
	others  []uint64    // of records that are not orders; in a batch perhaps not all of them
	missing []uint64    // of no record
	refusal *ask.Answer // the credentials may not read orders
}

// atOnce bounds how many questions of one batch are under way at a time.
const atOnce = 4

// enough is how many records that are not orders a refused batch looks for. One decides;
// the others only complete the answer.
const enough = 4

// fewIDs is how many ids are asked about one by one, without the list of orders.
const fewIDs = 2

// unlisted are the statuses that a list of any status leaves out (docs/platform III.3).
var unlisted = []string{"trash", "checkout-draft", "auto-draft", "draft"}

// inquiry finds out what the ids of one call are.
type inquiry struct {
	*OrderType
	r  *policy.Request
	as shop.Asker

	mu      sync.Mutex
	found   records
	lookUps atomic.Bool // the last id was missing, so that the next may be: the record is asked for first
}

// recordsOf finds out what ids are. Without a refusal or error, and with fewer than enough
// others, each id in neither list is an order, or the shop has no order route. A refusal to
// the credentials ends the questions, and so do enough others. One of the others outweighs a
// question without an answer.
func (p *OrderType) recordsOf(ctx context.Context, r *policy.Request, as shop.Asker, ids []uint64) (records, error) {
	q := &inquiry{OrderType: p, r: r, as: as}
	open, err := q.notListed(ctx, ids)
	if err != nil || q.found.refusal != nil {
		return q.found, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, id := range open {
		group.Go(func() error {
			if ctx.Err() != nil || q.done() {
				return ctx.Err()
			}
			is, answer, err := q.recordOf(ctx, id)
			if err != nil {
				return err
			}
			return q.note(id, is, answer)
		})
	}
	err = group.Wait()
	slices.Sort(q.found.others)
	if q.found.refusal != nil || len(q.found.others) > 0 {
		err = nil
	}
	return q.found, err
}

var errHidden = errors.New("the asker may not read orders")

// done tells whether no more questions are needed.
func (q *inquiry) done() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.found.others) >= enough
}

// note notes what an id is.
func (q *inquiry) note(id uint64, is known, answer *ask.Answer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lookUps.Store(is == missing)
	switch is {
	case hidden:
		q.found.refusal = answer
		return errHidden
	case notOrder:
		q.found.others = append(q.found.others, id)
	case missing:
		q.found.missing = append(q.found.missing, id)
	case isOrder, noRoute: // nothing against the update
	}
	return nil
}

// notListed returns the ids that no list of orders shows. It asks for the lists while more
// than a few ids are open. A list that the shop refuses for one status shows nothing.
func (q *inquiry) notListed(ctx context.Context, ids []uint64) (open []uint64, err error) {
	open = ids
	for _, status := range append([]string{"any"}, unlisted...) {
		var left []uint64
		for some := range slices.Chunk(open, 100) {
			if len(open) <= fewIDs {
				return open, nil
			}
			rest, refusal, err := q.listed(ctx, status, some)
			if err != nil {
				return nil, err
			}
			if refusal != nil && status == "any" {
				q.found.refusal = refusal
				return nil, nil
			}
			left = append(left, rest...)
		}
		open = left
	}
	return open, nil
}

// listed asks the list route for up to 100 ids at once. Every id in the list is an order,
// whatever its status; the others are still open (docs/platform III.3).
func (q *inquiry) listed(ctx context.Context, status string, ids []uint64) (open []uint64, refusal *ask.Answer, err error) {
	a, err := q.as(ctx, q.listOf(status, ids))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("which of the ids are orders: %w", err)
	case a.Refuses():
		return ids, a, nil
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
		q.remember(ctx, q.r, id)
	}
	return open, nil, nil
}

// recordOf asks for note 0 of the order. The platform answers "no such note" for an order
// and "no such order" for any other record (docs/platform III.3).
func (q *inquiry) recordOf(ctx context.Context, id uint64) (known, *ask.Answer, error) {
	seen := false
	if q.lookUps.Load() {
		a, err := q.read(ctx, q.site.Platform.Shop[2], id)
		if err != nil {
			return 0, nil, err
		}
		if a.Status == http.StatusNotFound && a.Code() == string(q.site.Code(policy.CodeInvalidID)) {
			return missing, nil, nil
		}
		seen = a.Status == http.StatusOK
	}
	a, err := q.as(ctx, q.noteOf(id))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	code := a.Code()
	switch {
	case a.Status == http.StatusNotFound && code == q.site.Platform.ErrorPrefix+"invalid_id":
		q.remember(ctx, q.r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && code == q.site.Platform.ErrorPrefix+"order_invalid_id":
		if seen {
			return notOrder, nil, nil
		}
		return q.missingOrNot(ctx, id)
	case a.Status == http.StatusNotFound && code == string(policy.CodeNoRoute):
		return q.recordOfV1(ctx, id)
	case a.Refuses():
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, ask.Unexpected(a))
}

// recordOfV1 asks the v1 route, which checks the type itself, if the shop has no note
// routes.
func (q *inquiry) recordOfV1(ctx context.Context, id uint64) (known, *ask.Answer, error) {
	a, err := q.as(ctx, q.about(fmt.Sprintf("/%s/orders/%d", q.site.Platform.Shop[0], id), ""))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	switch {
	case a.Status == http.StatusOK:
		q.remember(ctx, q.r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && a.Code() == string(policy.CodeNoRoute):
		is, _, err := q.missingOrNot(ctx, id)
		if err == nil && is == notOrder {
			err = fmt.Errorf("%w: what is order %d: the site has neither the notes of orders nor %s/orders, which would tell", ask.ErrUndecided, id, q.site.Platform.Shop[0])
		}
		return is, nil, err
	case a.Status == http.StatusNotFound && a.Code() != "":
		return q.missingOrNot(ctx, id)
	case a.Refuses():
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, ask.Unexpected(a))
}

// missingOrNot reads the order routes themselves, that of the call first. A record that they
// do not find, they refuse; a record that they find, they would treat as an order.
func (q *inquiry) missingOrNot(ctx context.Context, id uint64) (known, *ask.Answer, error) {
	is := missing
	for _, namespace := range q.namespacesOf(q.r.Call.Key) {
		a, err := q.read(ctx, namespace, id)
		switch {
		case err != nil:
			return 0, nil, err
		case a.Status != http.StatusNotFound || a.Code() == "":
			return notOrder, nil, nil
		case a.Code() != string(policy.CodeNoRoute):
			return is, nil, nil
		}
		is = noRoute // of this namespace; another one may show the record all the same
	}
	return is, nil, nil
}

// namespacesOf returns the namespace of the route key, and v3.
func (q *inquiry) namespacesOf(key string) []string {
	v3 := q.site.Platform.Shop[2]
	for _, namespace := range []string{q.site.Platform.Shop[1], q.site.Platform.Analytics} {
		if strings.HasPrefix(key, "/"+namespace+"/") {
			return []string{namespace, v3}
		}
	}
	return []string{v3}
}

// read reads a record through the order route of a namespace.
func (q *inquiry) read(ctx context.Context, namespace string, id uint64) (*ask.Answer, error) {
	a, err := q.as(ctx, q.about(fmt.Sprintf("/%s/orders/%d", namespace, id), "_fields=id"))
	if err != nil {
		return nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	return a, nil
}
