package ordertype

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// checkTool judges a call of the shop's own server of tools, whose order-update tool makes the
// same update (docs/platform III.7). A body without a certain reading is refused.
func (p *OrderType) checkTool(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if r.HTTP.ContentLength == 0 && len(r.Call.QueryNames()) == 0 {
		return policy.Verdict{}, nil
	}
	m, err := message.Call(r)
	if err != nil {
		return policy.Verdict{}, err
	}
	ids, err := p.updatedBy(m)
	if len(ids) == 0 || err != nil {
		return policy.Verdict{}, err
	}
	key := r.HTTP.Header.Get("X-Mcp-Api-Key")
	if key == "" {
		return policy.Verdict{}, nil // anonymous: the platform itself refuses it
	}
	return p.proveTool(ctx, r, key, ids)
}

// updatedBy returns the ids of the records that a message updates as orders. The default
// server's tool runs the ability that it names (docs/platform IV.3).
func (p *OrderType) updatedBy(m *mcp.Message) ([]uint64, error) {
	in, inside, err := message.InsideOf(m)
	if inside && err == nil {
		return p.updatedInside(m, in)
	}
	name := message.Runs(m)
	if err != nil || !m.Executes() || !updatesOrders(name) && !mcp.IsCut(name) {
		return nil, err
	}
	var said any
	err = message.EachArgument(m, func(name []byte, value jsontext.Value) {
		if string(name) == "id" {
			said = jsonscan.Plain(value)
		}
	})
	if err != nil || said == nil && !updatesOrders(name) {
		return nil, err
	}
	id, ok := call.ParseID(said)
	if !ok {
		return nil, call.Ambiguous("id")
	}
	return []uint64{id}, nil
}

// updatesOrders recognizes the tool in the spellings of different servers:
// woocommerce-orders-update, woocommerce/orders-update.
func updatesOrders(name string) bool { return strings.HasSuffix(message.Dashed(name), updateTool) }

const updateTool = "orders-update"

// proveTool asks with the caller's key. If that key may write but not read, it asks with
// the credential of order_type.
func (p *OrderType) proveTool(ctx context.Context, r *policy.Request, key string, ids []uint64) (policy.Verdict, error) {
	as := shop.WithKey(r, key)
	found, err := p.recordsOf(ctx, r, as, ids)
	switch {
	case err != nil:
	case found.refusal != nil && found.refusal.MayNotRead() && p.Credential != "":
		if err = p.mayAsk(ctx, r); err == nil {
			found, err = p.recordsOf(ctx, r, shop.WithKey(r, p.Credential), ids)
		}
	case len(found.others) > 0:
		found.refusal, err = shop.ReadOnly(ctx, r, as)
	}
	if err != nil {
		return policy.Verdict{}, err
	}
	return p.verdict(r, proof{others: found.others, answer: found.refusal}), nil
}
