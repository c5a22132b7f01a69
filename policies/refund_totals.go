package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
)

// refundTotalsEntry is the policy in the catalog.
var refundTotalsEntry = policy.Entry{
	Name:    "refund_totals",
	Words:   []string{"refund_totals"},
	Default: true,
	New:     func() policy.Policy { return new(RefundTotals) },
	Codes:   []policy.Code{policy.CodeComputeTotals, ask.CodeCannotCreate, policy.CodePlatform},
}

// RefundTotals refuses a refund that asks the server to compute its totals if the release
// would ignore the field and book 0.00 (docs/project/interface E5; docs/platform III.10).
type RefundTotals struct {
	site    *policy.Site
	named   bool
	refunds []routes.Pattern
}

// schemaTTL is how long the answer about the field is believed. It changes only with an
// upgrade of the shop.
const schemaTTL = time.Minute

// Provision builds the route patterns.
func (p *RefundTotals) Provision(site *policy.Site, settings policy.Settings) error {
	p.site, p.named = site, settings.Named
	for _, ns := range append(slices.Clone(site.Platform.Shop), site.Platform.Analytics) {
		p.refunds = append(p.refunds, routes.MustPattern("/"+ns+"/orders/:order_id/refunds"))
	}
	return nil
}

// refundAnswers is what the platform has said while one request is judged. None of it is about
// a single order.
type refundAnswers struct {
	known   map[string]bool // by namespace
	asked   bool            // whether the caller may refund
	refusal *ask.Answer     // nil if so
}

// said keeps what the platform has said. The parts of a batch share it, and the reading of a call without its
// override header.
var said = policy.NewSlot[refundAnswers](policy.OfRequest)

func saidOf(r *policy.Request) *refundAnswers {
	if said.Get(r) == nil {
		said.Set(r, new(refundAnswers))
	}
	return said.Get(r)
}

// Check asks whether the release knows the field, if the call sets it.
func (p *RefundTotals) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if r.Call.Kind == call.Batch {
		saidOf(r) // for all parts, which have one caller
	}
	if !p.named && p.site.Release.Configured(11, 1) || r.Call.Kind != call.Single || !call.Updates(r.Call.Method) {
		return policy.Verdict{}, nil
	}
	i := slices.IndexFunc(p.refunds, func(pattern routes.Pattern) bool { return pattern.Match(r.Call.Key) })
	if i < 0 {
		return policy.Verdict{}, nil
	}
	v, set, err := r.Call.Scalar("compute_totals") // an array is true, whatever it holds
	if err != nil || !set || !truthy(v) {
		return policy.Verdict{}, err
	}
	namespace := strings.TrimPrefix(strings.TrimSuffix(p.refunds[i].String(), "/orders/:order_id/refunds"), "/")
	claim, err := r.Claim()
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case claim == caller.ClaimNothing:
		return shop.NobodyMayWrite(ctx, r, p.cureNobody()), nil
	}
	said := saidOf(r)
	known, asked := said.known[namespace]
	if !asked {
		var refusal *ask.Answer
		switch known, refusal, err = p.known(ctx, r, namespace, claim); {
		case err != nil:
			return policy.Verdict{}, err
		case refusal != nil:
			return policy.InPlatformWords(refusal), nil
		}
		if said.known == nil {
			said.known = map[string]bool{}
		}
		said.known[namespace] = known
	}
	if known {
		return policy.Verdict{}, nil
	}
	if !said.asked {
		if said.refusal, err = p.mayNot(ctx, r, claim); err != nil {
			return policy.Verdict{}, err
		}
		said.asked = true
	}
	if refusal := said.refusal; refusal != nil {
		return policy.InPlatformWords(refusal.DeniedWrite(&p.site.Platform, r.Call)), nil
	}
	return policy.Verdict{
		Status: http.StatusBadRequest, Code: p.site.Code(policy.CodeComputeTotals),
		Message: "This shop cannot compute the totals of a refund: compute_totals needs release 11.1 or later.",
	}, nil
}

