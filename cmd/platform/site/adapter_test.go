package site_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// agent is a client with a session of the adapter.
type agent struct {
	*client
	login, session string
}

func (c *client) agent(login string) *agent {
	c.t.Helper()
	a := &agent{client: c, login: login}
	first := a.message(c.info.Routes.Tools, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`).want(200)
	if a.session = first.Header.Get("Mcp-Session-Id"); a.session == "" {
		c.t.Fatalf("no session: %s", first.body)
	}
	return a
}

// message posts to a server of the adapter, within the session if there is one. "<shop>" is
// the shop's word.
func (a *agent) message(route, body string, edits ...edit) *answer {
	a.t.Helper()
	body = strings.ReplaceAll(body, "<shop>", a.shop())
	edits = append([]edit{with("Content-Type", "application/json"), a.as(a.login), func(r *http.Request) {
		if a.session != "" {
			r.Header.Set("Mcp-Session-Id", a.session)
		}
	}}, edits...)
	return a.rest("POST", route, body, edits...)
}

// call calls a tool of a server.
func (a *agent) call(route, tool, arguments string) *answer {
	a.t.Helper()
	return a.message(route, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
}

func (c *client) shop() string {
	if c.wp {
		return "woocommerce"
	}
	return "shop"
}

// ranSince are the abilities and tools that ran after the first n, with the neutral word.
func (c *client) ranSince(n int) []string {
	var names []string
	for _, r := range c.site.Ran()[n:] {
		names = append(names, strings.Replace(r.Name, c.shop()+"/", "shop/", 1))
	}
	return names
}

// wantCode checks the status and the code of an answer of JSON-RPC.
func (a *answer) wantCode(status, code int) {
	a.t.Helper()
	if a.StatusCode != status || a.get("error", "code") != float64(code) {
		a.t.Errorf("%d %s, want %d with %d", a.StatusCode, a.body, status, code)
	}
}

// Two calls: of an ability, and of a tool that is none.
const (
	counting = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"<shop>-stock-count","arguments":{}}}`
	hours    = `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"store_hours"}}`
	ping     = `"jsonrpc":"2.0","id":1,"method":"ping"`
)

// called is a message that calls a tool, with members beside.
func called(id, params string) string {
	return `{"jsonrpc":"2.0",` + id + `"method":"tools/call","params":` + params + `}`
}

// readings are messages and what the adapter makes of them (docs/platform IV.2). A code of 0
// is no error of JSON-RPC.
var readings = []struct {
	name, body   string
	status, code int
	ran          string
}{
	{"a plain call", counting, 200, 0, "shop/stock-count"},
	{"white space around", " \n\t" + counting + "\r\n ", 200, 0, "shop/stock-count"},
	{"null", "null", 400, -32700, ""},
	{"nothing", "", 400, -32700, ""},
	{"a number", "5", 500, 0, ""},
	{"a text", `"x"`, 500, 0, ""},
	{"true", "true", 500, 0, ""},
	{"broken JSON", "{", 400, 0, ""},
	{"a byte order mark", "\ufeff" + counting, 400, 0, ""},
	{"a trailing comma", strings.TrimSuffix(counting, "}") + ",}", 400, 0, ""},
	{"text behind", counting + "x", 400, 0, ""},
	{"a lone surrogate", `{"x":"\ud800",` + counting[1:], 400, 0, ""},
	{"bad UTF-8", "{\"x\":\"\xff\"," + counting[1:], 400, 0, ""},
	{"nesting over 512", `{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "," + counting[1:], 400, 0, ""},
	{"nesting of 500", `{"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "," + counting[1:], 200, 0, "shop/stock-count"},

	{"name twice", called(`"id":7,`, `{"name":"store_hours","name":"<shop>-stock-count"}`), 200, 0, "shop/stock-count"},
	{"params twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"<shop>-stock-count"},"params":{"name":"store_hours"}}`, 200, 0, "store_hours"},
	{"method twice", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"name":"store_hours"},"method":"tools/call"}`, 200, 0, "store_hours"},
	{"escapes", `{"jsonrpc":"2.0","id":7,"m\u0065thod":"tools\/c\u0061ll","params":{"n\u0061me":"store\u005fhours"}}`, 200, 0, "store_hours"},
	{"a capital in a key", `{"jsonrpc":"2.0","id":7,"Method":"tools/call","params":{"name":"store_hours"}}`, 400, -32600, ""},
	{"no version", `{"id":7,"method":"tools/call","params":{"name":"store_hours"}}`, 400, -32600, ""},
	{"a version that is a number", `{"jsonrpc":2.0,"id":7,"method":"ping"}`, 400, -32600, ""},
	{"a result beside", `{"result":{},` + hours[1:], 200, 0, "store_hours"},
	{"a result alone", `{"jsonrpc":"2.0","id":7,"result":{}}`, 202, 0, ""},

	{"params.params", called(`"id":7,`, `{"name":"store_hours","params":{"name":"<shop>-stock-count"}}`), 200, 0, "shop/stock-count"},
	{"params.params.params", called(`"id":7,`, `{"params":{"params":{"name":"<shop>-stock-count"},"name":"store_hours"}}`), 200, 0, "store_hours"},
	{"params.params null", called(`"id":7,`, `{"name":"store_hours","params":null}`), 200, 0, "store_hours"},
	{"params.params a text", called(`"id":7,`, `{"name":"store_hours","params":"x"}`), 500, -32603, ""},
	{"params of a resource", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x://y","params":{"uri":"shop://products"}}}`, 200, 0, "shop/product-catalog"},
	{"params of a prompt", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"x","params":{"name":"<shop>-answer-customer","arguments":{"topic":"x"}}}}`, 200, 0, "shop/answer-customer"},
	{"params a list", called(`"id":7,`, `["store_hours"]`), 200, -32602, ""},
	{"params a text", called(`"id":7,`, `"store_hours"`), 500, -32603, ""},
	{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, 200, -32602, ""},
	{"name beside params", `{"jsonrpc":"2.0","id":7,"method":"tools/call","name":"store_hours","params":{}}`, 200, -32602, ""},

	{"a list", "[" + counting + "," + hours + "]", 200, 0, "shop/stock-count store_hours"},
	{"a list of nothing", "[]", 400, -32600, ""},
	{"a list of an empty list", "[[]]", 200, 0, ""},
	{"a list of notifications", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, 200, 0, ""},
	{"a call and a number", "[" + counting + ",5]", 500, -32603, "shop/stock-count"},
	{"a number and a call", "[5," + counting + "]", 500, -32603, ""},
	{"null and a call", "[null," + counting + "]", 400, -32600, ""},
	{"the key 0", `{"0":` + counting + `}`, 200, 0, "shop/stock-count"},
	{"the key 0 by an escape", `{"\u0030":` + counting + `}`, 200, 0, "shop/stock-count"},
	{"the keys 0 and x", `{"x":` + hours + `,"0":` + counting + `}`, 200, 0, "store_hours shop/stock-count"},
	{"the key 0 twice", `{"0":{` + ping + `},"x":` + counting + `,"0":` + hours + `}`, 200, 0, "store_hours shop/stock-count"},
	{"the key 0 before a message", `{"0":` + counting + `,` + ping + `}`, 500, -32603, "shop/stock-count"},
	{"the key 0 behind one", `{` + ping + `,"0":` + counting + `}`, 500, -32603, ""},
	{"the key 0 with null", `{"0":null,` + ping + `}`, 200, 0, ""},
	{"the key 00", `{"00":` + counting + `}`, 400, -32600, ""},
	{"the key -0", `{"-0":` + counting + `}`, 400, -32600, ""},
	{"the key 1", `{"1":` + counting + `}`, 400, -32600, ""},

	{"no id", called("", `{"name":"store_hours"}`), 202, 0, ""},
	{"the id null", called(`"id":null,`, `{"name":"store_hours"}`), 202, 0, ""},
	{"the id 0", called(`"id":0,`, `{"name":"store_hours"}`), 200, 0, "store_hours"},
	{"an empty id", called(`"id":"",`, `{"name":"store_hours"}`), 200, 0, "store_hours"},
	{"the id false", called(`"id":false,`, `{"name":"store_hours"}`), 200, 0, "store_hours"},
	{"a list as id", called(`"id":[],`, `{"name":"store_hours"}`), 200, 0, "store_hours"},

	{"blanks around the name", called(`"id":7,`, `{"name":" \t\r\nstore_hours\u0000\u000b"}`), 200, 0, "store_hours"},
	{"a form feed behind it", called(`"id":7,`, `{"name":"store_hours\f"}`), 404, -32003, ""},
	{"a no-break space before it", called(`"id":7,`, `{"name":"\u00a0store_hours"}`), 404, -32003, ""},
	{"capitals", called(`"id":7,`, `{"name":"STORE_HOURS"}`), 404, -32003, ""},
	{"the id of the ability", called(`"id":7,`, `{"name":"<shop>/stock-count"}`), 404, -32003, ""},
	{"a number as name", called(`"id":7,`, `{"name":5}`), 404, -32003, ""},
	{"a list as name", called(`"id":7,`, `{"name":["store_hours"]}`), 404, -32003, ""},
	{"null as name", called(`"id":7,`, `{"name":null}`), 200, -32602, ""},
	{"a tool of the other server", called(`"id":7,`, `{"name":"mcp-adapter-execute-ability"}`), 404, -32003, ""},
	{"blanks around a uri", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":" shop://products\n"}}`, 200, 0, "shop/product-catalog"},
	{"a uri in capitals", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"SHOP://products"}}`, 404, -32002, ""},
	{"blanks around a prompt", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":" <shop>-answer-customer","arguments":{"topic":"x"}}}`, 200, 0, "shop/answer-customer"},
	{"an unknown prompt", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"x"}}`, 404, -32004, ""},

	{"arguments null", called(`"id":7,`, `{"name":"<shop>-orders-query","arguments":null}`), 200, 0, "shop/orders-query"},
	{"arguments an empty list", called(`"id":7,`, `{"name":"<shop>-orders-query","arguments":[]}`), 200, 0, "shop/orders-query"},
	{"arguments a list", called(`"id":7,`, `{"name":"store_hours","arguments":[1]}`), 200, 0, "store_hours"},
	{"arguments a text", called(`"id":7,`, `{"name":"store_hours","arguments":"x"}`), 200, -32602, ""},
	{"arguments against the schema", called(`"id":7,`, `{"name":"<shop>-orders-query","arguments":{"x":1}}`), 200, 0, ""},

	{"tools/list/all", `{"jsonrpc":"2.0","id":7,"method":"tools/list/all"}`, 200, 0, ""},
	{"a method in capitals", `{"jsonrpc":"2.0","id":7,"method":"TOOLS/CALL","params":{"name":"store_hours"}}`, 404, -32601, ""},
	{"an empty method", `{"jsonrpc":"2.0","id":7,"method":""}`, 404, -32601, ""},
	{"a number as method", `{"jsonrpc":"2.0","id":7,"method":5}`, 500, -32603, ""},
	{"null as method", `{"jsonrpc":"2.0","id":7,"method":null}`, 400, -32600, ""},
	{"a method that is gone", `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, 404, -32601, ""},
}

