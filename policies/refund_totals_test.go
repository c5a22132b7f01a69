package policies

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestRefundTotals_BatchAsksOnce: the parts of a batch have one caller and one shop, so that a
// batch asks what one refund asks, whether or not the store remembers anything.
func TestRefundTotals_BatchAsksOnce(t *testing.T) {
	list := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	forms := map[string]struct {
		target, body string
		parts        int
	}{
		"refunds/batch": {"/wp-json/wc/v3/orders/5/refunds/batch", `{"create":[` + list(100, `{"compute_totals":1}`) + `]}`, 100},
		"batch/v1":      {"/wp-json/batch/v1", `{"requests":[` + list(25, `{"path":"/wc/v3/orders/5/refunds","body":{"compute_totals":1}}`) + `]}`, 25},
	}
	for name, test := range map[string]struct {
		answers map[string]*ask.Answer
		headers []string
		status  int
		asked   int
	}{
		"a customer": {map[string]*ask.Answer{
			"GET /wc/v3/orders/0/refunds": asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`),
		}, []string{loginLine, nonceLine}, 403, 2},
		"a manager": {map[string]*ask.Answer{
			"GET /wc/v3/orders/0/refunds": asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		}, []string{loginLine, nonceLine}, 400, 2},
	} {
		for door, form := range forms {
			for _, broken := range []bool{false, true} {
				s := newSite(t)
				if broken {
					s.Store = brokenStore{s.Store}
				}
				p := provision(t, s, new(RefundTotals))
				test.answers["OPTIONS /wc/v3/orders/0/refunds"] = asktest.JSON(200, `[]`)
				backend := asktest.Routed(test.answers)
				r := request(t, s, backend, "POST", form.target, form.body, append(test.headers, jsonType)...)
				d := alone("refund_totals", p).Judge(t.Context(), r)
				status := d.Verdict.Status
				if a := d.Verdict.Answer; a != nil {
					status = a.Status
				}
				if status != test.status || len(d.Verdict.Parts) != form.parts {
					t.Errorf("%s, %s, store broken %v: %d, %d parts, %v", name, door, broken, status, len(d.Verdict.Parts), d.Err)
				}
				if n := len(backend.Questions()); n != test.asked {
					t.Errorf("%s, %s, store broken %v: asked %d questions, want %d", name, door, broken, n, test.asked)
				}
			}
		}
	}
}

// TestRefundTotals_OverrideAsksOnce: a refund with an override header is judged as two calls, and
// asks what one asks.
func TestRefundTotals_OverrideAsksOnce(t *testing.T) {
	for _, mode := range []Mode{Observe, Enforce} {
		s := newSite(t)
		s.Store = brokenStore{s.Store}
		p := provision(t, s, new(RefundTotals))
		backend := asktest.Routed(map[string]*ask.Answer{
			"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
			"GET /wc/v3/orders/0/refunds":     asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		})
		r := request(t, s, backend, "POST", "/wp-json/wc/v3/orders/5/refunds", `{"compute_totals":1}`, loginLine, nonceLine, jsonType, "X-HTTP-Method-Override: PUT")
		d := (&Chain{links: []link{linked("refund_totals", p, Settings{Mode: mode})}}).Judge(t.Context(), r)
		if n := len(backend.Questions()); d.Verdict.Status != 400 || n != 2 {
			t.Errorf("%v: %d after %d questions, want 400 after 2, %v", mode, d.Verdict.Status, n, d.Err)
		}
	}
}
