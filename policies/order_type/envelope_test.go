package ordertype

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_ErrorPages: where a server shows its own page in place of each error, an order is
// still proven, and nothing else is.
func TestOrderType_ErrorPages(t *testing.T) {
	const orders = "/wp-json/wc/v3/orders/"
	denied := map[string]*ask.Answer{"caller": asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view","message":"No.","data":{"status":403}}`)}
	for name, test := range map[string]struct {
		shop         map[string]*ask.Answer
		target, body string
		headers      []string
		status       int // 0 passes
		code         string
	}{
		"an order":                     {nil, orders + "7", `{}`, []string{policytest.BasicAuth}, 0, ""},
		"an order, by a key":           {nil, orders + "7", `{}`, []string{policytest.ShopKey}, 0, ""},
		"in the query form":            {nil, "/?rest_route=/wc/v3/orders/7", `{}`, []string{policytest.BasicAuth}, 0, ""},
		"a subscription":               {nil, orders + "13", `{}`, []string{policytest.BasicAuth}, 400, "woocommerce_rest_shop_order_invalid_id"},
		"a subscription, query form":   {nil, "/?rest_route=/wc/v3/orders/13", `{}`, []string{policytest.BasicAuth}, 400, "woocommerce_rest_shop_order_invalid_id"},
		"no record":                    {nil, orders + "2000", `{}`, []string{policytest.BasicAuth}, 400, "woocommerce_rest_shop_order_invalid_id"},
		"no record, in a batch":        {nil, orders + "batch", `{"update":[{"id":2000},{"id":7}]}`, []string{policytest.BasicAuth}, 0, ""},
		"a subscription in a batch":    {nil, orders + "batch", `{"update":[{"id":13},{"id":7}]}`, []string{policytest.BasicAuth}, 400, "woocommerce_rest_shop_order_invalid_id"},
		"a caller who may not read":    {denied, orders + "7", `{}`, []string{policytest.BasicAuth}, 403, string(policy.CodePlatform)},
		"and its subscription is told": {denied, orders + "13", `{}`, []string{policytest.BasicAuth}, 403, string(policy.CodePlatform)},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		backend := asktest.ErrorPages(policytest.Shop(test.shop))
		r := policytest.Request(t, s, backend, "PUT", test.target, test.body, append(test.headers, policytest.JSONType)...)
		d := policytest.Alone("order_type", p).Judge(t.Context(), r)
		if d.Err != nil || d.Verdict.Status != test.status || string(d.Verdict.Code) != test.code {
			t.Errorf("%s: %+v, %v", name, d.Verdict, d.Err)
		}
	}
}

// TestOrderType_ErrorPagesRemembered: once a host has lost a body, the next question goes there in
// an envelope. Another host is asked as before.
func TestOrderType_ErrorPagesRemembered(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	for _, test := range []struct {
		host, id string
		asked    int
	}{{"a.test", "7", 2}, {"a.test", "8", 1}, {"b.test", "9", 2}, {"a.test", "10", 1}} {
		backend := asktest.ErrorPages(policytest.Shop(nil))
		r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/"+test.id, `{}`, policytest.JSONType, policytest.BasicAuth)
		r.HTTP.Host = test.host
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || len(backend.Questions()) != test.asked {
			t.Errorf("%s: %+v, %v after %d questions", test.id, v, err, len(backend.Questions()))
		}
	}
}

// TestOrderType_ErrorPagesUndecided: a 404 that no envelope explains proves nothing. The caller
// does not get the page in place of an answer: it was about the question.
func TestOrderType_ErrorPagesUndecided(t *testing.T) {
	s := policytest.NewSite(t)
	backend := asktest.Answering(404, "<html>not found</html>")
	r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, policytest.BasicAuth)
	d := policytest.Alone("order_type", policytest.Provision(t, s, new(OrderType))).Judge(t.Context(), r)
	if d.Verdict.Status != 503 || !strings.Contains(d.Verdict.Note, "its own page in place of each error") {
		t.Errorf("%+v, %v", d.Verdict, d.Err)
	}
}
