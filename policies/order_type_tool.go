package policies

import (
	"context"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// checkTool judges a call of the shop's tool server, whose order-update tool makes the
// same update (docs/platform III.7). The server reads only the JSON body. The body must
// be one message: PHP takes an object with keys like "0" for a list of messages, and the
// server accepts params inside params. Other servers ask WordPress for the parameters,
// which also finds them in the query, so the query may hold none.
func (p *OrderType) checkTool(ctx context.Context, r *Request) (Verdict, error) {
	for _, name := range []string{"method", "params"} {
		if _, set := r.Call.QueryVariable(name); set {
			return Verdict{}, call.Ambiguous("tool_calls")
		}
	}
	body, err := r.Call.JSON()
	if err != nil || body == nil {
		return Verdict{}, err
	}
	message, ok := body.(map[string]any)
	if !ok {
		return Verdict{}, call.Ambiguous("tool_calls")
	}
	for key := range message {
		if strings.Trim(key, "-0123456789") == "" {
			return Verdict{}, call.Ambiguous("tool_calls")
		}
	}
	params, _ := message["params"].(map[string]any)
	name, _ := params["name"].(string)
	if _, nested := params["params"]; nested || !toolName(name) {
		return Verdict{}, call.Ambiguous("tool_calls")
	}
	if message["method"] != "tools/call" || !updatesOrders(name) {
		return Verdict{}, nil
	}
	arguments, _ := params["arguments"].(map[string]any)
	id, ok := call.ParseID(arguments["id"])
	if !ok {
		return Verdict{}, call.Ambiguous("id")
	}
	key := r.HTTP.Header.Get("X-Mcp-Api-Key")
	if key == "" {
		return Verdict{}, nil // anonymous: the platform itself refuses it
	}
	return p.proveTool(ctx, r, key, id)
}

// toolName tells whether a name means the same tool to every release of the server. Newer
// releases drop blanks and NUL around it.
func toolName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == ""
}

// updatesOrders recognizes the tool in the spellings of different tool servers:
// woocommerce-orders-update, woocommerce/orders-update.
func updatesOrders(name string) bool {
	return strings.HasSuffix(strings.NewReplacer("/", "-", "_", "-").Replace(strings.ToLower(name)), "orders-update")
}

// proveTool asks with the caller's key. If that key may write but not read, it asks with
// the credential of order_type.
func (p *OrderType) proveTool(ctx context.Context, r *Request, key string, id uint64) (Verdict, error) {
	ids := []uint64{id}
	as := r.withKey(key)
	found, err := p.recordsOf(ctx, r, as, ids)
	switch {
	case err != nil:
	case found.refusal != nil && writeOnly(found.refusal) && p.Credential != "":
		found, err = p.recordsOf(ctx, r, r.withKey(p.Credential), ids)
	case len(found.others) > 0:
		found.refusal, err = r.readOnly(ctx, as)
	}
	if err != nil {
		return Verdict{}, err
	}
	return p.verdict(r, proof{others: found.others, answer: found.refusal}), nil
}
