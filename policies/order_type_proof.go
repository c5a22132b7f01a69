package policies

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// record is what is known of an id.
type record uint8

const (
	isOrder  record = iota // proven
	missing                // no record, or none of the shop's: the platform refuses it itself
	notOrder               // a record that is not an order
	hidden                 // the asker may not read orders
	secret                 // not an order, but not to be said to just anybody
)

// proof is what the platform said of an id, to the caller's question or to the
// gateway's own.
type proof struct {
	is     record
	answer *Answer // the caller is refused in the platform's words
}

// prove asks what id is, first as the caller, so that somebody without rights
// gets the platform's own refusal whatever the record is (design 8).
func (p *OrderType) prove(ctx context.Context, r *Request, claim claim, id uint64) (proof, error) {
	if claim == claimsOAuth1 || claim == claimsJetpack {
		return p.proveUnverified(ctx, r, id)
	}
	own, refusal, err := p.recordOf(ctx, r, p.asCaller(r, claim), id)
	if err != nil || own != hidden {
		return proof{is: own}, err
	}
	if p.Credential == "" {
		return proof{answer: refusal}, nil
	}
	is, _, err := p.recordOf(ctx, r, p.asGateway(r), id)
	if err != nil || is != notOrder {
		return proof{is: is}, err
	}
	may, err := p.mayWrite(ctx, r, refusal)
	if err != nil || may {
		return proof{is: notOrder}, err
	}
	return proof{answer: refusal}, nil
}

// proveUnverified asks with the gateway's own key about a caller that nobody
// can be asked about. What is not an order is refused as forbidden: the caller
// may be anybody.
func (p *OrderType) proveUnverified(ctx context.Context, r *Request, id uint64) (proof, error) {
	if p.Credential == "" {
		return proof{}, fmt.Errorf("%w: the caller cannot be asked about; order_type { credential … } would help", ErrUndecided)
	}
	is, refusal, err := p.recordOf(ctx, r, p.asGateway(r), id)
	switch {
	case err == nil && is == hidden:
		err = unexpected(refusal)
	case is == notOrder:
		is = secret
	}
	return proof{is: is}, err
}

// mayWrite tells whether a caller who may not read orders may change them
// nevertheless: write-only keys, and editors where orders borrow the rights of
// posts (platform-facts III.1).
func (p *OrderType) mayWrite(ctx context.Context, r *Request, refusal *Answer) (bool, error) {
	if _, message := errorMessage(refusal); strings.Contains(message, "read permissions") {
		return true, nil
	}
	caller, _, err := r.Who(ctx)
	if err != nil {
		return false, err
	}
	return caller.Capabilities["edit_others_posts"] || caller.Capabilities["edit_others_shop_orders"], nil
}

// asker builds the questions of one caller, or of the gateway.
type asker func(route, query string) Question

func (p *OrderType) asCaller(r *Request, claim claim) asker {
	whole := r.memo().of
	return func(route, query string) Question {
		q := Question{
			Kind: LookupRecord, As: AsCaller, Route: route, Query: query, Base: whole.Call.Base,
			Form: whole.Call.Form != 0, Pretty: claim == claimsKey,
		}
		q.Query = r.Site.withCredentials(whole.Call, claim, q.Query)
		return q
	}
}

func (p *OrderType) asGateway(r *Request) asker { return p.withKey(r, p.Credential) }

func (p *OrderType) withKey(r *Request, key string) asker {
	return func(route, query string) Question {
		return Question{
			Kind: LookupRecord, As: AsKey, Key: key, Route: route, Query: query,
			Base: r.memo().of.Call.Base, Pretty: true,
		}
	}
}

// recordOf asks for note 0 of the order: "no such note" for an order, "no such
// order" for anything else (platform-facts III.3). refusal is the platform's
// answer where the asker may not read.
func (p *OrderType) recordOf(ctx context.Context, r *Request, as asker, id uint64) (record, *Answer, error) {
	orders := fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[2], id)
	a, err := r.Backend.Ask(ctx, as(orders+"/notes/0", ""))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	code := errorCode(a)
	switch {
	case a.Status == http.StatusNotFound && code == p.site.Platform.ErrorPrefix+"invalid_id":
		p.remember(ctx, r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && code == p.site.Platform.ErrorPrefix+"order_invalid_id":
		return p.missingOrNot(ctx, r, as(orders, "_fields=id"), id)
	case a.Status == http.StatusNotFound && code == string(CodeNoRoute):
		return p.recordOfV1(ctx, r, as, id)
	case refused(a) && code != "":
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, unexpected(a))
}

// recordOfV1 asks the v1 route, which checks the type itself, where there are
// no notes.
func (p *OrderType) recordOfV1(ctx context.Context, r *Request, as asker, id uint64) (record, *Answer, error) {
	a, err := r.Backend.Ask(ctx, as(fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[0], id), ""))
	if err != nil {
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	}
	switch {
	case a.Status == http.StatusOK:
		p.remember(ctx, r, id)
		return isOrder, nil, nil
	case a.Status == http.StatusNotFound && errorCode(a) == string(CodeNoRoute):
		return missing, nil, nil // there is no shop
	case a.Status == http.StatusNotFound && errorCode(a) != "":
		return p.missingOrNot(ctx, r, as(fmt.Sprintf("/%s/orders/%d", p.site.Platform.Shop[2], id), "_fields=id"), id)
	case refused(a) && errorCode(a) != "":
		return hidden, a, nil
	}
	return 0, nil, fmt.Errorf("what is order %d: %w", id, unexpected(a))
}

// missingOrNot tells what the order route would not find, and so refuses
// itself, from what it would take for an order.
func (p *OrderType) missingOrNot(ctx context.Context, r *Request, q Question, id uint64) (record, *Answer, error) {
	a, err := r.Backend.Ask(ctx, q)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("what is order %d: %w", id, err)
	case a.Status == http.StatusNotFound && errorCode(a) != "":
		return missing, nil, nil
	}
	return notOrder, nil, nil
}

func refused(a *Answer) bool {
	return a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
}

// checkTool judges the shop's tool server: its order-update tool is one more
// door to the same update (platform-facts III.7). Lists of several messages
// cannot be told apart here and are refused.
func (p *OrderType) checkTool(ctx context.Context, r *Request) (Verdict, error) {
	method, set, err := r.Call.Param("method")
	if err != nil {
		return Verdict{}, err
	}
	if !set {
		return Verdict{}, ambiguous("tool_calls")
	}
	if method != "tools/call" {
		return Verdict{}, nil
	}
	params, _, err := r.Call.Param("params")
	if err != nil {
		return Verdict{}, err
	}
	fields, _ := params.(map[string]any)
	name, _ := fields["name"].(string)
	if !strings.HasSuffix(strings.NewReplacer("/", "-", "_", "-").Replace(strings.ToLower(name)), "orders-update") {
		return Verdict{}, nil
	}
	arguments, _ := fields["arguments"].(map[string]any)
	id, err := plainID(arguments["id"])
	if err != nil {
		return Verdict{}, err
	}
	key := r.HTTP.Header.Get("X-Mcp-Api-Key")
	if key == "" {
		return Verdict{}, nil // anonymous: the platform refuses it itself
	}
	is, refusal, err := p.recordOf(ctx, r, p.withKey(r, key), id)
	if err != nil {
		return Verdict{}, err
	}
	if is == hidden && p.Credential != "" {
		is, refusal, err = p.recordOf(ctx, r, p.asGateway(r), id)
	}
	if is == hidden {
		return inPlatformWords(refusal), err
	}
	return p.verdict([]proof{{is: is}}, []uint64{id}, false), err
}
