package checkouttotal

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
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
		"pass/read with a total":        {"", cartBody, "GET", checkout + "?expected_total=1", "", nil, 0, 0},
		"pass/put with a total":         {"", cartBody, "PUT", checkout, `{"expected_total":1}`, nil, 0, 0},
		"pass/another route":            {"", cartBody, "POST", "/wp-json/wc/store/v1/cart/add-item", `{"expected_total":1}`, nil, 0, 0},
		"refuse/lower":                  {"", cartBody, "POST", checkout, `{"expected_total":1999}`, nil, 409, 1},
		"refuse/lower, with a nonce":    {"", cartBody, "POST", checkout, `{"expected_total":1999}`, []string{"Nonce: x"}, 409, 1},
		"refuse/lower, with its cart":   {"", cartBody, "POST", checkout, `{"expected_total":1999}`, []string{"Cart-Token: x"}, 409, 1},
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
		"refuse/batch that also takes":  {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"method":"DELETE","path":"/wc/store/v1/cart/items"},{"path":"/wc/store/v1/checkout","body":{"expected_total":2000}}]}`, nil, 400, 0},
		"refuse/batch, no number":       {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/checkout","body":{"expected_total":"x"}}]}`, nil, 400, 0},
		"pass/batch that states none":   {"", cartBody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart/add-item","body":{"id":1}},{"path":"/wc/store/v1/checkout","body":{}}]}`, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, &CheckoutTotal{Refuse: test.refuse})
			backend := shopWithCart(test.cart)
			headers := test.headers
			if test.body != "" {
				headers = append(headers, policytest.JSONType)
			}
			r := policytest.Request(t, s, backend, test.method, test.target, test.body, headers...)
			d := policytest.Alone("checkout_total", p).Judge(t.Context(), r)
			if d.Verdict.Status != test.status {
				t.Fatalf("got %+v (%v), want %d", d, d.Err, test.status)
			}
			if n := len(backend.Questions()); n != test.asked {
				t.Errorf("asked %d questions, want %d", n, test.asked)
			}
			if test.status == 409 {
				if d.Verdict.Code != "woocommerce_rest_checkout_total_mismatch" || (d.Verdict.Cart != nil) != (r.HTTP.Header.Get("Nonce")+r.HTTP.Header.Get("Cart-Token") != "") {
					t.Errorf("got %s with %v", d.Verdict.Code, d.Verdict.Cart)
				}
			}
		})
	}
}

func TestCheckoutTotal_ObserveWritesNothing(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(CheckoutTotal))
	backend := shopWithCart(cartBody)
	r := policytest.Request(t, s, backend, "POST", checkout, `{"expected_total":1,"billing_address":{"country":"GB"}}`, policytest.JSONType)
	policy.Link(nil, policy.Observe, policytest.Linked("checkout_total", p)).Judge(t.Context(), r)
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
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(CheckoutTotal))
		if v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", checkout, `{"expected_total":1}`, policytest.JSONType)); err == nil {
			t.Errorf("%s: got %+v without an error", name, v)
		}
	}
}

