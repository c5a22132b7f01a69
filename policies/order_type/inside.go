package ordertype

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// checkDoor judges a call of any other server of tools. Most of their tools change no order,
// and some servers take messages that others do not (docs/platform IV.2). So only a message
// that may update an order needs a certain reading.
func (p *OrderType) checkDoor(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	body, err := message.ToolBody(r)
	if err != nil || !mcp.Mentions(body, mayUpdate) {
		return policy.Verdict{}, err
	}
	m, err := message.Call(r)
	if err != nil {
		if !mcp.Mentions(body, func(text string) bool { return namesUpdate(text) || namesOrder(text) }) {
			return policy.Verdict{}, nil
		}
		return policy.Verdict{}, err
	}
	ids, err := p.updatedBy(m)
	if len(ids) == 0 || err != nil {
		return policy.Verdict{}, err
	}
	return p.checkIDsAtDoor(ctx, r, ids)
}

// mayUpdate tells whether a text has the name of a tool that may update orders.
func mayUpdate(text string) bool {
	text = dashed(text)
	return strings.Contains(text, updateTool) || strings.Contains(text, restTool)
}

// namesUpdate tells whether a text has the name of a tool that updates orders.
func namesUpdate(text string) bool { return strings.Contains(dashed(text), updateTool) }

// namesOrder tells whether a text has a part of a route that updates orders. The platform
// matches the route of an inner call as it is, without regard to case: without this text
// there is no such route.
func namesOrder(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "/orders/") || strings.Contains(text, "batch/v1")
}

// restTool runs any REST call inside the platform (docs/platform IV.5).
const restTool = "run-api-function"

func runsREST(name string) bool { return strings.HasSuffix(dashed(name), restTool) }

// updatedInside returns the ids of the records that an inner call updates. The tool takes
// route, method and data as they are (docs/platform IV.5), so each form that passes is exact:
//   - a method that changes nothing, since inner calls have no method override,
//   - a route of plain letters that is none of the guarded ones, since the platform compares
//     it without decoding or cleaning it,
//   - a guarded route whose ids, in the route and in data, are plain digits. The platform takes
//     that in data (docs/platform I.3); that in the route is held against the rules as well.
func (p *OrderType) updatedInside(m *mcp.Message) ([]uint64, error) {
	var saidRoute, saidMethod any
	err := eachArgument(m, func(name []byte, value jsontext.Value) {
		switch string(name) {
		case "route":
			saidRoute = jsonscan.Plain(value)
		case "method":
			saidMethod = jsonscan.Plain(value)
		}
	})
	if err != nil {
		return nil, err
	}
	route, isRoute := saidRoute.(string)
	method, isMethod := saidMethod.(string)
	method = strings.ToUpper(method)
	switch {
	case !isRoute || !isMethod:
		return nil, call.Ambiguous("inner_route")
	case !p.changes(method):
		return nil, nil
	}
	key := "/" + strings.ToLower(strings.Trim(route, "/"))
	if !plainRoute(key) || leadsOn(key) {
		return nil, call.Ambiguous("inner_route")
	}
	param, inPath, guarded := p.guards(method, key)
	if !guarded {
		return nil, nil
	}
	return innerIDs(m, param, inPath)
}

// maxInside bounds the ids of one inner call. No server takes data by so many names, and each id is
// looked for among all proofs.
const maxInside = 16

// innerIDs returns the id in a route, and those in the objects beside it: some servers take
// data by another name.
func innerIDs(m *mcp.Message, param, inPath string) ([]uint64, error) {
	var ids []uint64
	plainIDs, plainData := true, true
	add := func(said any) {
		id, ok := call.ParseID(said)
		ids, plainIDs = append(ids, id), plainIDs && ok
	}
	add(inPath)
	err := eachArgument(m, func(name []byte, data jsontext.Value) {
		if string(name) == "route" || string(name) == "method" || data.Kind() == 'n' || jsonscan.EmptyList(data) {
			return
		}
		plainData = jsonscan.Each(data, func(name []byte, value jsontext.Value) {
			if string(name) == param && len(ids) <= maxInside {
				add(jsonscan.Plain(value))
			}
		}) && plainData
	})
	switch {
	case err != nil:
		return nil, err
	case !plainData, len(ids) > maxInside:
		return nil, call.Ambiguous("inner_data")
	case !plainIDs:
		return nil, call.Ambiguous("id")
	}
	return ids, nil
}

// plainRoute tells whether a key has nothing that any reader would decode, cut off or clean.
func plainRoute(key string) bool {
	return !strings.Contains(key, "//") && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789/_-") == ""
}

// leadsOn tells whether a route runs further calls: batches, servers of tools, and the ability
// that updates orders.
func leadsOn(key string) bool {
	return key == "/batch/v1" || strings.HasSuffix(key, "/orders/batch") || message.NamesTools(key) || namesUpdate(key)
}

// checkIDsAtDoor proves that ids are orders. Servers of tools know callers in ways of their
// own (docs/platform IV.4), so who is anonymous to the platform may be an administrator to
// them: only the credential of order_type can tell what the record is.
func (p *OrderType) checkIDsAtDoor(ctx context.Context, r *policy.Request, ids []uint64) (policy.Verdict, error) {
	claim, err := r.Claim()
	if err != nil {
		return policy.Verdict{}, err
	}
	open, err := p.unproven(ctx, r, claim, ids)
	if len(open) == 0 || err != nil {
		return policy.Verdict{}, err
	}
	known := !shop.IsNobody(claim)
	if known && claim.Verifiable() && p.Credential != "" {
		who, answer, err := r.Who(ctx)
		if err != nil {
			return policy.Verdict{}, err
		}
		known = answer != nil || who.Kind != caller.Anonymous
	}
	var found proof
	switch {
	case known:
		found, err = p.prove(ctx, r, claim, open)
	case p.Credential == "" && claim == caller.ClaimNothing && !r.IgnoresCookie():
		return p.nobodyMayRun(), nil
	default:
		found, err = p.proveUnverified(ctx, r, open)
	}
	if err != nil {
		return policy.Verdict{}, err
	}
	return p.verdict(r, found), nil
}
