package policies

import (
	"testing"
)

// The tool server reads one JSON message, or a list where PHP sees one.
func TestOrderType_ToolMessagesThatAreLists(t *testing.T) {
	const message = `{"method":"tools/call","params":{"name":"woocommerce-orders-update","arguments":{"id":13}}}`
	for _, test := range []struct{ target, body string }{
		{"?method=ping", "[" + message + "]"}, {"", `{"0":` + message + `,"method":"ping"}`}, {"?method=ping", message},
	} {
		s := newSite(t)
		p := provision(t, s, new(OrderType))
		r := request(t, s, shopOf(nil), "POST", "/wp-json/woocommerce/mcp"+test.target, test.body, jsonType, "X-MCP-API-Key: ck_1:cs_1")
		if d := (&Chain{links: []link{{"order_type", p, &p.Common}}}).Judge(t.Context(), r); d.Verdict.Status != 400 {
			t.Errorf("%+v: got %+v", test, d)
		}
	}
	s := newSite(t)
	p := provision(t, s, &OrderType{Credential: "ck:cs"})
	forged := shopOf(map[string]*Answer{})
	forged.answer = func(q Question) (*Answer, error) {
		if q.Key == "ck_no:cs_no" {
			return jsonAnswer(401, `{"code":"woocommerce_rest_cannot_view"}`), nil
		}
		return shopOf(nil).answer(q)
	}
	r := request(t, s, forged, "POST", "/wp-json/woocommerce/mcp", message, jsonType, "X-MCP-API-Key: ck_no:cs_no")
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 401 {
		t.Errorf("a forged key: %+v, %v", v, err)
	}
}
