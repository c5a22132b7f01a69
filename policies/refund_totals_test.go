package policies

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	ordertype "github.com/restwarden/restwarden/policies/order_type"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
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
		}, []string{policytest.LoginLine, policytest.NonceLine}, 403, 2},
		"a manager": {map[string]*ask.Answer{
			"GET /wc/v3/orders/0/refunds": asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		}, []string{policytest.LoginLine, policytest.NonceLine}, 400, 2},
	} {
		for door, form := range forms {
			for _, broken := range []bool{false, true} {
				s := policytest.NewSite(t)
				if broken {
					s.Store = policytest.BrokenStore{Store: s.Store}
				}
				p := policytest.Provision(t, s, new(RefundTotals))
				test.answers["OPTIONS /wc/v3/orders/0/refunds"] = asktest.JSON(200, `[]`)
				backend := asktest.Routed(test.answers)
				r := policytest.Request(t, s, backend, "POST", form.target, form.body, append(test.headers, policytest.JSONType)...)
				d := policytest.Alone("refund_totals", p).Judge(t.Context(), r)
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
	for _, mode := range []policy.Mode{policy.Observe, policy.Enforce} {
		s := policytest.NewSite(t)
		s.Store = policytest.BrokenStore{Store: s.Store}
		p := policytest.Provision(t, s, new(RefundTotals))
		backend := asktest.Routed(map[string]*ask.Answer{
			"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
			"GET /wc/v3/orders/0/refunds":     asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		})
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/5/refunds", `{"compute_totals":1}`, policytest.LoginLine, policytest.NonceLine, policytest.JSONType, policytest.Override+"PUT")
		d := policy.Link(nil, "", policytest.Linked("refund_totals", p, policy.Settings{Mode: mode})).Judge(t.Context(), r)
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
		"a shop that knows":          {knows, []string{policytest.BasicAuth}, 0, false},
		"a shop that does not":       {`[]`, []string{policytest.BasicAuth}, 400, false},
		"a cookie":                   {knows, []string{policytest.LoginLine, policytest.NonceLine}, 0, false},
		"credentials that are wrong": {knows, []string{"Authorization: Basic Zm9yZ2VkOng="}, 401, false},
		"an old nonce":               {knows, []string{policytest.LoginLine, "X-WP-Nonce: old"}, 403, false},
		"a signature":                {knows, []string{`Authorization: OAuth oauth_signature="x"`}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(RefundTotals))
			backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				switch {
				case q.Header.Get("X-WP-Nonce") == "old":
					return asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`), nil
				case len(q.Header) == 0, strings.HasPrefix(q.Header.Get("Authorization"), "OAuth"), strings.HasPrefix(q.Header.Get("Authorization"), "Basic Zm9y"):
					return asktest.JSON(401, `{"code":"rest_not_logged_in","data":{"status":401}}`), nil
				case q.Method == http.MethodOptions:
					return asktest.JSON(200, test.schema), nil
				case q.Route == "/wp/v2/users/me":
					return asktest.JSON(200, policytest.AdminBody), nil
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
				r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/5/refunds", `{"compute_totals":true}`, append(test.headers, policytest.JSONType)...)
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

func TestRefundTotals(t *testing.T) {
	const (
		newSchema = `{"endpoints":[{"methods":["GET"],"args":{}},{"methods":["POST"],"args":{"amount":{},"compute_totals":{"type":"boolean"}}}]}`
		oldSchema = `{"endpoints":[{"methods":["GET"],"args":{"compute_totals":{}}},{"methods":["POST"],"args":{"amount":{}}}]}`
		refunds   = "/wp-json/wc/v3/orders/7/refunds"
	)
	for name, test := range map[string]struct {
		schema, target, body string
		status, asked        int
	}{
		"pass/not set":           {oldSchema, refunds, `{"amount":"1"}`, 0, 0},
		"pass/false":             {oldSchema, refunds, `{"compute_totals":false}`, 0, 0},
		"pass/false as text":     {oldSchema, refunds, `{"compute_totals":"false"}`, 0, 0},
		"pass/new release":       {newSchema, refunds, `{"compute_totals":true}`, 0, 1},
		"refuse/old release":     {oldSchema, refunds, `{"compute_totals":true}`, 400, 3},
		"refuse/true as text":    {oldSchema, refunds, `{"compute_totals":"true"}`, 400, 3},
		"refuse/one":             {oldSchema, refunds, `{"compute_totals":1}`, 400, 3},
		"refuse/query":           {oldSchema, refunds + "?compute_totals=1", "", 400, 3},
		"refuse/no such route":   {`[]`, refunds, `{"compute_totals":true}`, 400, 3},
		"refuse/v2":              {oldSchema, "/wp-json/wc/v2/orders/7/refunds", `{"compute_totals":true}`, 400, 3},
		"pass/preview":           {oldSchema, refunds + "/preview", `{"compute_totals":true}`, 0, 0},
		"pass/empty list is not": {`{}`, "/wp-json/wc/v3/orders/7", `{"compute_totals":true}`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(RefundTotals))
			backend := asktest.Answering(200, test.schema)
			for range 2 {
				headers := []string{policytest.BasicAuth}
				if test.body != "" {
					headers = append(headers, policytest.JSONType)
				}
				v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", test.target, test.body, headers...))
				if err != nil || v.Status != test.status {
					t.Fatalf("got %+v, %v", v, err)
				}
				if v.Refused() && (v.Code != "woocommerce_rest_compute_totals_unsupported" || !strings.Contains(v.Message, "11.1")) {
					t.Errorf("got %s %q", v.Code, v.Message)
				}
			}
			if n := len(backend.Questions()); n != test.asked {
				t.Errorf("asked %d questions, want %d", n, test.asked)
			}
		})
	}
}

// TestRefundTotals_WordsDoNotTell: a caller who may not refund gets the platform's own
// refusal on every release, and anonymous callers cost no question.
func TestRefundTotals_WordsDoNotTell(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(RefundTotals))
	backend := asktest.Routed(map[string]*ask.Answer{
		"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
		"GET /wc/v3/orders/0/refunds":     asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`),
	})
	refund := func(headers ...string) policy.Verdict {
		t.Helper()
		v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, append(headers, policytest.JSONType)...))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := refund(); v.Status != 401 || v.Code != "woocommerce_rest_cannot_create" || len(backend.Questions()) > 0 {
		t.Errorf("anonymous: got %+v after %+v", v, backend.Questions())
	}
	if v := refund(policytest.BasicAuth); v.Answer == nil || v.Answer.Code() != "woocommerce_rest_cannot_create" {
		t.Errorf("customer: got %+v", v)
	}
	const mayNotWrite = `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have write permissions."}`
	backend = asktest.Routed(map[string]*ask.Answer{
		"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
		"GET /wc/v3/orders/0/refunds":     asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		"DELETE /wc/v3/orders/0/notes/0":  asktest.JSON(401, mayNotWrite),
	})
	s = policytest.NewSite(t)
	p = policytest.Provision(t, s, new(RefundTotals))
	if v := refund(policytest.ShopKey); v.Answer == nil || string(v.Answer.Body) != mayNotWrite {
		t.Errorf("read-only key: got %+v", v)
	}
	for _, status := range []int{400, 403} { // the two sets of names differ (docs/project/interface 7)
		backend = asktest.Routed(map[string]*ask.Answer{
			"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
			"GET /wc/v3/orders/0/refunds":     asktest.JSON(status, `{"code":"rest_cookie_invalid_nonce"}`),
		})
		s = policytest.NewSite(t)
		p = policytest.Provision(t, s, new(RefundTotals))
		if v := refund(policytest.LoginLine, "X-WP-Nonce: old"); v.Status != status || v.Answer == nil {
			t.Errorf("outdated nonce: got %+v", v)
		}
	}
}

