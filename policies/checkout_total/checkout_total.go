// Package checkouttotal is the policy checkout_total: a checkout whose total is not the one that the client saw
// is refused.
package checkouttotal

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:    "checkout_total",
	Words:   []string{"checkout_total"},
	Default: true,
	New:     func() policy.Policy { return new(CheckoutTotal) },
	Codes:   []policy.Code{policy.CodeTotalMismatch, policy.CodeInvalidParam, policy.CodePlatform},
}

// CheckoutTotal refuses a checkout whose expected_total differs from what the server
// would charge, so that no order is confirmed at a total that the shopper has not seen
// (docs/project/interface E10 and section 7; docs/platform III.9).
type CheckoutTotal struct {
	// Refuse is "differs" (the default) or "higher": refuse only if the shopper would pay
	// more.
	Refuse string `json:"refuse,omitempty"`

	site     *policy.Site
	named    bool
	checkout string // key of the route
}

// Configure takes checkout_total [{ differs | higher }].
func (p *CheckoutTotal) Configure(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("checkout_total takes a block, no arguments")
	}
	return o.Each(func(o policy.Option) error {
		if o.Name != "differs" && o.Name != "higher" {
			return o.UnknownIn("differs", "higher")
		}
		if p.Refuse != "" {
			return o.Errorf("%s: %s is already specified", o.Name, p.Refuse)
		}
		p.Refuse = o.Name
		return o.None()
	})
}

// Provision checks the option.
func (p *CheckoutTotal) Provision(site *policy.Site, settings policy.Settings) error {
	p.site, p.named, p.checkout = site, settings.Named, "/"+site.Platform.Checkout+"/checkout"
	return typo.CheckOption("refuse", p.Refuse, "differs", "higher")
}

// Check compares the total of a checkout that states one.
func (p *CheckoutTotal) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if r.Call.Kind != call.Single || !p.isCheckout(r.Call) || p.notNeeded() {
		return policy.Verdict{}, nil
	}
	return p.compare(ctx, r)
}

// CheckBatch compares the total of the last checkout in a batch that states one. If other
// parts change the cart, the total cannot be known beforehand.
func (p *CheckoutTotal) CheckBatch(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if p.notNeeded() {
		return policy.Verdict{}, nil
	}
	var stated *call.Call
	changes := 0
	for _, part := range r.Call.Parts {
		if call.Updates(part.Method) || part.Method == http.MethodDelete {
			changes++
		}
		if !p.isCheckout(part) {
			continue
		}
		if _, states, err := expectedTotal(part); err != nil {
			return policy.Verdict{}, err
		} else if states {
			stated = part
		}
	}
	switch {
	case stated == nil:
		return policy.Verdict{}, nil
	case changes > 1:
		return policy.Verdict{}, call.Ambiguous("cart_batch")
	}
	return p.compare(ctx, r.Part(stated))
}

// notNeeded is true if the shop is configured as a release that checks by itself and the
// configuration does not name the policy. What a REST root lists proves no release.
func (p *CheckoutTotal) notNeeded() bool {
	return !p.named && p.site.Release.Configured(11, 1)
}

func (p *CheckoutTotal) isCheckout(c *call.Call) bool {
	return c.Method == http.MethodPost && c.Key == p.checkout
}

// expectedTotal reads the total that the shopper saw, in minor units. states is false for
// an absent or empty value.
func expectedTotal(c *call.Call) (total int64, states bool, err error) {
	v, _, err := c.Scalar("expected_total")
	if err != nil || v == nil || v == "" {
		return 0, false, err
	}
	total, ok := integer(v)
	if !ok {
		return 0, true, &call.Refusal{Status: http.StatusBadRequest, Code: policy.CodeInvalidParam, Reason: "expected_total"}
	}
	return total, true, nil
}

// checkoutVariables are those of a checkout, or of a batch with one, that the platform, its scripts
// and translations of it send, beside the platform's nonce.
var checkoutVariables = []string{
	"rest_route", "_locale", "_method", "lang", "requests", "validation",
	"additional_fields", "billing_address", "create_account", "customer_note", "customer_password", "expected_total", "extensions", "payment_data",
	"payment_method", "shipping_address",
}

