package scope_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/policytest"
)

// TestScope_Inside: a call that a tool runs inside the platform is judged as one of the client's own, and refused where it has no
// certain reading. Other tools are the door's.
func TestScope_Inside(t *testing.T) {
	t.Parallel()
	const door = "/wp-json/wp/v2/wpmcp"
	lines := []string{"password " + uuid, "allow POST /wp/v2/wpmcp /zz/mcp /mcp/zz", "allow GET /wc/v3/orders /wc/v3/orders/:id", "allow /wp/v2/**", "allow PUT /wc/v3/orders/*", "\tonly status", "allow GET,POST /wc/v3/products/**"}
	inner := func(method, route, more string) string {
		return policytest.ToolCall("run_api_function", `{"route":"`+route+`","method":"`+method+`"`+more+`}`)
	}
	for name, tt := range map[string]struct {
		target, body string
		status       int
	}{
		"in the scope":              {door, inner("GET", "/wc/v3/orders", ""), 0},
		"small letters":             {door, inner("get", "wc/v3/Orders/", `,"data":[]`), 0},
		"another route":             {door, inner("GET", "/wc/v3/customers", ""), 403},
		"another method":            {door, inner("DELETE", "/wc/v3/orders/5", ""), 403},
		"another server":            {"/wp-json/zz/mcp", inner("GET", "/wc/v3/customers", ""), 403},
		"a prefix":                  {"/wp-json/mcp/zz", policytest.ToolCall("wp_run_api_function", `{"route":"/wc/v3/customers","method":"GET"}`), 403},
		"by the executor":           {"/wp-json/mcp/zz", policytest.ExecutorOf("acme/run-api-function", `{"route":"/wc/v3/customers","method":"GET"}`), 403},
		"in the scope, by executor": {"/wp-json/mcp/zz", policytest.ExecutorOf("acme/run-api-function", `{"route":"/wc/v3/orders","method":"GET"}`), 0},
		"a widening route":          {door, inner("POST", "/wp/v2/users", ""), 403},
		"under the wide line":       {door, inner("POST", "/wp/v2/posts", ""), 0},
		"conditions":                {door, inner("PUT", "/wc/v3/orders/5", `,"data":{"status":"completed"}`), 403},
		"a name":                    {door, inner("GET", "/wc/v3/orders/5", `,"data":{"x":1}`), 0},
		"a name twice":              {door, inner("GET", "/wc/v3/orders/5", `,"data":{"id":7}`), 403},
		"a name in another member":  {door, inner("GET", "/wc/v3/orders/5", `,"params":{"id":7}`), 403},
		"a name in a list":          {door, inner("GET", "/wc/v3/orders/5", `,"data":[{"id":7}]`), 403},
		"a batch":                   {door, inner("POST", "/batch/v1", ""), 400},
		"a collection's batch":      {door, inner("POST", "/wc/v3/products/batch", `,"data":{"delete":[5]}`), 403},
		"a batch that only reads":   {door, inner("GET", "/wc/v3/products/batch", ""), 0},
		"a query":                   {door, inner("GET", "/wc/v3/orders?x=1", ""), 400},
		"encoded":                   {door, inner("GET", "/wc/v3/%6frders", ""), 400},
		"no method":                 {door, policytest.ToolCall("run_api_function", `{"route":"/wc/v3/orders"}`), 400},
		"no message":                {door, `{"method":"tools/call","x":"run_api_function"`, 400},
		"another tool":              {door, policytest.ToolCall("wp_posts_search", `{"route":"/wc/v3/customers","method":"GET"}`), 0},
		"a list of tools":           {door, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0},
		"a door that is not opened": {"/wp-json/mcp/v1/messages", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 403},
	} {
		d := judge(t, judged{"POST", tt.target, tt.body, []string{basic("maria"), policytest.JSONType}}, nil, line("scope agent", lines...))
		if status(d) != tt.status {
			t.Errorf("%s: %d, want %d: %s", name, status(d), tt.status, d.Why())
		}
	}
	observing := append([]string{"mode observe"}, lines...)
	for _, body := range []string{inner("GET", "/wc/v3/customers", ""), inner("GET", "/wc/v3/orders?x=1", "")} {
		if d := judge(t, judged{"POST", door, body, []string{basic("maria"), policytest.JSONType}}, nil, line("scope agent", observing...)); !d.Verdict.Observed || !d.Verdict.Refused() {
			t.Errorf("%s: %+v", body, d.Verdict)
		}
	}
}
