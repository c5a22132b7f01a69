// Package ordertype is the policy order_type: an update of an order that is aimed at another kind of record is
// refused.
package ordertype

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:    "order_type",
	Words:   []string{"order_type"},
	Default: true,
	New:     func() policy.Policy { return new(OrderType) },
	Codes:   []policy.Code{policy.CodeInvalidID, ask.CodeCannotBatch, ask.CodeCannotCreate, ask.CodeCannotDelete, ask.CodeCannotEdit, policy.CodeForbidden, policy.CodeTooMany, policy.CodePlatform},
}

// OrderType refuses an update through an order route of a record that is not an order:
// releases before 10.8 turn the record into one (docs/project/interface 3; docs/platform III.1). It
// also refuses the update of one missing order, in the words of release 10.8.
type OrderType struct {
	// Credential is a read-only shop key "key:secret" of the gateway itself, for
	// questions that the caller may not ask.
	Credential string `json:"credential,omitempty"`
	// Strict covers deletes and refunds too, which no release checks.
	Strict bool `json:"strict,omitempty"`

	site   *policy.Site
	named  bool
	at     string           // where the policy is configured, "Caddyfile:12"
	orders []routes.Pattern // update routes: …/orders/:id
	subs   []routes.Pattern // sub-routes with an order's id: …/orders/:order_id/refunds
	ends   []routes.Pattern // orders, and that of v1, which checks types itself but deletes all the same
	lists  []string         // keys of the routes whose answers prove ids
	mcp    string           // key of the tool server's route
	late   lateProofs
	roots  hosts.Table[rootSeen] // by Site.shop
}

// proofTTL is how long the proof "is an order" is believed. Only a delete ends it early,
// and the gateway sees deletes. docs/policies/order_type.md states the time, too.
const proofTTL = 10 * time.Minute

// Configure takes order_type [{ credential <key:secret>  strict }].
func (p *OrderType) Configure(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("order_type takes a block, no arguments")
	}
	return o.Each(func(o policy.Option) (err error) {
		switch o.Name {
		case "credential":
			p.Credential, err = o.One()
			if err == nil && policy.Blank(p.Credential) {
				err = o.Errorf("credential is empty")
			}
		case "strict":
			p.Strict = true
			err = o.None()
		default:
			err = o.UnknownIn("credential", "strict")
		}
		return err
	})
}

// Secrets returns the credential.
func (p *OrderType) Secrets() []policy.Secret {
	if p.Credential == "" {
		return nil
	}
	return []policy.Secret{{Text: &p.Credential}}
}

// Provision checks the credential and builds the route patterns.
func (p *OrderType) Provision(site *policy.Site, settings policy.Settings) error {
	p.site, p.named, p.at = site, settings.Named, settings.At
	site.Foresee = p.foresee
	if p.Credential != "" {
		key, secret, ok := strings.Cut(p.Credential, ":")
		if !ok || policy.Blank(key) || policy.Blank(secret) {
			return errors.New("credential is not of the form key:secret")
		}
		if strings.HasPrefix(key, "cs_") && strings.HasPrefix(secret, "ck_") {
			return errors.New("credential has the secret before the key: it is key:secret")
		}
	}
	pl := site.Platform
	p.mcp = "/" + pl.MCP
	p.lists = []string{"/" + pl.Shop[1] + "/orders", "/" + pl.Shop[2] + "/orders"}
	for _, ns := range []string{pl.Shop[1], pl.Shop[2], pl.Analytics} {
		p.orders = append(p.orders, routes.MustPattern("/"+ns+"/orders/:id"))
		p.subs = append(p.subs, routes.MustPattern("/"+ns+"/orders/:order_id/refunds"))
	}
	p.ends = append(slices.Clip(p.orders), routes.MustPattern("/"+pl.Shop[0]+"/orders/:id"))
	return nil
}

// Check judges one call.
func (p *OrderType) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if p.notNeeded() {
		return policy.Verdict{}, nil
	}
	ids, err := p.guardedIDs(r.Call)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case len(ids) > 0:
		return p.checkIDs(ctx, r, ids)
	case r.Call.Key == p.mcp && r.Call.Method == http.MethodPost:
		return p.checkTool(ctx, r)
	case r.HTTP.ContentLength != 0 && message.ToTools(r):
		return p.checkDoor(ctx, r)
	}
	return policy.Verdict{}, nil
}

