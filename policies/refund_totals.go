package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// RefundTotals refuses a refund that asks the server to compute its totals on a
// release that would ignore the field and book 0.00 (docs/interface E5;
// docs/platform III.10).
type RefundTotals struct {
	Common

	site    *Site
	refunds []call.Pattern
}

// schemaTTL is how long the answer about the field is believed; it changes only
// with an upgrade of the shop.
const schemaTTL = time.Minute

// Configure takes what all policies take.
func (p *RefundTotals) Configure(o Option) error { return p.onlyCommon(o) }

// Provision works out the routes.
func (p *RefundTotals) Provision(site *Site) error {
	p.site = site
	for _, ns := range append(slices.Clone(site.Platform.Shop), site.Platform.Analytics) {
		p.refunds = append(p.refunds, call.MustPattern("/"+ns+"/orders/:order_id/refunds"))
	}
	return nil
}

// Check asks whether the release knows the field, where a call sets it.
func (p *RefundTotals) Check(ctx context.Context, r *Request) (Verdict, error) {
	if !p.Named() && p.site.Release.Configured(11, 1) || r.Call.Kind != call.Single || !writes(r.Call.Method) {
		return Verdict{}, nil
	}
	i := slices.IndexFunc(p.refunds, func(pattern call.Pattern) bool { return pattern.Match(r.Call.Key) })
	if i < 0 {
		return Verdict{}, nil
	}
	v, set, err := r.Call.Param("compute_totals")
	if err != nil || !set || !truthy(v) {
		return Verdict{}, err
	}
	namespace := strings.TrimPrefix(strings.TrimSuffix(p.refunds[i].String(), "/orders/:order_id/refunds"), "/")
	claim, err := r.Site.claimOf(r.memo().of)
	if err != nil || claim == claimsNothing {
		return Verdict{}, err // the platform refuses anonymous callers itself
	}
	known, err := p.known(ctx, r, namespace)
	if known || err != nil {
		return Verdict{}, err
	}
	refusal, err := p.mayNot(ctx, r, claim)
	switch {
	case err != nil:
		return Verdict{}, err
	case refusal != nil:
		return inPlatformWords(refusal.DeniedWrite(&p.site.Platform, r.Call)), nil
	}
	return Verdict{
		Status: http.StatusBadRequest, Code: p.site.Code(codeComputeTotals),
		Message: "This shop cannot compute the totals of a refund: compute_totals needs release 11.1 or later.",
	}, nil
}

// mayNot returns the platform's refusal where the caller may not even read
// refunds: who has no rights gets the platform's words whatever the release is.
// Callers that cannot be asked about, and keys that only write, get ours.
func (p *RefundTotals) mayNot(ctx context.Context, r *Request, claim claim) (*Answer, error) {
	if claim != claimsUser && claim != claimsKey {
		return nil, nil
	}
	whole := r.memo().of
	a, err := r.Backend.Ask(ctx, Question{
		Kind: LookupCaller, As: AsCaller, Route: "/" + p.site.Platform.Shop[2] + "/orders/0/refunds",
		Query: r.Site.withCredentials(whole.Call, claim, ""), Base: whole.Call.Base, Form: whole.Call.Form != call.Pretty,
	})
	if err != nil {
		return nil, fmt.Errorf("may the caller refund: %w", err)
	}
	if a.Denied() && a.Code() != "" && !writeOnly(a) {
		return a, nil
	}
	return nil, nil
}

// truthy tells whether the platform could take v for true: everything but its
// spellings of false.
func truthy(v any) bool {
	switch strings.ToLower(fmt.Sprint(v)) {
	case "false", "0", "", "<nil>":
		return false
	}
	return true
}

// known asks for the schema of the refund route; the content counts, since a
// missing route answers 200 too.
func (p *RefundTotals) known(ctx context.Context, r *Request, namespace string) (bool, error) {
	key := "schema:" + p.site.place(r) + ":" + namespace
	if v, ok, err := r.Site.Store.Get(ctx, key); err == nil && ok {
		r.Site.remembered(LookupSchema)
		return v == "1", nil
	}
	a, err := r.Backend.Ask(ctx, Question{
		Kind: LookupSchema, Method: http.MethodOptions, Route: "/" + namespace + "/orders/0/refunds",
		As: AsNobody, Base: r.Call.Base, Form: r.Call.Form != 0,
	})
	if err != nil {
		return false, fmt.Errorf("does the shop know compute_totals: %w", err)
	}
	if a.Status != http.StatusOK {
		return false, fmt.Errorf("does the shop know compute_totals: %w", Unexpected(a))
	}
	known, err := listsArgument(a.Body, "compute_totals")
	if err != nil {
		return false, err
	}
	value := "0"
	if known {
		value = "1"
	}
	_ = r.Site.Store.Set(ctx, key, value, schemaTTL) // losing it costs one more question
	return known, nil
}

// listsArgument looks for an argument of the POST endpoint in the answer to an
// OPTIONS request. PHP writes [] for a route that does not exist.
func listsArgument(body []byte, name string) (bool, error) {
	if strings.TrimSpace(string(body)) == "[]" {
		return false, nil
	}
	var schema struct {
		Endpoints []struct {
			Methods []string        `json:"methods"`
			Args    json.RawMessage `json:"args"`
		} `json:"endpoints"`
	}
	if err := json.Unmarshal(body, &schema); err != nil {
		return false, fmt.Errorf("%w: the schema does not parse: %w", ErrUndecided, err)
	}
	for _, e := range schema.Endpoints {
		var args map[string]json.RawMessage
		if slices.Contains(e.Methods, http.MethodPost) && json.Unmarshal(e.Args, &args) == nil {
			if _, ok := args[name]; ok {
				return true, nil
			}
		}
	}
	return false, nil
}