// onlyOwnVariables refuses a request with other variables, unless its address has the site's own
// prefix. The shop takes such a request for a page first: add-to-cart would change the cart between
// question and checkout, and so may what plugins read. Another name of the prefix is no help: where a
// rewrite makes the call of it, PHP still gets the client's own address.
func (p *CheckoutTotal) onlyOwnVariables(c *call.Call) error {
	if c.OwnPrefix {
		return nil
	}
	names, certain, err := c.RequestNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		certain = certain && (name == p.site.Platform.NonceParam || slices.Contains(checkoutVariables, name))
	}
	if !certain {
		return call.Ambiguous("checkout_variables")
	}
	return nil
}

func (p *CheckoutTotal) compare(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	expected, states, err := expectedTotal(r.Call)
	if !states || err != nil {
		return policy.Verdict{}, err
	}
	if err := p.onlyOwnVariables(r.Whole.Call); err != nil {
		return policy.Verdict{}, err
	}
	answer, now, refusal, err := p.currentCart(ctx, r)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case refusal != nil:
		return policy.InPlatformWords(refusal), nil
	case answer == nil:
		return policy.Verdict{}, nil
	}
	if now.empty || now.total == expected || p.Refuse == "higher" && now.total < expected {
		answer.Close()
		return policy.Verdict{}, nil
	}
	v := policy.Verdict{
		Status: http.StatusConflict, Code: p.site.Code(policy.CodeTotalMismatch),
		Message: "The total of the cart has changed. Please review it before you place the order.",
	}
	v.Header = crossOrigin(answer.Header)
	if h := r.HTTP.Header; h.Get("Nonce") != "" || h.Get("Cart-Token") != "" {
		// Without these headers another site could make the shopper's browser ask.
		v.Cart = answer
	}
	return v, nil
}

// currentCart asks for the cart as the checkout would see it. If the request carries
// other addresses, currentCart applies them first, as the checkout would. answer is nil
// if that is not allowed (observe). refusal is the platform's answer if it rejects the
// addresses or the session.
func (p *CheckoutTotal) currentCart(ctx context.Context, r *policy.Request) (answer *ask.Answer, now cart, refusal *ask.Answer, err error) {
	sent, err := readAddresses(r.Call)
	if err != nil {
		return nil, cart{}, nil, err
	}
	q := ask.Question{Route: "/" + p.site.Platform.Checkout + "/cart"}
	var changes []byte
	answer, now, err = askCart(ctx, r, q, func(c cart) (err error) {
		changes, err = sent.changes(c)
		return err
	})
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("what is in the cart: %w", ask.Unexpected(answer))
	}
	if changes == nil || err != nil {
		return answer, now, nil, err
	}
	answer.Close()
	if r.Observed {
		return nil, cart{}, nil, nil
	}
	q.Method, q.Route, q.Body = http.MethodPost, q.Route+"/update-customer", changes
	answer, now, err = askCart(ctx, r, q, func(cart) error { return nil })
	switch {
	case err != nil:
		return nil, cart{}, nil, err
	case answer.Status == http.StatusOK:
		return answer, now, nil, nil
	case answer.Status < 500 && answer.Code() != "":
		return nil, cart{}, answer, nil
	}
	return nil, cart{}, nil, fmt.Errorf("what is in the cart: %w", ask.Unexpected(answer))
}

// crossOrigin copies the headers of a checkout API answer that say which other origins
// may read it.
func crossOrigin(from http.Header) http.Header {
	to := http.Header{}
	for name, values := range from {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			to[name] = values
		}
	}
	return to
}

// integer reads an integral JSON number or digits in a string; ok is false for
// anything else.
func integer(v any) (n int64, ok bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 { // a float from there on may stand for several
			return int64(f), true
		}
	}
	n, _ = strconv.ParseInt(text, 10, 64)
	return n, strconv.FormatInt(n, 10) == text
}

// Why implements [policy.Explainer].
func (p *CheckoutTotal) Why(v policy.Verdict) string {
	if v.Code == p.site.Code(policy.CodeTotalMismatch) {
		return "The total of the cart is not the one that the shopper has seen."
	}
	return ""
}
