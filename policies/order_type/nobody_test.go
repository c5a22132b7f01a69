package ordertype

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_Nobody: whom the gateway takes for nobody gets the platform's refusal of anonymous
// callers, whatever the record is, and without a question.
func TestOrderType_Nobody(t *testing.T) {
	const cookie = "Cookie: wordpress_logged_in_1=a"
	for name, test := range map[string]struct {
		method, target, body string
		header               string
		code                 string // "" passes
	}{
		"an order":                {"PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, "cannot_edit"},
		"a subscription":          {"PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, "cannot_edit"},
		"no record":               {"PATCH", "/wp-json/wc/v2/orders/2000", `{}`, policytest.JSONType, "cannot_edit"},
		"analytics":               {"POST", "/wp-json/wc-analytics/orders/13", `{}`, policytest.JSONType, "cannot_edit"},
		"a log-in in the query":   {"PUT", "/wp-json/wc/v3/orders/13?JWT=x", `{}`, policytest.JSONType, "cannot_edit"},
		"a cookie of a plugin":    {"PUT", "/wp-json/wc/v3/orders/13", `{}`, "Cookie: staff=x", "cannot_edit"},
		"a cookie without nonce":  {"PUT", "/wp-json/wc/v3/orders/13", `{}`, cookie, "cannot_edit"},
		"rest_route":              {"POST", "/?rest_route=/wc/v3/orders/13", "", policytest.JSONType, "cannot_edit"},
		"a batch":                 {"POST", "/wp-json/wc/v3/orders/batch?JWT=x", `{"update":[{"id":7}]}`, policytest.JSONType, "cannot_batch"},
		"a part of the core's":    {"POST", "/wp-json/batch/v1?JWT=x", `{"requests":[{"method":"PUT","path":"/wc/v3/orders/13"}]}`, policytest.JSONType, "cannot_edit"},
		"a delete":                {"DELETE", "/wp-json/wc/v3/orders/13", "", policytest.JSONType, "cannot_delete"},
		"a refund":                {"POST", "/wp-json/wc/v3/orders/13/refunds", `{}`, policytest.JSONType, "cannot_create"},
		"a new order":             {"POST", "/wp-json/wc/v3/orders", `{}`, policytest.JSONType, ""},
		"a batch of new orders":   {"POST", "/wp-json/wc/v3/orders/batch", `{"create":[{}]}`, policytest.JSONType, ""},
		"a read":                  {"GET", "/wp-json/wc/v3/orders/13", "", policytest.JSONType, ""},
		"a subscription's route":  {"PUT", "/wp-json/wc/v3/subscriptions/13", `{}`, policytest.JSONType, ""},
		"a record that v1 checks": {"PUT", "/wp-json/wc/v1/orders/13", `{}`, policytest.JSONType, ""},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs", Strict: true})
		backend := policytest.Shop(nil)
		d := policytest.Alone("order_type", p).Judge(t.Context(), policytest.Request(t, s, backend, test.method, test.target, test.body, test.header))
		want := strings.TrimSuffix("woocommerce_rest_"+test.code, "woocommerce_rest_")
		switch {
		case string(d.Verdict.Code) != want, d.Verdict.Refused() && d.Verdict.Status != 401:
			t.Errorf("%s: got %+v, %v", name, d.Verdict, d.Err)
		case len(backend.Questions()) > 0:
			t.Errorf("%s: %d questions", name, len(backend.Questions()))
		case want != "" && !strings.Contains(d.Why(), "the line credentials names it"):
			t.Errorf("%s: why: %s", name, d.Why())
		}
	}
}

// TestOrderType_NobodyWhereTheShopChecks: where the shop is configured as a release that checks
// the record itself, such an update is its own.
func TestOrderType_NobodyWhereTheShopChecks(t *testing.T) {
	for text, status := range map[string]int{"10.7": 401, "10.8": 0, "11.1": 0} {
		s := policytest.NewSite(t)
		s.Release, _ = policy.ParseRelease(text)
		d := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13?JWT=x", `{}`, policytest.JSONType))
		if d.Verdict.Status != status {
			t.Errorf("%s: got %+v", text, d.Verdict)
		}
	}
	s := policytest.NewSite(t)
	s.Release, _ = policy.ParseRelease("11.1")
	d := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("order_type")).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13?JWT=x", `{}`, policytest.JSONType))
	if d.Verdict.Status != 401 || !strings.Contains(d.Why(), "in place of the line order_type ends the check") {
		t.Errorf("named: got %+v, %s", d.Verdict, d.Why())
	}
	s = policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("order_type", policytest.Line("mode observe")))
	if d := c.Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13?JWT=x", `{}`, policytest.JSONType)); d.Outcome != policy.WouldRefuse {
		t.Errorf("in mode observe: got %+v", d)
	}
}
