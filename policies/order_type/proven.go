package ordertype

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// unproven returns the ids without a recent proof, each once. If the store cannot be read, the
// platform is asked again. The error is ask.ErrTooMany where the client's limit would refuse the
// question: made-up keys must not become load of the store, which other sites share.
func (p *OrderType) unproven(ctx context.Context, r *policy.Request, claim caller.Claim, ids []uint64) ([]uint64, error) {
	if claim != caller.ClaimNothing && claim.Verifiable() {
		if err := r.MayAsk(); err != nil {
			return nil, err
		}
	}
	var room [64]byte
	facts := p.appendFacts(room[:0], r)
	if len(ids) == 1 {
		if !p.isProven(ctx, r, factKey(facts, ids[0])) {
			return p.notShown(ctx, r, ids)
		}
		r.Whole.Trace.Remembered(ask.KindRecord)
		return nil, nil
	}
	var open []uint64
	var keys []string // of open
	for _, id := range ids {
		switch key := factKey(facts, id); {
		case slices.Contains(open, id):
		case p.late.has(key):
			r.Whole.Trace.Remembered(ask.KindRecord)
		default:
			open, keys = append(open, id), append(keys, key)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	proofs, failed := r.Site.Store.GetAll(ctx, keys...) // one trip for a batch
	left := open[:0]
	for i, id := range open {
		_, proven := proofs[keys[i]]
		if failed != nil { // a shared store that fails reads single facts from the gateway's own memory
			_, proven, _ = r.Site.Store.Get(ctx, keys[i])
		}
		if proven {
			r.Whole.Trace.Remembered(ask.KindRecord)
			continue
		}
		left = append(left, id)
	}
	return left, nil
}

func (p *OrderType) isProven(ctx context.Context, r *policy.Request, key string) bool {
	if p.late.has(key) {
		return true
	}
	_, proven, _ := r.Site.Store.Get(ctx, key)
	return proven
}

// foresee returns what Check will ask about the record of r, where that is one without a proof.
func (p *OrderType) foresee(ctx context.Context, r *policy.Request) *caller.Ahead {
	if p.notNeeded() {
		return nil
	}
	ids, err := p.guardedIDs(r.Call)
	if err != nil || len(ids) != 1 || p.isProven(ctx, r, factKey(p.factsOf(r), ids[0])) {
		return nil
	}
	return &caller.Ahead{Record: p.noteOf(ids[0]), List: p.listOf("any", ids)}
}

// notShown returns ids without those that the list shows which told who is calling.
func (p *OrderType) notShown(ctx context.Context, r *policy.Request, ids []uint64) ([]uint64, error) {
	if !r.Answered(p.listOf("any", ids)) {
		return ids, nil
	}
	open, _, err := (&inquiry{OrderType: p, r: r, as: r.Ask}).listed(ctx, "any", ids)
	if len(open) == 0 {
		r.Whole.Trace.Remembered(ask.KindRecord)
	}
	return open, err
}

// factsOf is what the keys of the proofs about the shop of r begin with.
func (p *OrderType) factsOf(r *policy.Request) string { return string(p.appendFacts(nil, r)) }

func (p *OrderType) appendFacts(b []byte, r *policy.Request) []byte {
	return append(r.Site.AppendShop(append(b, "order:"...), r, r.Site.Server), ':')
}

func factKey[T string | []byte](facts T, id uint64) string {
	var room [96]byte
	return string(strconv.AppendUint(append(room[:0], facts...), id, 10))
}

// remember keeps a proof. A lost proof only costs another question.
func (p *OrderType) remember(ctx context.Context, r *policy.Request, id uint64) {
	_ = r.Site.Store.Set(ctx, factKey(p.factsOf(r), id), "1", proofTTL)
}

// Watch drops the proofs of the orders that a forwarded delete names.
func (p *OrderType) Watch(r *policy.Request) func(*ask.Answer) {
	var keys []string
	for _, c := range r.Call.Each() {
		if c.Method != http.MethodDelete {
			continue
		}
		for i := range p.ends {
			if p.ends[i].Match(c.Key) {
				ids, _ := c.IDs("id", p.ends[i].Group(c.Key, "id")) // without any the platform deletes none
				for _, id := range ids {
					keys = append(keys, factKey(p.factsOf(r), id))
				}
			}
		}
	}
	if keys == nil {
		return nil
	}
	ctx := context.WithoutCancel(r.HTTP.Context())
	return func(a *ask.Answer) {
		if a.Worked() {
			p.late.forget(keys)
			_ = r.Site.Store.Delete(ctx, keys...) // on error the proof ends with its TTL
		}
	}
}
