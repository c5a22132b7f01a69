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
	m, body, err := message.Mentioning(r, mayUpdate)
	if m == nil && err != nil && body != nil && !mcp.Mentions(body, func(text string) bool { return namesUpdate(text) || namesOrder(text) }) {
		err = nil
	}
	if m == nil || err != nil {
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
	return namesUpdate(text) || message.NamesRESTTool(text)
}

// namesUpdate tells whether a text has the name of a tool that updates orders.
func namesUpdate(text string) bool { return strings.Contains(message.Dashed(text), updateTool) }

// namesOrder tells whether a text has a part of a route that updates orders. The platform
// matches the route of an inner call as it is, without regard to case: without this text
// there is no such route.
func namesOrder(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "/orders/") || strings.Contains(text, "batch/v1")
}

// updatedInside returns the ids of the records that an inner call updates. The tool takes
// route, method and data as they are (docs/platform IV.5), so each form that passes is exact:
//   - a method that changes nothing, since inner calls have no method override,
//   - a route of plain letters that is none of the guarded ones, since the platform compares
//     it without decoding or cleaning it,
//   - a guarded route whose ids, in the route and in data, are plain digits. The platform takes
//     that in data (docs/platform I.3); that in the route is held against the rules as well.
func (p *OrderType) updatedInside(m *mcp.Message, in message.Inside) ([]uint64, error) {
	if !p.changes(in.Method) {
		return nil, nil
	}
	if err := in.Certain(); err != nil {
		return nil, err
	}
	if namesUpdate(in.Key) { // the ability that updates orders
		return nil, call.Ambiguous("inner_route")
	}
	param, inPath, guarded := p.guards(in.Method, in.Key)
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
	err := message.EachArgument(m, func(name []byte, data jsontext.Value) {
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