// TestAdapter_Reading: what the adapter reads of a body, and what of it runs.
func TestAdapter_Reading(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		a := c.agent("admin")
		for _, row := range readings {
			t.Run(row.name, func(t *testing.T) {
				before, got := len(c.site.Ran()), a.message(c.info.Routes.ShopTools, row.body)
				if ran := strings.Join(c.ranSince(before), " "); ran != row.ran {
					t.Errorf("%q ran, want %q", ran, row.ran)
				}
				code, _ := got.get("error", "code").(float64)
				if got.StatusCode != row.status || int(code) != row.code {
					t.Errorf("%d %s, want %d with %d", got.StatusCode, got.body, row.status, row.code)
				}
			})
		}
	})
}

// FuzzAdapter: no message makes a server panic, every refusal has a code, and what is no JSON
// runs nothing.
func FuzzAdapter(f *testing.F) {
	seeds := readings
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, row := range seeds {
		f.Add(row.body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := newClient(t, site.Options{})
		a := c.agent("admin")
		for _, route := range []string{c.info.Routes.Tools, c.info.Routes.ShopTools} {
			if got := a.message(route, body); got.StatusCode >= 400 && !strings.Contains(string(got.body), `"code":`) {
				t.Errorf("%d without a code: %s", got.StatusCode, got.body)
			}
		}
		if ran := c.ranSince(0); len(ran) > 0 && !json.Valid([]byte(strings.ReplaceAll(body, "<shop>", "shop"))) {
			t.Errorf("%q ran %q", body, ran)
		}
	})
}