// CheckBatch judges all ids of a batch together.
func (p *OrderType) CheckBatch(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if p.notNeeded() {
		return policy.Verdict{}, nil
	}
	var ids []uint64
	for _, part := range r.Call.Parts {
		of, err := p.guardedIDs(part)
		if err != nil {
			return policy.Verdict{}, err
		}
		ids = append(ids, of...)
	}
	if len(ids) == 0 {
		return policy.Verdict{}, nil
	}
	verdict, err := p.checkIDs(ctx, r, ids)
	if refused, _ := verdict.Data["ids"].([]uint64); len(refused) > 0 {
		verdict.Parts = p.partsOf(r, refused, verdict)
	}
	return verdict, err
}

// partsOf returns the parts of a batch that would change one of ids.
func (p *OrderType) partsOf(r *policy.Request, ids []uint64, v policy.Verdict) (parts []policy.Part) {
	for _, part := range r.Call.Parts {
		of, _ := p.guardedIDs(part) // CheckBatch has looked at the errors
		if slices.ContainsFunc(of, func(id uint64) bool { return slices.Contains(ids, id) }) {
			parts = append(parts, policy.Part{Call: part, Verdict: v})
		}
	}
	return parts
}

// notNeeded is true if the shop is configured as a release that checks by itself and the
// configuration does not name the policy. A missing guard costs data, a needless one
// costs a question.
func (p *OrderType) notNeeded() bool {
	return !p.named && p.site.Release.Configured(10, 8)
}

// guardedIDs returns the ids that c may change through an order route.
func (p *OrderType) guardedIDs(c *call.Call) ([]uint64, error) {
	param, inPath, guarded := p.guards(c.Method, c.Key)
	if !guarded {
		return nil, nil
	}
	return c.IDs(param, inPath)
}

// guards tells whether calls with a method and the key of a route are guarded. param is the
// parameter with the id of the record, and inPath what the route has for it.
func (p *OrderType) guards(method, key string) (param, inPath string, guarded bool) {
	for i := range p.orders {
		if p.orders[i].Match(key) && p.changes(method) {
			return "id", p.orders[i].Group(key, "id"), true
		}
		if p.Strict && method == http.MethodPost && p.subs[i].Match(key) {
			return "order_id", p.subs[i].Group(key, "order_id"), true
		}
	}
	return "", "", false
}

// changes tells whether the policy guards calls with a method at all.
func (p *OrderType) changes(method string) bool {
	return call.Updates(method) || p.Strict && method == http.MethodDelete
}

// checkIDs proves that all ids are orders, or left to the platform.
func (p *OrderType) checkIDs(ctx context.Context, r *policy.Request, ids []uint64) (policy.Verdict, error) {
	claim, err := r.Claim()
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case shop.IsNobody(claim):
		return shop.NobodyMayWrite(ctx, r, p.cureNobody()), nil
	}
	open, err := p.unproven(ctx, r, claim, ids)
	if len(open) == 0 || err != nil {
		return policy.Verdict{}, err
	}
	result, err := p.prove(ctx, r, claim, open)
	if err != nil {
		return policy.Verdict{}, err
	}
	return p.verdict(r, result), nil
}

func (p *OrderType) verdict(r *policy.Request, found proof) policy.Verdict {
	switch {
	case found.answer != nil:
		v := policy.InPlatformWords(found.answer)
		switch {
		case p.Credential == "" && found.answer.MayNotRead():
			v.Note = "The key is good, but may not read, so that it may not ask what the record is. " + curesOrderType
		default:
			v.Note = shop.NoteOnKey(r)
		}
		if v.Note == "" && p.Credential == "" {
			v.Note = "The caller may not read orders. " + curesOrderType
		}
		return v
	case len(found.others) == 0:
		return policy.Verdict{}
	case found.secret:
		return policy.Forbidden()
	}
	v := policy.Verdict{Status: http.StatusBadRequest, Code: p.site.Code(policy.CodeInvalidID), Message: "ID is invalid."}
	if r.Call.Kind == call.Batch {
		v.Data = map[string]any{"ids": found.others}
	}
	return v
}

// Why implements [policy.Explainer].
func (p *OrderType) Why(v policy.Verdict) string {
	switch {
	case v.Answer != nil && v.Answer.PlainCode() != "":
		return fmt.Sprintf("Asked as this caller what the record is, the platform says %s.", v.Answer.PlainCode())
	case v.Code == p.site.Code(policy.CodeInvalidID):
		return "The id is none that this route may change."
	}
	return ""
}
