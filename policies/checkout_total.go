package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/nearest"
)

// CheckoutTotal refuses a checkout whose expected_total differs from what the server
// would charge, so that no order is confirmed at a total that the shopper has not seen
// (docs/interface E10 and section 7; docs/platform III.9).
type CheckoutTotal struct {
	// Refuse is "differs" (the default) or "higher": refuse only if the shopper would pay
	// more.
	Refuse string `json:"refuse,omitempty"`

	site     *Site
	named    bool
	checkout string // key of the route
}

// Configure takes checkout_total [{ differs | higher }].
func (p *CheckoutTotal) Configure(o Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("checkout_total takes a block, no arguments")
	}
	return o.Each(func(o Option) error {
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
func (p *CheckoutTotal) Provision(site *Site, settings Settings) error {
	p.site, p.named, p.checkout = site, settings.Named, "/"+site.Platform.Checkout+"/checkout"
	if p.Refuse == "" {
		return nil
	}
	if err := nearest.Check(p.Refuse, "differs", "higher"); err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	return nil
}

// Check compares the total of a checkout that states one.
func (p *CheckoutTotal) Check(ctx context.Context, r *Request) (Verdict, error) {
	if r.Call.Kind != call.Single || !p.isCheckout(r.Call) || p.notNeeded() {
		return Verdict{}, nil
	}
	return p.compare(ctx, r)
}

// CheckBatch compares the total of the last checkout in a batch that states one. If other
// parts change the cart, the total cannot be known beforehand.
func (p *CheckoutTotal) CheckBatch(ctx context.Context, r *Request) (Verdict, error) {
	if p.notNeeded() {
		return Verdict{}, nil
	}
	var stated *call.Call
	changes := 0
	for _, part := range r.Call.Parts {
		if isUpdate(part.Method) || part.Method == http.MethodDelete {
			changes++
		}
		if !p.isCheckout(part) {
			continue
		}
		if _, states, err := expectedTotal(part); err != nil {
			return Verdict{}, err
		} else if states {
			stated = part
		}
	}
	switch {
	case stated == nil:
		return Verdict{}, nil
	case changes > 1:
		return Verdict{}, call.Ambiguous("cart_batch")
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
	v, set, err := c.Scalar("expected_total")
	if err != nil || !set || v == nil || v == "" {
		return 0, false, err
	}
	total, ok := integer(v)
	if !ok {
		return 0, true, notInteger("expected_total")
	}
	return total, true, nil
}

// notInteger is the error for a parameter that must be an integer.
func notInteger(name string) error {
	return &call.Refusal{Status: http.StatusBadRequest, Code: CodeInvalidParam, Reason: name}
}

// cart holds the fields that are needed of the checkout API's cart.
type cart struct {
	Items    []json.RawMessage `json:"items"`
	Billing  map[string]any    `json:"billing_address"`
	Shipping map[string]any    `json:"shipping_address"`
	Totals   struct {
		Price string `json:"total_price"`
	} `json:"totals"`
}

func (p *CheckoutTotal) compare(ctx context.Context, r *Request) (Verdict, error) {
	expected, states, err := expectedTotal(r.Call)
	if !states || err != nil {
		return Verdict{}, err
	}
	answer, refusal, err := p.currentCart(ctx, r)
	switch {
	case err != nil:
		return Verdict{}, err
	case refusal != nil:
		return inPlatformWords(refusal), nil
	case answer == nil:
		return Verdict{}, nil
	}
	now, empty, err := cartTotal(answer.Body)
	if err != nil || empty {
		return Verdict{}, err
	}
	if now == expected || p.Refuse == "higher" && now < expected {
		return Verdict{}, nil
	}
	v := Verdict{
		Status: http.StatusConflict, Code: p.site.Code(codeTotalMismatch),
		Message: "The total of the cart has changed. Please review it before you place the order.",
	}
	v.Header = crossOrigin(answer.Header)
	if h := r.HTTP.Header; h.Get("Nonce") != "" || h.Get("Cart-Token") != "" {
		// Without these headers another site could make the shopper's browser ask.
		v.Data = map[string]any{"cart": json.RawMessage(answer.Body)}
	}
	return v, nil
}

// currentCart asks for the cart as the checkout would see it. If the request carries
// other addresses, currentCart applies them first, as the checkout would. answer is nil
// if that is not allowed (observe). refusal is the platform's answer if it rejects the
// addresses or the session.
func (p *CheckoutTotal) currentCart(ctx context.Context, r *Request) (answer, refusal *ask.Answer, err error) {
	q := ask.Question{Kind: ask.KindCart, Route: "/" + p.site.Platform.Checkout + "/cart"}
	if answer, err = r.Ask(ctx, q); err != nil {
		return nil, nil, fmt.Errorf("what is in the cart: %w", err)
	}
	if answer.Status != http.StatusOK {
		return nil, nil, fmt.Errorf("what is in the cart: %w", ask.Unexpected(answer))
	}
	changes, err := addressChanges(r.Call, answer.Body)
	if changes == nil || err != nil {
		return answer, nil, err
	}
	if r.Observed {
		return nil, nil, nil
	}
	q.Method, q.Route, q.Body = http.MethodPost, q.Route+"/update-customer", changes
	if answer, err = r.Ask(ctx, q); err != nil {
		return nil, nil, fmt.Errorf("what is in the cart: %w", err)
	}
	switch {
	case answer.Status == http.StatusOK:
		return answer, nil, nil
	case answer.Status < 500 && answer.Code() != "":
		return nil, answer, nil
	}
	return nil, nil, fmt.Errorf("what is in the cart: %w", ask.Unexpected(answer))
}

// addressChanges returns the body of an update-customer request with the addresses of c
// that differ from the cart's, or nil if none differ.
func addressChanges(c *call.Call, body []byte) ([]byte, error) {
	var now cart
	if err := json.Unmarshal(body, &now); err != nil {
		return nil, fmt.Errorf("%w: the cart does not parse: %w", ask.ErrUndecided, err)
	}
	changes := map[string]any{}
	for name, current := range map[string]map[string]any{"billing_address": now.Billing, "shipping_address": now.Shipping} {
		v, set, err := c.Param(name)
		if err != nil {
			return nil, err
		}
		fields, ok := v.(map[string]any)
		if set && v != nil && !ok {
			return nil, call.Ambiguous("address")
		}
		for field, value := range fields {
			if fmt.Sprint(current[field]) != fmt.Sprint(value) {
				changes[name] = fields
				break
			}
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // what needs no escape stays as large as it came
	err := e.Encode(changes)
	return b.Bytes(), err
}

// cartTotal reads the total in minor units. empty means that the cart holds nothing; the
// platform itself refuses such a checkout.
func cartTotal(body []byte) (total int64, empty bool, err error) {
	var now cart
	if err := json.Unmarshal(body, &now); err != nil {
		return 0, false, fmt.Errorf("%w: the cart does not parse: %w", ask.ErrUndecided, err)
	}
	if len(now.Items) == 0 {
		return 0, true, nil
	}
	total, err = strconv.ParseInt(now.Totals.Price, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("%w: the cart's total_price is not an integer", ask.ErrUndecided)
	}
	return total, false, nil
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
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return int64(f), true
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}
