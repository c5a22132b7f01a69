package ordertype

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_ToolMessagesThatAreLists: the tool server reads one JSON message, or a
// list if PHP sees a list.
func TestOrderType_ToolMessagesThatAreLists(t *testing.T) {
	const message = `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":13}}}`
	for _, test := range []struct{ target, body string }{
		{"?method=ping", "[" + message + "]"},
		{"", `{"0":` + message + `,"method":"ping"}`},
		{"?method=ping", message},
		{"?method=tools/call&params[name]=woocommerce-orders-update&params[arguments][id]=13", "{}"},
		{"?%20params[name]=x", `{"method":null}`},
		{"?method=x", ""},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, policytest.Shop(nil), "POST", "/wp-json/woocommerce/mcp"+test.target, test.body, policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1")
		if d := policytest.Alone("order_type", p).Judge(t.Context(), r); d.Verdict.Status != 400 {
			t.Errorf("%+v: got %+v", test, d)
		}
	}
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	forged := policytest.Shop(map[string]*ask.Answer{})
	forged.Answer = func(q ask.Question) (*ask.Answer, error) {
		if q.Key == "ck_no:cs_no" {
			return asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`), nil
		}
		return policytest.Shop(nil).Answer(q)
	}
	r := policytest.Request(t, s, forged, "POST", "/wp-json/woocommerce/mcp", message, policytest.JSONType, "X-MCP-API-Key: ck_no:cs_no")
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 401 {
		t.Errorf("a forged key: %+v, %v", v, err)
	}
}

// TestOrderType_ToolJunkIsBounded: keys that the shop does not know meet the limit of
// questions, and keys that it knows do not.
func TestOrderType_ToolJunkIsBounded(t *testing.T) {
	const message = `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":%d}}}`
	for name, test := range map[string]struct {
		backend *asktest.Platform
		limited int
	}{
		"unknown keys": {asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), 30},
		"good keys":    {policytest.Shop(nil), 0},
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		limited := 0
		for id := range 150 {
			key := fmt.Sprintf("X-MCP-API-Key: ck_%d:cs_x", id)
			r := policytest.Request(t, s, test.backend, "POST", "/wp-json/woocommerce/mcp", fmt.Sprintf(message, id+100), policytest.JSONType, key)
			if _, err := p.Check(t.Context(), r); errors.Is(err, ask.ErrTooMany) {
				limited++
			}
		}
		if !refilled(limited, test.limited) {
			t.Errorf("%s: %d calls limited, want %d", name, limited, test.limited)
		}
	}
}

// TestOrderType_ToolMessagesThatHideACall: newer releases of the tool server read these
// as another call: params inside params, and names with blanks or NUL around them.
func TestOrderType_ToolMessagesThatHideACall(t *testing.T) {
	call := func(name string) string {
		return `{"name":"` + name + `","arguments":{"id":13}}`
	}
	for body, want := range map[string]int{
		`{"method":"tools/call","params":{"name":"read","params":` + call("woocommerce-orders-update") + `}}`:  400,
		`{"method":"tools/call","params":{"params":null,"name":"read"}}`:                                       400,
		`{"method":"tools/list","params":{"params":{}}}`:                                                       400,
		`{"method":"tools/call","params":` + call(`woocommerce-orders-update `) + `}`:                          400,
		`{"method":"tools/call","params":` + call(`\u0000woocommerce-orders-update`) + `}`:                     400,
		`{"method":"tools/call","params":` + call(`woocommerce-orders-update\u000b`) + `}`:                     400,
		`{"method":"tools/call","params":` + call(`woocommerce-orders-update\u00a0`) + `}`:                     400,
		`{"method":"tools/call","params":` + call(`woocommerce-orders-update`) + `}`:                           400,
		`{"method":"tools/call","params":{"name":"woocommerce-orders-get","arguments":{"id":13,"params":{}}}}`: 0,
		`{"method":"initialize","params":{"clientInfo":{"name":"An agent of mine"}}}`:                          0,
		`{"method":"tools/list"}`: 0,
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		r := policytest.Request(t, s, policytest.Shop(nil), "POST", "/wp-json/woocommerce/mcp", body, policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1")
		if d := policytest.Alone("order_type", p).Judge(t.Context(), r); d.Verdict.Status != want {
			t.Errorf("%s: got %+v", body, d)
		}
	}
}

// TestOrderType_CutToolNames: the name that newer adapters make of an id over 128 characters no
// longer tells how the id ended.
func TestOrderType_CutToolNames(t *testing.T) {
	name := strings.Repeat("a", 115) + "-0123456789ab"
	call := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	for _, route := range []string{"/wp-json/woocommerce/mcp", policytest.Adapter} {
		for body, want := range map[string]int{
			call(name, `{"id":13}`):           400,
			call(name+`\u000b`, `{"id":13}`):  400,
			call(name, `{"id":"13abc"}`):      400,
			call(name, `{"id":7}`):            0,
			call(name, `{"sku":"13"}`):        0,
			call(name[1:], `{"id":13}`):       0,
			call(name[:127]+"g", `{"id":13}`): 0,
		} {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			r := policytest.Request(t, s, policytest.Shop(nil), "POST", route, body, policytest.JSONType, policytest.BasicAuth, "X-MCP-API-Key: ck_1:cs_1")
			if d := policytest.Alone("order_type", p).Judge(t.Context(), r); d.Verdict.Status != want {
				t.Errorf("%s %s: got %+v, %v", route, body, d.Verdict, d.Err)
			}
		}
	}
}

// TestOrderType_ToolCredential: the credential goes to the shop alone. Another program may have a
// server of tools at the same route below another base.
func TestOrderType_ToolCredential(t *testing.T) {
	const message = `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":7}}}`
	for namespace, want := range map[string]bool{"wc/v3": true, "wp/v2": false} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
		backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			switch {
			case q.Kind == ask.KindIndex:
				return asktest.JSON(200, `{"home":"https://a.test/other","namespaces":["`+namespace+`"]}`), nil
			case q.Key == "ck_1:cs_1":
				return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`), nil
			}
			return policytest.Shop(nil).Answer(q)
		}}
		v, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", "/other/wp-json/woocommerce/mcp", message, policytest.JSONType, "X-MCP-API-Key: ck_1:cs_1"))
		sent := slices.ContainsFunc(backend.Questions(), func(q ask.Question) bool { return q.Key == "ck:cs" })
		if sent != want || (err == nil && !v.Refused()) != want {
			t.Errorf("%s: sent %v, %+v, %v", namespace, sent, v, err)
		}
	}
}