// mayNot returns the platform's refusal if the caller may not even read refunds, or has a key
// that only reads, so that
// a caller without rights gets the same answer on every release. It returns nil for
// callers that the platform cannot be asked about and for write-only keys; these get the
// gateway's refusal.
func (p *RefundTotals) mayNot(ctx context.Context, r *policy.Request, claim caller.Claim) (*ask.Answer, error) {
	if claim != caller.ClaimUser && claim != caller.ClaimKey {
		return nil, nil
	}
	a, err := r.Ask(ctx, ask.Question{Kind: ask.KindCaller, Route: "/" + p.site.Platform.Shop[2] + "/orders/0/refunds"})
	if err != nil {
		return nil, fmt.Errorf("may the caller refund: %w", err)
	}
	if a.Refuses() && !a.MayNotRead() {
		return a, nil
	}
	if claim == caller.ClaimKey {
		return shop.ReadOnly(ctx, r, r.Ask)
	}
	return nil, nil
}

// truthy tells whether the platform could take v for true: any value except its spellings
// of false.
func truthy(v any) bool {
	switch strings.ToLower(fmt.Sprint(v)) {
	case "false", "0", "", "<nil>":
		return false
	}
	return true
}

// known asks the refund route for its schema, as nobody first: it is the same for everybody. Only
// the content counts, since a missing route answers 200 too. A refusal is that of the caller's own
// credentials.
func (p *RefundTotals) known(ctx context.Context, r *policy.Request, namespace string, claim caller.Claim) (known bool, refusal *ask.Answer, err error) {
	key := "schema:" + r.Site.Shop(r) + ":" + namespace
	if v, ok, err := r.Site.Store.Get(ctx, key); err == nil && ok {
		r.Whole.Trace.Remembered(ask.KindSchema)
		return v == "1", nil, nil
	}
	q := ask.Question{Kind: ask.KindSchema, As: ask.AsNobody, Method: http.MethodOptions, Route: "/" + namespace + "/orders/0/refunds"}
	a, err := r.Ask(ctx, q)
	if err == nil && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) {
		q.As = ask.AsCaller // the site is closed to nobody
		a, err = r.Ask(ctx, q)
	}
	switch {
	case err != nil:
		return false, nil, fmt.Errorf("does the shop know compute_totals: %w", err)
	case q.As == ask.AsCaller && refusesCaller(a, claim):
		return false, a, nil
	case a.Status != http.StatusOK:
		return false, nil, fmt.Errorf("does the shop know compute_totals: %w", ask.Unexpected(a))
	}
	if known, err = listsArgument(a.Body, "compute_totals"); err != nil {
		return false, nil, err
	}
	value := map[bool]string{false: "0", true: "1"}[known]
	_ = r.Site.Store.Set(ctx, key, value, schemaTTL) // a lost answer costs one more question
	return known, nil, nil
}

// refusesCaller tells whether a, to a question for a schema, refuses the caller's credentials. No
// right is needed for a schema, so that the call would get the same. A signature fits no question.
func refusesCaller(a *ask.Answer, claim caller.Claim) bool {
	return (claim == caller.ClaimUser || claim == caller.ClaimKey) && a.Refuses() && !a.MayNotRead() &&
		(a.Status == http.StatusUnauthorized || a.Code() == "rest_cookie_invalid_nonce")
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
		return false, fmt.Errorf("%w: the schema does not parse: %w", ask.ErrUndecided, err)
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

func (p *RefundTotals) cureNobody() string {
	return shop.CureNobody("refund_totals", p.named, "11.1", "release 11.1", "book refunds of 0.00")
}

// Why implements [policy.Explainer].
func (p *RefundTotals) Why(v policy.Verdict) string {
	if v.Code == p.site.Code(policy.CodeComputeTotals) {
		return "This release of the shop would not compute the amount of the refund."
	}
	return ""
}