func TestRefundTotals_CouldNotDecide(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"down": asktest.Failing(ask.ErrUndecided), "not JSON": asktest.Answering(200, "<html>"), "forbidden": asktest.Answering(403, `{}`),
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(RefundTotals))
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, policytest.JSONType, policytest.BasicAuth)
		if v, err := p.Check(t.Context(), r); !errors.Is(err, ask.ErrUndecided) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

// BenchmarkRefundTotals_Known is a computed refund on a shop that is known to compute
// totals.
func BenchmarkRefundTotals_Known(b *testing.B) {
	s := policytest.NewSite(b)
	p := policytest.Provision(b, s, new(RefundTotals))
	backend := asktest.Answering(200, `{"endpoints":[{"methods":["POST"],"args":{"compute_totals":{}}}]}`)
	r := policytest.Request(b, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, policytest.JSONType, policytest.BasicAuth)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
	if n := len(backend.Questions()); n != 1 {
		b.Errorf("%d questions about one shop", n)
	}
}

// TestRelease_WhatTheRootListsIsNoProof: a route in the index proves no release, since
// any plugin may register it. A guard against lost data stays on and asks. A configured
// release counts.
func TestRelease_WhatTheRootListsIsNoProof(t *testing.T) {
	for name, test := range map[string]struct {
		release    string
		named      bool
		orderAsked bool
	}{
		"auto": {"auto", false, true}, "auto, named": {"auto", true, true},
		"10.7": {"10.7", false, true}, "10.8": {"10.8", false, false}, "11.1": {"11.1", false, false}, "11.1, named": {"11.1", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			var err error
			if s.Release, err = policy.ParseRelease(test.release); err != nil {
				t.Fatal(err)
			}
			s.Release.Learn("example.com", "", true)
			order := policytest.Provision(t, s, new(ordertype.OrderType), policy.Settings{Named: test.named})
			refund := policytest.Provision(t, s, new(RefundTotals), policy.Settings{Named: test.named})

			backend := policytest.Shop(nil)
			r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, policytest.BasicAuth)
			if _, err := order.Check(t.Context(), r); err != nil || (len(backend.Questions()) > 0) != test.orderAsked {
				t.Errorf("order_type asked %d questions, %v", len(backend.Questions()), err)
			}

			schema := asktest.Answering(200, `{"endpoints":[{"methods":["POST"],"args":{}}]}`)
			r = policytest.Request(t, s, schema, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, policytest.JSONType, policytest.BasicAuth)
			v, err := refund.Check(t.Context(), r)
			if stays := test.release != "11.1" || test.named; err != nil || v.Refused() != stays {
				t.Errorf("refund_totals: %+v, %v", v, err)
			}
		})
	}
}

func TestTruthy(t *testing.T) {
	for v, want := range map[any]bool{true: true, false: false, "": false, "FALSE": false, "0": false, "yes": true, json.Number("0"): false} {
		if truthy(v) != want {
			t.Errorf("truthy(%v) = %v", v, !want)
		}
	}
}
