package policies

import (
	"net/http"
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
		d := Link(nil, "", linked("refund_totals", p, Settings{Mode: mode})).Judge(t.Context(), r)
		if n := len(backend.Questions()); d.Verdict.Status != 400 || n != 2 {
			t.Errorf("%v: %d after %d questions, want 400 after 2, %v", mode, d.Verdict.Status, n, d.Err)
		}
	}
}

// TestRefundTotals_ClosedSite: where a plugin or a snippet shows nobody anything, the caller of the
// refund is asked as, and what is learned counts for the next one. Forged credentials stay refused.
func TestRefundTotals_ClosedSite(t *testing.T) {
	const knows = `{"endpoints":[{"methods":["GET"],"args":{}},{"methods":["POST"],"args":{"compute_totals":{"type":"boolean"}}}]}`
	for name, test := range map[string]struct {
		schema    string
		headers   []string
		status    int
		undecided bool
	}{
		"a shop that knows":          {knows, []string{basicAuth}, 0, false},
		"a shop that does not":       {`[]`, []string{basicAuth}, 400, false},
		"a cookie":                   {knows, []string{loginLine, nonceLine}, 0, false},
		"credentials that are wrong": {knows, []string{"Authorization: Basic Zm9yZ2VkOng="}, 401, false},
		"an old nonce":               {knows, []string{loginLine, "X-WP-Nonce: old"}, 403, false},
		"a signature":                {knows, []string{`Authorization: OAuth oauth_signature="x"`}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := provision(t, s, new(RefundTotals))
			backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				switch {
				case q.Header.Get("X-WP-Nonce") == "old":
					return asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`), nil
				case len(q.Header) == 0, strings.HasPrefix(q.Header.Get("Authorization"), "OAuth"), strings.HasPrefix(q.Header.Get("Authorization"), "Basic Zm9y"):
					return asktest.JSON(401, `{"code":"rest_not_logged_in","data":{"status":401}}`), nil
				case q.Method == http.MethodOptions:
					return asktest.JSON(200, test.schema), nil
				case q.Route == "/wp/v2/users/me":
					return asktest.JSON(200, adminBody), nil
				}
				return asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`), nil
			}}
			options := func() (n int) {
				for _, q := range backend.Questions() {
					if q.Method == http.MethodOptions {
						n++
					}
				}
				return n
			}
			for range 2 {
				r := request(t, s, backend, "POST", "/wp-json/wc/v3/orders/5/refunds", `{"compute_totals":true}`, append(test.headers, jsonType)...)
				v, err := p.Check(t.Context(), r)
				if (err != nil) != test.undecided || v.Status != test.status || (v.Answer != nil) != (test.status == 401 || test.status == 403) {
					t.Errorf("got %+v, %v", v, err)
				}
			}
			if n := options(); n != 2 && (test.status == 0 || test.status == 400) && !test.undecided {
				t.Errorf("asked for the schema %d times, want once as nobody and once as the caller", n)
			}
		})
	}
}
