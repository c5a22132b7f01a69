package policies

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

const (
	defaultDoor = "/wp-json/mcp/mcp-adapter-default-server"
	restDoor    = "/wp-json/wp/v2/wpmcp"
)

// callOf is a message that calls a tool.
func callOfTool(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

func inner(method, route, data string) string {
	return `{"route":"` + route + `","method":"` + method + `","data":` + data + `}`
}

// TestOrderType_AnyServer: the same update by tools of other servers. 7 is an order, 13 is
// not.
func TestOrderType_AnyServer(t *testing.T) {
	rest := func(method, route, data string) string {
		return callOfTool("run_api_function", inner(method, route, data))
	}
	run := func(ability, parameters string) string {
		return callOfTool("mcp-adapter-execute-ability", `{"ability_name":"`+ability+`","parameters":`+parameters+`}`)
	}
	in := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	harmful := `{"name":"run_api_function","arguments":` + inner("PUT", "/wc/v3/orders/13", "{}") + `}`
	for name, test := range map[string]struct {
		door, body string
		status     int
	}{
		"PATCH":                         {restDoor, rest("PATCH", "/wc/v3/orders/13", `{"status":"completed"}`), 400},
		"POST":                          {restDoor, rest("POST", "/wc/v3/orders/13", `{}`), 400},
		"PUT":                           {restDoor, rest("PUT", "/wc/v3/orders/13", `{}`), 400},
		"method in small letters":       {restDoor, rest("put", "/wc/v3/orders/13", `{}`), 400},
		"v2":                            {restDoor, rest("PUT", "/wc/v2/orders/13", `{}`), 400},
		"analytics":                     {restDoor, rest("PUT", "/wc-analytics/orders/13", `{}`), 400},
		"streamable":                    {restDoor + "/streamable", rest("PUT", "/wc/v3/orders/13", `{}`), 400},
		"another door":                  {"/wp-json/lp/v1/mcp", rest("PUT", "/wc/v3/orders/13", `{}`), 400},
		"a prefix":                      {restDoor, callOfTool("wp_run_api_function", inner("PUT", "/wc/v3/orders/13", "{}")), 400},
		"id in data":                    {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":13}`), 400},
		"id in data, text":              {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":"13"}`), 400},
		"id in data, odd":               {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":"13abc"}`), 400},
		"id in data, list":              {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":[13]}`), 400},
		"id in data by another name":    {restDoor, callOfTool("run_api_function", `{"route":"/wc/v3/orders/7","method":"PUT","params":{"id":13}}`), 400},
		"id in the route is no order":   {restDoor, rest("PUT", "/wc/v3/orders/13", `{"id":7}`), 400},
		"data is a text":                {restDoor, rest("PUT", "/wc/v3/orders/7", `"{\"id\":13}"`), 400},
		"data is a list":                {restDoor, rest("PUT", "/wc/v3/orders/7", `[13]`), 400},
		"route in capitals":             {restDoor, rest("PUT", "/WC/V3/Orders/13", `{}`), 400},
		"route without a slash":         {restDoor, rest("PUT", "wc/v3/orders/13/", `{}`), 400},
		"route with a query":            {restDoor, rest("PUT", "/wc/v3/orders/13?x=1", `{}`), 400},
		"route with a line feed":        {restDoor, rest("PUT", `/wc/v3/orders/13\n`, `{}`), 400},
		"route with an escape":          {restDoor, rest("PUT", "/wc/v3/%6frders/13", `{}`), 400},
		"route with two slashes":        {restDoor, rest("PUT", "/wc//v3/orders/13", `{}`), 400},
		"route is a list":               {restDoor, callOfTool("run_api_function", `{"route":["/wc/v3/orders/13"],"method":"PUT"}`), 400},
		"no method":                     {restDoor, callOfTool("run_api_function", `{"route":"/wc/v3/orders/13"}`), 400},
		"batch of orders":               {restDoor, rest("POST", "/wc/v3/orders/batch", `{"update":[{"id":13}]}`), 400},
		"batch of the core":             {restDoor, rest("POST", "/batch/v1", `{"requests":[]}`), 400},
		"a message in a message":        {restDoor, rest("POST", "/wp/v2/wpmcp", callOfTool("x", "{}")), 400},
		"an ability in a message":       {restDoor, rest("POST", "/wp-abilities/v1/abilities/woocommerce/orders-update/run", `{"input":{"id":13}}`), 400},
		"without jsonrpc and id":        {restDoor, `{"method":"tools/call","params":` + harmful + `}`, 400},
		"beside method":                 {restDoor, `{"method":"tools/call",` + harmful[1:], 400},
		"params in params":              {restDoor, in(`{"name":"x","params":` + harmful + `}`), 400},
		"params in params in params":    {restDoor, in(`{"name":"x","params":{"params":` + harmful + `}}`), 400},
		"a list":                        {restDoor + "/streamable", "[" + in(harmful) + "]", 400},
		"the key 0":                     {restDoor + "/streamable", `{"0":` + in(harmful) + `,"method":"ping"}`, 400},
		"a key twice":                   {restDoor, `{"method":"ping",` + in(harmful)[1:], 400},
		"the name twice":                {restDoor, in(`{"name":"wp_get_post",` + harmful[1:]), 400},
		"the name in escapes":           {restDoor, in(strings.Replace(harmful, "run_api", `run\u005fapi`, 1)), 400},
		"the name and a blank":          {restDoor, in(strings.Replace(harmful, `function"`, `function "`, 1)), 400},
		"route in escapes, a list":      {restDoor + "/streamable", "[" + in(strings.ReplaceAll(harmful, "/orders/", `\/\u006frders\/`)) + "]", 400},
		"execute-ability":               {defaultDoor, run("woocommerce/orders-update", `{"id":13}`), 400},
		"execute-ability, by dashes":    {"/wp-json/team/mcp", strings.Replace(run("woocommerce/orders-update", `{"id":13}`), "mcp-adapter-", "team-", 1), 400},
		"execute-ability, no id":        {defaultDoor, run("woocommerce/orders-update", `{}`), 400},
		"execute-ability, odd id":       {defaultDoor, run("woocommerce/orders-update", `{"id":"13 "}`), 400},
		"a custom server":               {"/wp-json/team/mcp", callOfTool("woocommerce-orders-update", `{"id":13}`), 400},
		"a custom server, trimmed name": {"/wp-json/team/mcp", callOfTool(` woocommerce-orders-update`, `{"id":13}`), 400},
		"a custom server, a list":       {"/wp-json/team/mcp", "[" + callOfTool("woocommerce-orders-update", `{"id":13}`) + "]", 400},

		"pass/order":                      {restDoor, rest("PATCH", "/wc/v3/orders/7", `{"status":"completed"}`), 0},
		"pass/order, id in data":          {restDoor, rest("PUT", "/wc/v3/orders/7", `{"id":7}`), 0},
		"pass/order, no data":             {restDoor, callOfTool("run_api_function", `{"route":"/wc/v3/orders/7","method":"PUT","data":[]}`), 0},
		"pass/order, an old client":       {restDoor, `{"method":"tools/call","name":"run_api_function","arguments":` + inner("PUT", "/wc/v3/orders/7", "{}") + `}`, 0},
		"pass/read":                       {restDoor, rest("GET", "/wc/v3/orders/13", `{}`), 0},
		"pass/read, with a query":         {restDoor, `{"method":"tools/call","params":{"name":"run_api_function","arguments":{"route":"/wc/v3/orders/?context=edit","method":"GET"}}}`, 0},
		"pass/delete":                     {restDoor, rest("DELETE", "/wc/v3/orders/13", `{"force":true}`), 0},
		"pass/new order":                  {restDoor, rest("POST", "/wc/v3/orders", `{"status":"pending"}`), 0},
		"pass/note":                       {restDoor, rest("POST", "/wc/v3/orders/13/notes", `{"note":"x"}`), 0},
		"pass/subscription":               {restDoor, rest("PUT", "/wc/v3/subscriptions/13", `{"id":13}`), 0},
		"pass/post about orders":          {restDoor, rest("POST", "/wp/v2/posts", `{"content":"see /wc/v3/orders/13 and orders-update"}`), 0},
		"pass/another tool":               {restDoor, `{"method":"tools/call","name":"wp_update_post","arguments":{"id":13,"title":"a"}}`, 0},
		"pass/another tool, nested":       {restDoor, `{"method":"tools/call","params":{"params":{"name":"wp_update_post","arguments":{"id":13}}}}`, 0},
		"pass/another tool, a list":       {restDoor + "/streamable", `[` + callOfTool("wp_update_post", `{"id":13}`) + `]`, 0},
		"pass/users, odd envelope":        {restDoor, `{"method":"tools/call","params":{"params":{"name":"run_api_function","arguments":` + inner("GET", "/wp/v2/users?x=1", "{}") + `}}}`, 0},
		"pass/no message":                 {"/wp-json/my-mcp/v1/settings", `{"name":"run_api_functions are off","x":1}`, 0},
		"pass/list":                       {defaultDoor, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0},
		"pass/described":                  {defaultDoor, callOfTool("mcp-adapter-get-ability-info", `{"ability_name":"woocommerce/orders-update"}`), 0},
		"pass/another ability":            {defaultDoor, run("woocommerce/order-update-status", `{"id":13,"status":"completed"}`), 0},
		"pass/execute-ability, an order":  {defaultDoor, run("woocommerce/orders-update", `{"id":7}`), 0},
		"pass/a custom server, an order":  {"/wp-json/team/mcp", callOfTool("woocommerce-orders-update", `{"id":"7"}`), 0},
		"pass/a custom server, its query": {"/wp-json/team/mcp", callOfTool("woocommerce-orders-query", `{"id":13}`), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c := guarded(t, s, line("recommended off"))
			d := c.Judge(t.Context(), request(t, s, shopOf(nil), "POST", test.door, test.body, jsonType, basicAuth))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
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
		s := newSite(t)
		c := guarded(t, s, line("order_type", line("strict")), line("recommended off"))
		r := request(t, s, shopOf(nil), "POST", restDoor, callOfTool("run_api_function", body), jsonType, basicAuth)
		if d := c.Judge(t.Context(), r); d.Verdict.Status != want {
			t.Errorf("%s: got %+v (%v), want %d", body, d, d.Err, want)
		}
	}
}

// TestOrderType_BodiesAtDoors: what some servers read beside the JSON of a POST.
func TestOrderType_BodiesAtDoors(t *testing.T) {
	harmful := callOfTool("run_api_function", inner("PUT", "/wc/v3/orders/13", "{}"))
	for name, test := range map[string]struct {
		method, target, body, kind string
		status                     int
	}{
		"text":                 {"POST", restDoor, harmful, "Content-Type: text/plain", 400},
		"no type":              {"POST", restDoor, harmful, "X: y", 400},
		"a part of the type":   {"POST", restDoor + "/streamable", harmful, "Content-Type: text/x;application/json", 400},
		"overridden":           {"GET", restDoor + "?_method=POST", harmful, jsonType, 400},
		"by PUT":               {"PUT", restDoor + "/streamable", harmful, jsonType, 400},
		"a member in a query":  {"POST", restDoor + "?params[name]=x", harmful, jsonType, 400},
		"broken":               {"POST", restDoor, harmful[:len(harmful)-1], jsonType, 400},
		"over the limit":       {"POST", restDoor, strings.Repeat(" ", 1<<20) + harmful, jsonType, 413},
		"raw, called a form":   {"PUT", restDoor + "?_method=POST", harmful, "Content-Type: multipart/form-data; boundary=a", 400},
		"pass/settings":        {"POST", "/wp-json/my-mcp/v1/settings", "a=b&name=c%5Cd", formType, 0},
		"pass/an upload":       {"POST", "/wp-json/mcp/v1/upload/abc", "--a\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\\x\r\n--a--\r\n", "Content-Type: multipart/form-data; boundary=a", 0},
		"pass/bytes":           {"PUT", "/wp-json/mcp/v1/upload/abc", "\x00\\\xff", "Content-Type: image/png", 0},
		"pass/a session's end": {"DELETE", defaultDoor, "", "X: y", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			d := alone("order_type", provision(t, s, new(OrderType))).Judge(t.Context(), request(t, s, shopOf(nil), test.method, test.target, test.body, test.kind, basicAuth))
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
	}{
		"cookie alone":                        {"", loginLine, nil, 13, 503},
		"cookie alone, credential":            {"ck:cs", loginLine, nil, 13, 403},
		"cookie alone, credential, an order":  {"ck:cs", loginLine, nil, 7, 0},
		"a token of its own":                  {"", "Authorization: Bearer x", nobody, 13, 401},
		"a token of its own, credential":      {"ck:cs", "Authorization: Bearer x", nobody, 13, 403},
		"a token, credential, an order":       {"ck:cs", "Authorization: Bearer x", nobody, 7, 0},
		"an application password":             {"", basicAuth, nil, 13, 400},
		"an application password, credential": {"ck:cs", basicAuth, map[string]*ask.Answer{"/wp/v2/users/me": asktest.JSON(200, adminBody)}, 13, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := provision(t, s, &OrderType{Credential: test.credential})
			body := callOfTool("run_api_function", inner("PUT", fmt.Sprintf("/wc/v3/orders/%d", test.id), "{}"))
			d := alone("order_type", p).Judge(t.Context(), request(t, s, shopOf(test.answers), "POST", restDoor, body, jsonType, test.header))
			if d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// recorded is a message that was sent to a real server (policies/mcp/testdata).
type recorded struct {
	ID, Case, Server string
	Request          []byte
	Ran              []struct {
		Ran   string
		Input json.RawMessage
	}
}

// records returns the recorded messages.
func recordedMessages(t *testing.T) (list []recorded) {
	t.Helper()
	f, err := os.Open("mcp/testdata/recorded.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(unzipped); ; {
		var r recorded
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
}

// TestOrderType_Recorded: what ran the update of an order is judged by the id that ran, and
// what ran anything else passes, unless it is odd.
func TestOrderType_Recorded(t *testing.T) {
	odd := map[string]bool{
		"woo-010": true, "woo-011": true, // on the shop's own server, params in params and a list
		"wpmcp-014": true, // an inner batch
	}
	updates, others := 0, 0
	for _, sent := range recordedMessages(t) {
		if sent.Server == "abilities" {
			continue
		}
		raw, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(sent.Request)))
		if err != nil {
			continue // a message that Go's server refuses
		}
		body, _ := io.ReadAll(raw.Body)
		s := newSite(t)
		p := provision(t, s, new(OrderType))
		backend := shopOf(nil)
		r := request(t, s, backend, raw.Method, raw.RequestURI, string(body))
		r.HTTP.Header = raw.Header
		if r.Call.Kind != call.Single {
			continue
		}
		v, err := p.Check(t.Context(), r)
		refused := err != nil || v.Refused()
		id := ""
		for _, run := range sent.Ran {
			if strings.HasPrefix(run.Ran, "(inner REST P") && strings.Contains(run.Ran, "/wc/v3/orders/") {
				id = strings.TrimSuffix(run.Ran[strings.LastIndexByte(run.Ran, '/')+1:], ")")
			}
		}
		switch q := backend.Questions(); {
		case id != "":
			updates++
			if !refused && (len(q) == 0 || !strings.Contains(q[0].Route, "/orders/"+id+"/")) {
				t.Errorf("%s (%s) passes, asked %+v", sent.ID, sent.Case, q)
			}
		case len(sent.Ran) > 0:
			others++
			if refused != odd[sent.ID] {
				t.Errorf("%s (%s): %+v, %v", sent.ID, sent.Case, v, err)
			}
		}
	}
	if updates == 0 || others < 250 {
		t.Errorf("%d updates and %d other runs", updates, others)
	}
}
