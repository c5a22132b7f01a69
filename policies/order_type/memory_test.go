package ordertype

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_ToolMemory: what is looked for in the arguments of a tool takes no multiple of
// their size, whatever else they hold.
func TestOrderType_ToolMemory(t *testing.T) {
	const size = 1 << 20
	p := policytest.Provision(t, policytest.NewSite(t), new(OrderType))
	fill := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") }
	in := func(begin, data, end string) string { return begin + data + end }
	for name, test := range map[string]struct {
		body string
		ids  int
	}{
		"lists":          {policytest.ToolCall("woocommerce-orders-update", in(`{"id":7,"meta":[`, fill("[],"), `]}`)), 1},
		"objects":        {policytest.ToolCall("woocommerce-orders-update", in(`{"meta":[`, fill(`{"a":0},`), `],"id":7}`)), 1},
		"a text":         {policytest.ToolCall("woocommerce-orders-update", in(`{"id":7,"meta":"`, fill(`\u0041`), `"}`)), 1},
		"numbers":        {policytest.ExecutorOf("woocommerce/orders-update", in(`{"id":7,"meta":[`, fill("1,"), `]}`)), 1},
		"inside data":    {rest("PUT", "/wc/v3/orders/7", in(`{"id":7,"meta":[`, fill("[],"), `]}`)), 2},
		"instead of it":  {rest("PUT", "/wc/v3/orders/7", in(`[`, fill("[],"), `]`)), 0},
		"beside a route": {rest("PUT", "/wc/v3/products/7", in(`[`, fill("{},"), `]`)), 0},
	} {
		m, err := mcp.ReadCall([]byte(test.body), http.Header{})
		if err != nil {
			t.Fatal(name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ids, err := p.updatedBy(m)
		runtime.ReadMemStats(&after)
		if len(ids) != test.ids {
			t.Errorf("%s: %v, %v", name, ids, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*size {
			t.Errorf("%s: %d bytes for %d", name, n, len(test.body))
		}
	}
}
