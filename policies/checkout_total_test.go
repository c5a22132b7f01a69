package policies

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

const (
	cartBody  = `{"items":[{"id":1}],"totals":{"total_price":"2000"},"billing_address":{"country":"US","city":"X"},"shipping_address":{"country":"US"}}`
	cartGB    = `{"items":[{"id":1}],"totals":{"total_price":"2400"},"billing_address":{"country":"GB"},"shipping_address":{"country":"GB"}}`
	emptyCart = `{"items":[],"totals":{"total_price":"0"}}`
	checkout  = "/wp-json/wc/store/v1/checkout"
)

func shopWithCart(body string) *asktest.Platform {
	return asktest.Routed(map[string]*ask.Answer{
		"GET /wc/store/v1/cart":                  asktest.JSON(200, body),
		"POST /wc/store/v1/cart/update-customer": asktest.JSON(200, cartGB),
	})
}

func TestCheckoutTotal(t *testing.T) {
	for name, test := range map[string]struct {
		refuse, cart         string
		method, target, body string
		headers              []string
		status, asked        int
	}{
		"pass/no total":                 {"", cartBody, "POST", checkout, `{}`, nil, 0, 0},
		"pass/null total":               {"", cartBody, "POST", checkout, `{"expected_total":null}`, nil, 0, 0},
		"pass/empty total":              {"", cartBody, "POST", checkout, `{"expected_total":""}`, nil, 0, 0},
		"pass/same":                     {"", cartBody, "POST", checkout, `{"expected_total":2000}`, nil, 0, 1},
		"pass/same, digits in a string": {"", cartBody, "POST", checkout, `{"expected_total":"2000"}`, nil, 0, 1},
		"pass/empty cart":               {"", emptyCart, "POST", checkout, `{"expected_total":2000}`, nil, 0, 1},
		"pass/read":                     {"", cartBody, "GET", checkout, "", nil, 0, 0},
		"pass/another route":            {"", cartBody, "POST", "/wp-json/wc/store/v1/cart/add-item", `{"expected_total":1}`, nil, 0, 0},
		"refuse/lower":                  {"", cartBody, "POST", checkout, `{"expected_total":1999}`, nil, 409, 1},
		"refuse/lower, with a nonce":    {"", cartBody, "POST", checkout, `{"expected_total":1999}`, []string{"Nonce: x"}, 409, 1},
		"refuse/higher":                 {"", cartBody, "POST", checkout, `{"expected_total":2001}`, nil, 409, 1},
		"pass/shopper pays less":        {"higher", cartBody, "POST", checkout, `{"expected_total":2001}`, nil, 0, 1},
		"refuse/shopper pays more":      {"higher", cartBody, "POST", checkout, `{"expected_total":1999}`, nil, 409, 1},
		"refuse/unversioned":            {"", cartBody, "POST", "/wp-json/wc/store/checkout", `{"expected_total":1}`, nil, 409, 1},
		"refuse/query":                  {"", cartBody, "POST", checkout + "?expected_total=1", "", nil, 409, 1},
		"refuse/override":               {"", cartBody, "GET", checkout + "?_method=POST&expected_total=1", "", nil, 409, 1},
		"refuse/rest_route":             {"", cartBody, "POST", "/?rest_route=/wc/store/v1/checkout&expected_total=1", "", nil, 409, 1},
		"refuse/not a number":           {"", cartBody, "POST", checkout, `{"expected_total":"20.00"}`, nil, 400, 0},
		"refuse/a list":                 {"", cartBody, "POST", checkout, `{"expected_total":[2000]}`, nil, 400, 0},
		"pass/same address":             {"", cartBody, "POST", checkout, `{"expected_total":2000,"billing_address":{"country":"US"}}`, nil, 0, 1},
		"refuse/another address":        {"", cartBody, "POST", checkout, `{"expected_total":2000,"billing_address":{"country":"GB"}}`, nil, 409, 2},
		"pass/another address":          {"", cartBody, "POST", checkout, `{"expected_total":2400,"billing_address":{"country":"GB"}}`, nil, 0, 2},
		"refuse/batch":                  {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/checkout","body":{"expected_total":1}}]}`, nil, 409, 1},
		"pass/batch":                    {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart/add-item","body":{"id":1}}]}`, nil, 0, 0},
		"refuse/batch that also adds":   {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart/add-item","body":{"id":1}},{"path":"/wc/store/v1/checkout","body":{"expected_total":2000}}]}`, nil, 400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := provision(t, s, &CheckoutTotal{Refuse: test.refuse})
			backend := shopWithCart(test.cart)
			headers := test.headers
			if test.body != "" {
				headers = append(headers, jsonType)
			}
			r := request(t, s, backend, test.method, test.target, test.body, headers...)
			d := alone("checkout_total", p).Judge(t.Context(), r)
			if d.Verdict.Status != test.status {
				t.Fatalf("got %+v (%v), want %d", d, d.Err, test.status)
			}
			if n := len(backend.Questions()); n != test.asked {
				t.Errorf("asked %d questions, want %d", n, test.asked)
			}
			if test.status == 409 {
				if d.Verdict.Code != "woocommerce_rest_checkout_total_mismatch" || (d.Verdict.Cart != nil) != (r.HTTP.Header.Get("Nonce") != "") {
					t.Errorf("got %s with %v", d.Verdict.Code, d.Verdict.Cart)
				}
			}
		})
	}
}

func TestCheckoutTotal_ObserveWritesNothing(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(CheckoutTotal))
	backend := shopWithCart(cartBody)
	r := request(t, s, backend, "POST", checkout, `{"expected_total":1,"billing_address":{"country":"GB"}}`, jsonType)
	(&Chain{mode: Observe, links: alone("checkout_total", p).links}).Judge(t.Context(), r)
	for _, q := range backend.Questions() {
		if q.Method != "" && q.Method != http.MethodGet {
			t.Errorf("observe asked %s %s", q.Method, q.Route)
		}
	}
}