// TestCheckoutTotal_AddressRefused: what the shop says of an address is handed on where it is a refusal, and is no decision
// where it is a failure.
func TestCheckoutTotal_AddressRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer *ask.Answer
		status int // 0 where nobody can decide
	}{
		"a refusal":          {asktest.JSON(400, `{"code":"invalid_postcode"}`), 400},
		"a client's failure": {asktest.JSON(499, `{"code":"rest_gone"}`), 499},
		"no code":            {asktest.JSON(400, `{"message":"x"}`), 0},
		"a failure":          {asktest.JSON(500, `{"code":"internal_server_error"}`), 0},
		"a redirect":         {asktest.JSON(302, ``), 0},
	} {
		backend := asktest.Routed(map[string]*ask.Answer{"GET /wc/store/v1/cart": asktest.JSON(200, cartBody), "POST /wc/store/v1/cart/update-customer": tt.answer})
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(CheckoutTotal))
		v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", checkout, `{"expected_total":2000,"billing_address":{"country":"GB"}}`, policytest.JSONType))
		if v.Status != tt.status || (err != nil) != (tt.status == 0) || v.Refused() && v.Answer == nil {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestCheckoutTotal_FailedCart: a cart that comes with a failure is not changed.
func TestCheckoutTotal_FailedCart(t *testing.T) {
	t.Parallel()
	backend := asktest.Routed(map[string]*ask.Answer{"GET /wc/store/v1/cart": asktest.JSON(500, cartBody), "POST /wc/store/v1/cart/update-customer": asktest.JSON(200, cartGB)})
	s := policytest.NewSite(t)
	r := policytest.Request(t, s, backend, "POST", checkout, `{"expected_total":2400,"billing_address":{"country":"GB"}}`, policytest.JSONType)
	if v, err := policytest.Provision(t, s, new(CheckoutTotal)).Check(t.Context(), r); err == nil || len(backend.Questions()) != 1 {
		t.Errorf("%+v, %v after %d questions", v, err, len(backend.Questions()))
	}
}

// TestCheckoutTotal_CrossOrigin: a refusal says which other origins may read it, as the shop's answer does, and nothing else.
func TestCheckoutTotal_CrossOrigin(t *testing.T) {
	t.Parallel()
	got := crossOrigin(http.Header{"Access-Control-Allow-Origin": {"https://a"}, "Vary": {"Origin"}, "Set-Cookie": {"x"}, "Nonce": {"y"}})
	if len(got) != 2 || got.Get("Access-Control-Allow-Origin") != "https://a" || got.Get("Vary") != "Origin" {
		t.Error(got)
	}
}

// TestCheckoutTotal_Options: differs or higher, once and bare.
func TestCheckoutTotal_Options(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]policy.Option{
		"":                        policytest.Line("checkout_total", policytest.Line("higher")),
		"takes a block":           policytest.Line("checkout_total higher"),
		"lower":                   policytest.Line("checkout_total", policytest.Line("lower")),
		"differs is already":      policytest.Line("checkout_total", policytest.Line("differs"), policytest.Line("higher")),
		"higher takes no":         policytest.Line("checkout_total", policytest.Line("higher 5")),
		"higher is already speci": policytest.Line("checkout_total", policytest.Line("higher"), policytest.Line("differs")),
	} {
		p := new(CheckoutTotal)
		if err := p.Configure(o); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || want == "" && p.Refuse != "higher" {
			t.Errorf("%+v: %v, %q", o, err, p.Refuse)
		}
	}
	p := new(CheckoutTotal)
	policytest.Configure(t, p, policytest.Line("checkout_total", policytest.Line("differs")))
	policytest.Provision(t, policytest.NewSite(t), p)
	changed, other := p.Why(policy.Verdict{Code: "woocommerce_rest_checkout_total_mismatch"}), p.Why(policy.Verdict{Code: policy.CodeInvalidParam})
	if p.Refuse != "differs" || changed == "" || other != "" {
		t.Errorf("%q of a changed total, %q of another refusal", changed, other)
	}
}

func TestInteger(t *testing.T) {
	for _, v := range []any{"1e3", "1.0", "", " 1", true, nil, []any{1}, json.Number("1.5"), json.Number("1e30"), json.Number(""), "01", "9223372036854775808", json.Number("9007199254740992.0")} {
		if n, ok := integer(v); ok {
			t.Errorf("integer(%v) = %d", v, n)
		}
	}
	for text, want := range map[string]int64{"7": 7, "-7": -7, "7.0": 7, "2e3": 2000, "9007199254740991.0": 1<<53 - 1, "-9007199254740991.0": 1 - 1<<53, "9007199254740993": 1<<53 + 1} {
		if n, ok := integer(json.Number(text)); !ok || n != want {
			t.Errorf("integer(%s) = %d, %v", text, n, ok)
		}
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
			s := policytest.NewSite(t)
			s.Release, _ = policy.ParseRelease(test.release)
			if test.lists {
				s.Release.Learn("example.com", "", true)
			}
			p := new(CheckoutTotal)
			if err := p.Provision(s, policy.Settings{Named: test.named}); err != nil {
				t.Fatal(err)
			}
			r := policytest.Request(t, s, shopWithCart(cartBody), "POST", target.path, target.body, policytest.JSONType)
			if d := policytest.Alone("checkout_total", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("%s, %s: got %+v, want %d", name, target.path, d.Verdict, test.status)
			}
		}
	}
}
