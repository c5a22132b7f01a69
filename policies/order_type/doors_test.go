package ordertype

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_Doors: more ways to the same update.
func TestOrderType_Doors(t *testing.T) {
	const toolKey = "X-MCP-API-Key: ck_1:cs_1"
	tool := func(name, id string) string {
		return `{"method":"tools/call","params":{"name":"` + name + `","arguments":{"id":` + id + `}}}`
	}
	strict := policytest.Line("order_type", policytest.Line("strict"))
	for name, test := range map[string]struct {
		options              []policy.Option
		method, target, body string
		status               int
	}{
		"first of a batch":              {nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":13},{"id":7}]}`, 400},
		"last of a batch":               {nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":13}]}`, 400},
		"twice in a batch":              {nil, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":13},{"id":13}]}`, 400},
		"part of the core's batch":      {nil, "POST", "/wp-json/batch/v1", `{"requests":[{"method":"PUT","path":"/wc/v3/orders/7","body":{"id":13}}]}`, 400},
		"odd id in a part":              {nil, "POST", "/wp-json/batch/v1", `{"requests":[{"method":"PUT","path":"/wc/v3/orders/7","body":{"id":"13abc"}}]}`, 400},
		"odd id in a part's query":      {nil, "POST", "/wp-json/batch/v1", `{"requests":[{"method":"PUT","path":"/wc/v3/orders/7?id=13abc"}]}`, 400},
		"refund without strict":         {nil, "POST", "/wp-json/wc/v3/orders/13/refunds", `{}`, 0},
		"refund":                        {[]policy.Option{strict}, "POST", "/wp-json/wc/v3/orders/13/refunds", `{}`, 400},
		"refund of another order":       {[]policy.Option{strict}, "POST", "/wp-json/wc/v3/orders/7/refunds", `{"order_id":13}`, 400},
		"refunds are read":              {[]policy.Option{strict}, "GET", "/wp-json/wc/v3/orders/13/refunds", "", 0},
		"delete":                        {[]policy.Option{strict}, "DELETE", "/wp-json/wc/v3/orders/13", "", 400},
		"delete in a batch":             {[]policy.Option{strict}, "POST", "/wp-json/wc/v3/orders/batch", `{"delete":[13,7]}`, 400},
		"tool, route in capitals":       {nil, "POST", "/wp-json/WooCommerce/MCP", tool("woocommerce-orders-update", "13"), 400},
		"tool, overridden method":       {nil, "PUT", "/wp-json/woocommerce/mcp?_method=POST", tool("woocommerce-orders-update", "13"), 400},
		"tool, name in capitals":        {nil, "POST", "/wp-json/woocommerce/mcp", tool("WooCommerce-Orders-Update", "13"), 400},
		"tool, name of an ability":      {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce/orders-update", "13"), 400},
		"tool, name with underscores":   {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce_orders_update", "13"), 400},
		"tool, name of a path":          {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce/orders/update", "13"), 400},
		"tool, odd id":                  {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce-orders-update", `"13abc"`), 400},
		"tool, no id":                   {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce-orders-update", `null`), 400},
		"tool, a list of messages":      {nil, "POST", "/wp-json/woocommerce/mcp", "[" + tool("woocommerce-orders-update", "13") + "]", 400},
		"tool, a negative index":        {nil, "POST", "/wp-json/woocommerce/mcp", `{"-1":` + tool("woocommerce-orders-update", "13") + `,"method":"ping"}`, 400},
		"tool, an order":                {nil, "POST", "/wp-json/woocommerce/mcp", tool("woocommerce-orders-update", "7"), 0},
		"tool, another method about it": {nil, "POST", "/wp-json/woocommerce/mcp", strings.Replace(tool("woocommerce-orders-update", "13"), "call", "list", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry, abilities.Entry}, append(test.options, policytest.Line("recommended off"))...)
			d := c.Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), test.method, test.target, test.body, policytest.JSONType, policytest.BasicAuth, toolKey))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v, want %d", d, test.status)
			}
		})
	}
}

// TestOrderType_KeyOfTheGatewayRefused: if the gateway's own key may not read, the policy
// cannot decide. It does not take the record for another than an order.
func TestOrderType_KeyOfTheGatewayRefused(t *testing.T) {
	refused := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		return asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`), nil
	}}
	for _, target := range []string{
		"/wp-json/wc/v3/orders/13?_for=jetpack&token=a&signature=b", "/wp-json/wc/v3/orders/13?oauth_consumer_key=a&oauth_signature=b",
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
		if v, err := p.Check(t.Context(), policytest.Request(t, s, refused, "PUT", target, `{}`, policytest.JSONType)); !errors.Is(err, ask.ErrUndecided) {
			t.Errorf("%s: got %+v, %v", target, v, err)
		}
	}
}

// TestOrderType_MayWriteOnly: a caller who may change orders of others learns what a
// record is.
func TestOrderType_MayWriteOnly(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	manager := map[string]*ask.Answer{
		"caller":          asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`),
		"/wp/v2/users/me": asktest.JSON(200, `{"id":4,"roles":["x"],"capabilities":{"edit_others_shop_orders":true}}`),
	}
	v, err := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(manager), "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, policytest.BasicAuth))
	if err != nil || v.Status != 400 || v.Answer != nil {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestOrderType_Questions: questions take the way of the call and carry the caller's key.
// They try whether the key may write only if the record is not an order.
func TestOrderType_Questions(t *testing.T) {
	const key = "consumer_key=ck_1&consumer_secret=cs_1"
	for name, test := range map[string]struct {
		target, header string
		asked          []string // method base form route?query
	}{
		"key in the query":  {"/wp-json/wc/v3/orders/7?" + key, "Accept: */*", []string{"  pretty /wc/v3/orders/7/notes/0?" + key}},
		"key in the header": {"/wp-json/wc/v3/orders/7", policytest.ShopKey, []string{"  pretty /wc/v3/orders/7/notes/0?"}},
		"below a directory": {"/blog/wp-json/wc/v3/orders/7", policytest.BasicAuth, []string{" /blog pretty /wc/v3/orders/7/notes/0?"}},
		"in the query form": {"/blog/?rest_route=/wc/v3/orders/7", policytest.BasicAuth, []string{" /blog/ form /wc/v3/orders/7/notes/0?"}},
		"not an order, a key": {"/wp-json/wc/v3/orders/13", policytest.ShopKey, []string{
			"  pretty /wc/v3/orders/13/notes/0?", "  pretty /wc/v3/orders/13?_fields=id", "DELETE  pretty /wc/v3/orders/0/notes/0?force=true",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			backend := policytest.Shop(nil)
			if _, err := p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", test.target, `{}`, policytest.JSONType, test.header)); err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, q := range backend.Questions() {
				form := "pretty"
				if q.Form == call.Query {
					form = "form"
				}
				asked = append(asked, strings.Join([]string{q.Method, q.Base, form, q.Route + "?" + q.Query}, " "))
			}
			if strings.Join(asked, "\n") != strings.Join(test.asked, "\n") {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestOrderType_ListsOrdersOfAnyStatus: trashed orders and drafts are listed too.
func TestOrderType_ListsOrdersOfAnyStatus(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	backend := policytest.Shop(nil)
	r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8},{"id":9}]}`, policytest.JSONType, policytest.BasicAuth)
	if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Refused() {
		t.Fatalf("got %+v, %v", v, err)
	}
	if q := backend.Questions(); len(q) != 1 || !strings.Contains("&"+q[0].Query+"&", "&status=any&") || !strings.Contains(q[0].Query, "include=7,8,9") {
		t.Errorf("asked %+v", q)
	}
}

// TestOrderType_ProofsEnd: a delete that passes ends a proof, however it is spelled, for
// one host alone.
func TestOrderType_ProofsEnd(t *testing.T) {
	const batch = "/wp-json/wc/v3/orders/batch"
	for name, test := range map[string]struct {
		method, target, body string
		ended                int // how many of the proofs of 7 and 8
	}{
		"delete":             {"DELETE", "/wp-json/wc/v3/orders/7", "", 1},
		"delete in capitals": {"DELETE", "/wp-json/WC/v3/Orders/7", "", 1},
		"_method":            {"POST", "/wp-json/wc/v3/orders/7?_method=DELETE", "", 1},
		"batch":              {"POST", batch, `{"delete":[7,8]}`, 2},
		"batch, last one":    {"POST", batch, `{"update":[{"id":7}],"delete":[8]}`, 1},
		"update":             {"PUT", "/wp-json/wc/v3/orders/7", `{}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			backend := policytest.Shop(nil)
			prove := func(host string) (asked int) {
				before := len(backend.Questions())
				for _, id := range []string{"7", "8"} {
					r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/"+id, `{}`, policytest.JSONType, policytest.BasicAuth)
					r.HTTP.Host = host
					if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
						t.Fatalf("got %+v, %v", v, err)
					}
				}
				return len(backend.Questions()) - before
			}
			if n, other := prove("example.com"), prove("other.example"); n != 2 || other != 2 || prove("example.com") != 0 {
				t.Errorf("asked %d questions, of another host %d", n, other)
			}
			if done := p.Watch(policytest.Request(t, s, backend, test.method, test.target, test.body, policytest.JSONType)); done != nil {
				done(&ask.Answer{Status: http.StatusOK})
			}
			if n := prove("example.com"); n != test.ended {
				t.Errorf("%d proofs ended, want %d", n, test.ended)
			}
		})
	}
}

// TestOrderType_UncertainClaims: the guard asks about credentials that may count, even if
// the rules take the caller for anonymous.
func TestOrderType_UncertainClaims(t *testing.T) {
	for _, target := range []string{
		"/wp-json/WC/v3/orders/13?oauth_consumer_key=a&oauth_signature=b",
		"/wp-json/WC/v3/orders/13?consumer_key=ck_1&consumer_secret=cs_1",
		"/?rest_route=/wc/v3/orders/13&oauth_consumer_key=a&oauth_signature=b",
	} {
		s := policytest.NewSite(t)
		d := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry, abilities.Entry}).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", target, `{}`, policytest.JSONType))
		if d.Verdict.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: got %+v", target, d)
		}
	}
}
