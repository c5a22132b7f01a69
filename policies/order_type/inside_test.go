package ordertype

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

const restDoor = "/wp-json/wp/v2/wpmcp"

func inner(method, route, data string) string {
	return `{"route":"` + route + `","method":"` + method + `","data":` + data + `}`
}

// rest calls the tool that runs REST inside.
func rest(method, route, data string) string {
	return policytest.ToolCall("run_api_function", inner(method, route, data))
}

// numbered returns form n times, each with its number.
func numbered(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// TestOrderType_AnyServer: the same update by tools of other servers. 7 is an order, 13 is
// not.
func TestOrderType_AnyServer(t *testing.T) {
	in := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	harmful := `{"name":"run_api_function","arguments":` + inner("PUT", "/wc/v3/orders/13", "{}") + `}`
	for name, test := range map[string]struct{ door, body string }{
		"PATCH":                         {restDoor, rest("PATCH", "/wc/v3/orders/13", `{"status":"completed"}`)},
		"POST":                          {restDoor, rest("POST", "/wc/v3/orders/13", `{}`)},
		"PUT":                           {restDoor, rest("PUT", "/wc/v3/orders/13", `{}`)},
		"method in small letters":       {restDoor, rest("put", "/wc/v3/orders/13", `{}`)},
		"v2":                            {restDoor, rest("PUT", "/wc/v2/orders/13", `{}`)},
		"analytics":                     {restDoor, rest("PUT", "/wc-analytics/orders/13", `{}`)},
		"streamable":                    {restDoor + "/streamable", rest("PUT", "/wc/v3/orders/13", `{}`)},
		"another door":                  {"/wp-json/lp/v1/mcp", rest("PUT", "/wc/v3/orders/13", `{}`)},
		"a prefix":                      {restDoor, policytest.ToolCall("wp_run_api_function", inner("PUT", "/wc/v3/orders/13", "{}"))},
		"id in data":                    {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":13}`)},
		"id in data, text":              {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":"13"}`)},
		"id in data, odd":               {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":"13abc"}`)},
		"id in data, list":              {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":[13]}`)},
		"id in data by another name":    {restDoor, policytest.ToolCall("run_api_function", `{"route":"/wc/v3/orders/7","method":"PUT","params":{"id":13}}`)},
		"id in the route is no order":   {restDoor, rest("PUT", "/wc/v3/orders/13", `{"id":7}`)},
		"data by very many names":       {restDoor, policytest.ToolCall("run_api_function", `{"route":"/wc/v3/orders/7","method":"PUT"`+numbered(17, `,"n%d":{"id":7}`)+`}`)},
		"data is a text":                {restDoor, rest("PUT", "/wc/v3/orders/7", `"{\"id\":13}"`)},
		"data is a list":                {restDoor, rest("PUT", "/wc/v3/orders/7", `[13]`)},
		"route in capitals":             {restDoor, rest("PUT", "/WC/V3/Orders/13", `{}`)},
		"route without a slash":         {restDoor, rest("PUT", "wc/v3/orders/13/", `{}`)},
		"route with a query":            {restDoor, rest("PUT", "/wc/v3/orders/13?x=1", `{}`)},
		"route with a line feed":        {restDoor, rest("PUT", `/wc/v3/orders/13\n`, `{}`)},
		"route with an escape":          {restDoor, rest("PUT", "/wc/v3/%6frders/13", `{}`)},
		"route with two slashes":        {restDoor, rest("PUT", "/wc//v3/orders/13", `{}`)},
		"route is a list":               {restDoor, policytest.ToolCall("run_api_function", `{"route":["/wc/v3/orders/13"],"method":"PUT"}`)},
		"no method":                     {restDoor, policytest.ToolCall("run_api_function", `{"route":"/wc/v3/orders/13"}`)},
		"batch of orders":               {restDoor, rest("POST", "/wc/v3/orders/batch", `{"update":[{"id":13}]}`)},
		"batch of the core":             {restDoor, rest("POST", "/batch/v1", `{"requests":[]}`)},
		"a message in a message":        {restDoor, rest("POST", "/wp/v2/wpmcp", policytest.ToolCall("x", "{}"))},
		"an ability in a message":       {restDoor, rest("POST", "/wp-abilities/v1/abilities/woocommerce/orders-update/run", `{"input":{"id":13}}`)},
		"without jsonrpc and id":        {restDoor, `{"method":"tools/call","params":` + harmful + `}`},
		"beside method":                 {restDoor, `{"method":"tools/call",` + harmful[1:]},
		"params in params":              {restDoor, in(`{"name":"x","params":` + harmful + `}`)},
		"params in params in params":    {restDoor, in(`{"name":"x","params":{"params":` + harmful + `}}`)},
		"a list":                        {restDoor + "/streamable", "[" + in(harmful) + "]"},
		"the key 0":                     {restDoor + "/streamable", `{"0":` + in(harmful) + `,"method":"ping"}`},
		"a key twice":                   {restDoor, `{"method":"ping",` + in(harmful)[1:]},
		"the name twice":                {restDoor, in(`{"name":"wp_get_post",` + harmful[1:])},
		"the name in escapes":           {restDoor, in(strings.Replace(harmful, "run_api", `run\u005fapi`, 1))},
		"the name and a blank":          {restDoor, in(strings.Replace(harmful, `function"`, `function "`, 1))},
		"route in escapes, a list":      {restDoor + "/streamable", "[" + in(strings.ReplaceAll(harmful, "/orders/", `\/\u006frders\/`)) + "]"},
		"execute-ability":               {policytest.Adapter, policytest.ExecutorOf("woocommerce/orders-update", `{"id":13}`)},
		"execute-ability, by dashes":    {"/wp-json/team/mcp", strings.Replace(policytest.ExecutorOf("woocommerce/orders-update", `{"id":13}`), "mcp-adapter-", "team-", 1)},
		"execute-ability, no id":        {policytest.Adapter, policytest.ExecutorOf("woocommerce/orders-update", `{}`)},
		"execute-ability, odd id":       {policytest.Adapter, policytest.ExecutorOf("woocommerce/orders-update", `{"id":"13 "}`)},
		"a custom server":               {"/wp-json/team/mcp", policytest.ToolCall("woocommerce-orders-update", `{"id":13}`)},
		"a custom server, trimmed name": {"/wp-json/team/mcp", policytest.ToolCall(` woocommerce-orders-update`, `{"id":13}`)},
		"a custom server, a list":       {"/wp-json/team/mcp", "[" + policytest.ToolCall("woocommerce-orders-update", `{"id":13}`) + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			if d := judgedAtDoor(t, test.door, test.body); d.Verdict.Status != http.StatusBadRequest || d.Policy != "order_type" {
				t.Errorf("got %+v (%v)", d, d.Err)
			}
		})
	}
}

func judgedAtDoor(t *testing.T, door, body string) policy.Decision {
	t.Helper()
	s := policytest.NewSite(t)
	return policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("recommended off")).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "POST", door, body, policytest.JSONType, policytest.BasicAuth))
}

// TestOrderType_AnyServersOrdinaryCalls: what updates orders, or no order at all.
func TestOrderType_AnyServersOrdinaryCalls(t *testing.T) {
	for name, test := range map[string]struct{ door, body string }{
		"order":                      {restDoor, rest("PATCH", "/wc/v3/orders/7", `{"status":"completed"}`)},
		"order, id in data":          {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":7}`)},
		"order, no data":             {restDoor, policytest.ToolCall("run_api_function", `{"route":"/wc/v3/orders/7","method":"PUT","data":[]}`)},
		"order, an old client":       {restDoor, `{"method":"tools/call","name":"run_api_function","arguments":` + inner("PUT", "/wc/v3/orders/7", "{}") + `}`},
		"read":                       {restDoor, rest("GET", "/wc/v3/orders/13", `{}`)},
		"read, with a query":         {restDoor, `{"method":"tools/call","params":{"name":"run_api_function","arguments":{"route":"/wc/v3/orders/?context=edit","method":"GET"}}}`},
		"delete":                     {restDoor, rest("DELETE", "/wc/v3/orders/13", `{"force":true}`)},
		"new order":                  {restDoor, rest("POST", "/wc/v3/orders", `{"status":"pending"}`)},
		"note":                       {restDoor, rest("POST", "/wc/v3/orders/13/notes", `{"note":"x"}`)},
		"subscription":               {restDoor, rest("PUT", "/wc/v3/subscriptions/13", `{"id":13}`)},
		"post about orders":          {restDoor, rest("POST", "/wp/v2/posts", `{"content":"see /wc/v3/orders/13 and orders-update"}`)},
		"another tool":               {restDoor, `{"method":"tools/call","name":"wp_update_post","arguments":{"id":13,"title":"a"}}`},
		"another tool, nested":       {restDoor, `{"method":"tools/call","params":{"params":{"name":"wp_update_post","arguments":{"id":13}}}}`},
		"another tool, a list":       {restDoor + "/streamable", `[` + policytest.ToolCall("wp_update_post", `{"id":13}`) + `]`},
		"users, odd envelope":        {restDoor, `{"method":"tools/call","params":{"params":{"name":"run_api_function","arguments":` + inner("GET", "/wp/v2/users?x=1", "{}") + `}}}`},
		"no message":                 {"/wp-json/my-mcp/v1/settings", `{"name":"run_api_functions are off","x":1}`},
		"list":                       {policytest.Adapter, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		"described":                  {policytest.Adapter, policytest.ToolCall("mcp-adapter-get-ability-info", `{"ability_name":"woocommerce/orders-update"}`)},
		"another ability":            {policytest.Adapter, policytest.ExecutorOf("woocommerce/order-update-status", `{"id":13,"status":"completed"}`)},
		"execute-ability, an order":  {policytest.Adapter, policytest.ExecutorOf("woocommerce/orders-update", `{"id":7}`)},
		"a custom server, an order":  {"/wp-json/team/mcp", policytest.ToolCall("woocommerce-orders-update", `{"id":"7"}`)},
		"a custom server, its query": {"/wp-json/team/mcp", policytest.ToolCall("woocommerce-orders-query", `{"id":13}`)},
	} {
		t.Run(name, func(t *testing.T) {
			if d := judgedAtDoor(t, test.door, test.body); d.Outcome != policy.Pass {
				t.Errorf("got %+v (%v)", d, d.Err)
			}
		})
	}
}

// TestOrderType_InnerCallsStrict: strict covers inner deletes and refunds.
func TestOrderType_InnerCallsStrict(t *testing.T) {
	for body, want := range map[string]int{
		inner("DELETE", "/wc/v3/orders/13", "{}"):                        400,
		inner("DELETE", "/wc/v3/orders/7", "{}"):                         0,
		inner("POST", "/wc/v3/orders/13/refunds", "{}"):                  400,
		inner("POST", "/wc/v3/orders/7/refunds", `{"order_id":13}`):      400,
		inner("POST", "/wc/v3/orders/7/refunds", `{"amount":"1.00"}`):    0,
		inner("DELETE", "/wc/v3/orders/13?force=true", `{"force":true}`): 400,
	} {
		s := policytest.NewSite(t)
		c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry}, policytest.Line("order_type", policytest.Line("strict")), policytest.Line("recommended off"))
		r := policytest.Request(t, s, policytest.Shop(nil), "POST", restDoor, policytest.ToolCall("run_api_function", body), policytest.JSONType, policytest.BasicAuth)
		if d := c.Judge(t.Context(), r); d.Verdict.Status != want {
			t.Errorf("%s: got %+v (%v), want %d", body, d, d.Err, want)
		}
	}
}

// TestOrderType_BodiesAtDoors: what some servers read beside the JSON of a POST.
func TestOrderType_BodiesAtDoors(t *testing.T) {
	harmful := policytest.ToolCall("run_api_function", inner("PUT", "/wc/v3/orders/13", "{}"))
	for name, test := range map[string]struct {
		method, target, body, kind string
		status                     int
	}{
		"text":                 {"POST", restDoor, harmful, "Content-Type: text/plain", 400},
		"no type":              {"POST", restDoor, harmful, "X: y", 400},
		"a part of the type":   {"POST", restDoor + "/streamable", harmful, "Content-Type: text/x;application/json", 400},
		"overridden":           {"GET", restDoor + "?_method=POST", harmful, policytest.JSONType, 400},
		"by PUT":               {"PUT", restDoor + "/streamable", harmful, policytest.JSONType, 400},
		"a member in a query":  {"POST", restDoor + "?params[name]=x", harmful, policytest.JSONType, 400},
		"broken":               {"POST", restDoor, harmful[:len(harmful)-1], policytest.JSONType, 400},
		"over the limit":       {"POST", restDoor, strings.Repeat(" ", 1<<20) + harmful, policytest.JSONType, 413},
		"raw, called a form":   {"PUT", restDoor + "?_method=POST", harmful, "Content-Type: multipart/form-data; boundary=a", 400},
		"pass/settings":        {"POST", "/wp-json/my-mcp/v1/settings", "a=b&name=c%5Cd", policytest.FormType, 0},
		"pass/an upload":       {"POST", "/wp-json/mcp/v1/upload/abc", "--a\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\\x\r\n--a--\r\n", "Content-Type: multipart/form-data; boundary=a", 0},
		"pass/bytes":           {"PUT", "/wp-json/mcp/v1/upload/abc", "\x00\\\xff", "Content-Type: image/png", 0},
		"pass/a session's end": {"DELETE", policytest.Adapter, "", "X: y", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			d := policytest.Alone("order_type", policytest.Provision(t, s, new(OrderType))).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(nil), test.method, test.target, test.body, test.kind, policytest.BasicAuth))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// TestOrderType_CallersOfServers: servers of tools take callers who are nobody to the
// platform, such as one with a login cookie alone.
func TestOrderType_CallersOfServers(t *testing.T) {
	nobody := map[string]*ask.Answer{
		"caller":          asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`),
		"/wp/v2/users/me": asktest.JSON(401, `{"code":"rest_not_logged_in"}`),
	}
	for name, test := range map[string]struct {
		credential, header string
		answers            map[string]*ask.Answer
		id, status         int
		lines              bool // the record names the lines that end the refusal
	}{
		"cookie alone":                        {"", policytest.LoginLine, nil, 13, 503, true},
		"nobody":                              {"", "X-Nobody: y", nil, 13, 403, true},
		"nobody, credential":                  {"ck:cs", "X-Nobody: y", nil, 13, 403, false},
		"nobody, credential, an order":        {"ck:cs", "X-Nobody: y", nil, 7, 0, false},
		"cookie alone, credential":            {"ck:cs", policytest.LoginLine, nil, 13, 403, false},
		"cookie alone, credential, an order":  {"ck:cs", policytest.LoginLine, nil, 7, 0, false},
		"a token of its own":                  {"", "Authorization: Bearer x", nobody, 13, 401, true},
		"a token of its own, credential":      {"ck:cs", "Authorization: Bearer x", nobody, 13, 403, false},
		"a token, credential, an order":       {"ck:cs", "Authorization: Bearer x", nobody, 7, 0, false},
		"an application password":             {"", policytest.BasicAuth, nil, 13, 400, false},
		"an application password, credential": {"ck:cs", policytest.BasicAuth, map[string]*ask.Answer{"/wp/v2/users/me": asktest.JSON(200, policytest.AdminBody)}, 13, 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, &OrderType{Credential: test.credential})
			body := policytest.ToolCall("run_api_function", inner("PUT", fmt.Sprintf("/wc/v3/orders/%d", test.id), "{}"))
			d := policytest.Alone("order_type", p).Judge(t.Context(), policytest.Request(t, s, policytest.Shop(test.answers), "POST", restDoor, body, policytest.JSONType, test.header))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
			if lines := strings.Contains(d.Why(), "release 11.1") && strings.Contains(d.Why(), credentialLine); lines != test.lines {
				t.Errorf("why: %q", d.Why())
			}
		})
	}
}