func TestCheckoutTotal_CouldNotDecide(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"down": asktest.Failing(ask.ErrUndecided), "not JSON": asktest.Answering(200, "<html>"), "forbidden": asktest.Answering(403, `{"code":"x"}`),
		"price is a float": asktest.Answering(200, `{"items":[{}],"totals":{"total_price":"20.00"}}`),
		"no totals":        asktest.Answering(200, `{"items":[{}]}`),
	} {
		s := newSite(t)
		p := provision(t, s, new(CheckoutTotal))
		if v, err := p.Check(t.Context(), request(t, s, backend, "POST", checkout, `{"expected_total":1}`, jsonType)); err == nil {
			t.Errorf("%s: got %+v without an error", name, v)
		}
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
			s := newSite(t)
			p := provision(t, s, new(RefundTotals))
			backend := asktest.Answering(200, test.schema)
			for range 2 {
				headers := []string{basicAuth}
				if test.body != "" {
					headers = append(headers, jsonType)
				}
				v, err := p.Check(t.Context(), request(t, s, backend, "POST", test.target, test.body, headers...))
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
	s := newSite(t)
	p := provision(t, s, new(RefundTotals))
	backend := asktest.Routed(map[string]*ask.Answer{
		"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
		"GET /wc/v3/orders/0/refunds":     asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`),
	})
	refund := func(headers ...string) Verdict {
		t.Helper()
		v, err := p.Check(t.Context(), request(t, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, append(headers, jsonType)...))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := refund(); v.Status != 401 || v.Code != "woocommerce_rest_cannot_create" || len(backend.Questions()) > 0 {
		t.Errorf("anonymous: got %+v after %+v", v, backend.Questions())
	}
	if v := refund(basicAuth); v.Answer == nil || v.Answer.Code() != "woocommerce_rest_cannot_create" {
		t.Errorf("customer: got %+v", v)
	}
	const mayNotWrite = `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have write permissions."}`
	backend = asktest.Routed(map[string]*ask.Answer{
		"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
		"GET /wc/v3/orders/0/refunds":     asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`),
		"DELETE /wc/v3/orders/0/notes/0":  asktest.JSON(401, mayNotWrite),
	})
	s = newSite(t)
	p = provision(t, s, new(RefundTotals))
	if v := refund(shopKey); v.Answer == nil || string(v.Answer.Body) != mayNotWrite {
		t.Errorf("read-only key: got %+v", v)
	}
	for _, status := range []int{400, 403} { // the two sets of names differ (docs/interface 7)
		backend = asktest.Routed(map[string]*ask.Answer{
			"OPTIONS /wc/v3/orders/0/refunds": asktest.JSON(200, `[]`),
			"GET /wc/v3/orders/0/refunds":     asktest.JSON(status, `{"code":"rest_cookie_invalid_nonce"}`),
		})
		s = newSite(t)
		p = provision(t, s, new(RefundTotals))
		if v := refund(loginLine, "X-WP-Nonce: old"); v.Status != status || v.Answer == nil {
			t.Errorf("outdated nonce: got %+v", v)
		}
	}
}

func TestRefundTotals_CouldNotDecide(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"down": asktest.Failing(ask.ErrUndecided), "not JSON": asktest.Answering(200, "<html>"), "forbidden": asktest.Answering(403, `{}`),
	} {
		s := newSite(t)
		p := provision(t, s, new(RefundTotals))
		r := request(t, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, jsonType, basicAuth)
		if v, err := p.Check(t.Context(), r); !errors.Is(err, ask.ErrUndecided) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
	}
}

func TestIntegerAndTruthy(t *testing.T) {
	for _, v := range []any{"1e3", "1.0", "", " 1", true, nil, []any{1}, json.Number("1.5"), json.Number("1e30"), "01"} {
		if n, ok := integer(v); ok {
			t.Errorf("integer(%v) = %d", v, n)
		}
	}
	for text, want := range map[string]int64{"7": 7, "-7": -7, "7.0": 7, "2e3": 2000} {
		if n, ok := integer(json.Number(text)); !ok || n != want {
			t.Errorf("integer(%s) = %d, %v", text, n, ok)
		}
	}
	for v, want := range map[any]bool{true: true, false: false, "": false, "FALSE": false, "0": false, "yes": true, json.Number("0"): false} {
		if truthy(v) != want {
			t.Errorf("truthy(%v) = %v", v, !want)
		}
	}
}

func TestRateLimits(t *testing.T) {
	s := newSite(t)
	p := new(RateLimits)
	configure(t, p, line("rate_limit 2/1h POST /complianz/v1/track"), line("rate_limit 1/1h per caller /report/**"), line("rate_limit 1/1h per key /keyed/**"))
	provision(t, s, p)
	status := func(method, target string, headers ...string) int {
		t.Helper()
		v, err := p.Check(t.Context(), request(t, s, asktest.Answering(200, adminBody), method, target, "", headers...))
		if err != nil {
			t.Fatal(err)
		}
		if v.Refused() && (v.Code != CodeTooMany || v.Header.Get("Retry-After") == "" || v.Header.Get("RateLimit-Limit") == "" || v.Rule == "") {
			t.Errorf("refusal %+v", v)
		}
		return v.Status
	}
	for i, want := range []int{0, 0, 429, 429} {
		if got := status("POST", "/wp-json/complianz/v1/track"); got != want {
			t.Errorf("call %d: %d, want %d", i+1, got, want)
		}
	}
	if got := status("GET", "/wp-json/complianz/v1/track"); got != 0 {
		t.Errorf("another method is limited: %d", got)
	}
	if a, b := status("GET", "/wp-json/report/x", basicAuth), status("GET", "/wp-json/report/y", loginLine, nonceLine); a != 0 || b != 429 {
		t.Errorf("two credentials of one caller: %d, %d", a, b)
	}
	if a, b, c := status("GET", "/wp-json/keyed/x", basicAuth), status("GET", "/wp-json/keyed/x", "Authorization: Basic x"), status("GET", "/wp-json/keyed/x", basicAuth); a != 0 || b != 429 || c != 429 {
		t.Errorf("two passwords of one user: %d, %d, %d", a, b, c)
	}
	for _, text := range []string{
		"rate_limit ten/1m /x", "rate_limit 10 /x", "rate_limit 10/1m", "rate_limit 0/1m /x", "rate_limit 10/0s /x", "rate_limit 10/1m per",
		"rate_limit 10/1m per moon /x", "rate_limit -1/1m /x", "rate_limit 1.5/1m /x", "rate_limit 10/1m x",
	} {
		if err := new(RateLimits).Configure(line(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// BenchmarkRefundTotals_Known is a computed refund on a shop that is known to compute
// totals.
func BenchmarkRefundTotals_Known(b *testing.B) {
	s := newSite(b)
	p := provision(b, s, new(RefundTotals))
	backend := asktest.Answering(200, `{"endpoints":[{"methods":["POST"],"args":{"compute_totals":{}}}]}`)
	r := request(b, s, backend, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"compute_totals":true}`, jsonType, basicAuth)
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

// TestCheckoutTotal_Release: a plugin may register the route that came with 11.1. Only the
// configuration proves that the shop compares the total itself.
func TestCheckoutTotal_Release(t *testing.T) {
	for name, test := range map[string]struct {
		release string
		lists   bool // the REST root lists the route of 11.1
		named   bool
		status  int
	}{
		"nothing is known":         {"auto", false, false, 409},
		"a route of 11.1":          {"auto", true, false, 409},
		"an older release":         {"11.0", true, false, 409},
		"release 11.1":             {"11.1", false, false, 0},
		"release 11.1, and a line": {"11.1", true, true, 409},
	} {
		for _, target := range []struct{ path, body string }{
			{checkout, `{"expected_total":1}`},
			{"/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/checkout","body":{"expected_total":1}}]}`},
		} {
			s := newSite(t)
			s.Release, _ = ParseRelease(test.release)
			if test.lists {
				s.Release.Learn("example.com", "", true)
			}
			p := new(CheckoutTotal)
			if err := p.Provision(s, Settings{Named: test.named}); err != nil {
				t.Fatal(err)
			}
			r := request(t, s, shopWithCart(cartBody), "POST", target.path, target.body, jsonType)
			if d := alone("checkout_total", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("%s, %s: got %+v, want %d", name, target.path, d.Verdict, test.status)
			}
		}
	}
}
