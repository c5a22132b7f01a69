package ratelimit

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRateLimit_Messages: a limit counts the messages that it names, and those that some
// server may take for one of them.
func TestRateLimit_Messages(t *testing.T) {
	message := func(method string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"a","uri":"b"}}`
	}
	both := "initialize,tools/call"
	for name, test := range map[string]struct {
		methods, method, target, body, kind string
		counts                              bool
	}{
		"named":                        {both, "POST", policytest.Adapter, message("tools/call"), policytest.JSONType, true},
		"named, the other one":         {both, "POST", policytest.Adapter, message("initialize"), policytest.JSONType, true},
		"named, a key in escapes":      {both, "POST", policytest.Adapter, strings.Replace(message("tools/call"), "method", `m\u0065thod`, 1), policytest.JSONType, true},
		"named, another type of JSON":  {both, "POST", policytest.Adapter, message("tools/call"), "Content-Type: application/vnd.api+json", true},
		"named, route in capitals":     {both, "POST", strings.Replace(policytest.Adapter, "mcp/", "MCP/", 1), message("tools/call"), policytest.JSONType, true},
		"named, method overridden":     {both, "PUT", policytest.Adapter + "?_method=POST", message("tools/call"), policytest.JSONType, true},
		"named, overridden to GET":     {both, "POST", policytest.Adapter + "?_method=GET", message("tools/call"), policytest.JSONType, true},
		"named, by PUT":                {both, "PUT", "/wp-json/lp/v1/mcp", message("tools/call"), policytest.JSONType, true},
		"the list by its other name":   {"tools/list", "POST", policytest.Adapter, message("tools/list/all"), policytest.JSONType, true},
		"another one":                  {both, "POST", policytest.Adapter, message("resources/read"), policytest.JSONType, false},
		"another one, ping":            {both, "POST", policytest.Adapter, message("ping"), policytest.JSONType, false},
		"a notification":               {both, "POST", policytest.Adapter, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, policytest.JSONType, false},
		"another route":                {both, "POST", "/wp-json/wp/v2/posts", message("tools/call"), policytest.JSONType, false},
		"no body":                      {both, "GET", policytest.Adapter, "", policytest.JSONType, false},
		"ends a session":               {both, "DELETE", policytest.Adapter, "", policytest.JSONType, false},
		"uncertain, a list":            {both, "POST", policytest.Adapter, "[" + message("ping") + "]", policytest.JSONType, true},
		"uncertain, a key twice":       {both, "POST", policytest.Adapter, `{"method":"tools/call",` + message("ping")[1:], policytest.JSONType, true},
		"uncertain, without jsonrpc":   {both, "POST", policytest.Adapter, `{"method":"tools/call","params":{"name":"a"}}`, policytest.JSONType, true},
		"uncertain, no type":           {both, "POST", policytest.Adapter, message("ping"), "X: y", true},
		"uncertain, text":              {both, "POST", policytest.Adapter, message("ping"), "Content-Type: text/plain", true},
		"uncertain, a form":            {both, "POST", policytest.Adapter, "method=ping", policytest.FormType, true},
		"uncertain, broken":            {both, "POST", policytest.Adapter, `{"method":`, policytest.JSONType, true},
		"uncertain, method in a query": {both, "POST", policytest.Adapter + "?method=tools/call", message("ping"), policytest.JSONType, true},
		"uncertain, over the limit":    {both, "POST", policytest.Adapter, strings.Repeat(" ", 1<<20) + message("ping"), policytest.JSONType, true},
		"no method counts all":         {"", "POST", policytest.Adapter, message("ping"), policytest.JSONType, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := limited(t, s, "rate_limit 1/1h per caller "+test.methods+" /mcp/** /lp/**")
			passed := passes(t, p, 2, func(int) *policy.Request {
				return policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), test.method, test.target, test.body, test.kind, policytest.BasicAuth)
			})
			if want := map[bool]int{true: 1, false: 2}[test.counts]; passed != want {
				t.Errorf("%d of 2 pass, want %d", passed, want)
			}
		})
	}
}

// TestRateLimit_MessagesOfOneCaller: who counts as one caller on servers of tools.
func TestRateLimit_MessagesOfOneCaller(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	tool := "/wp-json/woocommerce/mcp"
	for name, test := range map[string]struct {
		per, target string
		a, b        string
		answer      string
		shared      bool
	}{
		"two passwords of one user":   {"caller", policytest.Adapter, policytest.BasicAuth, "Authorization: Basic eDp5", policytest.AdminBody, true},
		"a cookie and a password":     {"caller", policytest.Adapter, policytest.LoginLine, policytest.BasicAuth, policytest.AdminBody, true},
		"two secrets of a key":        {"key", tool, "X-MCP-API-Key: ck_1:cs_1", "X-MCP-API-Key: ck_1:cs_2", `[]`, true},
		"two keys":                    {"key", tool, "X-MCP-API-Key: ck_1:cs_1", "X-MCP-API-Key: ck_2:cs_1", `[]`, false},
		"two keys of one address":     {"caller", tool, "X-MCP-API-Key: ck_1:cs_1", "X-MCP-API-Key: ck_2:cs_1", `[]`, true},
		"anonymous, from one address": {"caller", policytest.Adapter, "X: a", "X: b", policytest.AdminBody, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := limited(t, s, "rate_limit 1/1h per "+test.per+" initialize /mcp/** /woocommerce/mcp")
			passed := passes(t, p, 2, func(i int) *policy.Request {
				return policytest.Request(t, s, asktest.Answering(200, test.answer), "POST", test.target, hello, policytest.JSONType, []string{test.a, test.b}[i], policytest.NonceLine)
			})
			if (passed == 1) != test.shared {
				t.Errorf("%d of 2 pass", passed)
			}
		})
	}
}

// TestRateLimit_MessagesRefused: servers of tools refuse in the words of JSON-RPC.
func TestRateLimit_MessagesRefused(t *testing.T) {
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry, abilities.Entry}, policytest.Line("rate_limit 1/1h initialize /mcp/**"), policytest.Line("abilities", policytest.Line("allow core/*")))
	for i, want := range []int{0, http.StatusTooManyRequests} {
		r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "POST", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`, policytest.JSONType, policytest.BasicAuth)
		d := c.Judge(t.Context(), r)
		if d.Verdict.Status != want {
			t.Fatalf("call %d: %+v (%v)", i, d, d.Err)
		}
		if want == 0 {
			continue
		}
		if a := c.Refusal(r, d.Verdict); d.Policy != "rate_limit" || a == nil || a.Status != want || !strings.Contains(string(a.Body), `"id":7`) || !strings.Contains(string(a.Body), "-32000") {
			t.Errorf("%+v, answered with %+v", d, a)
		}
	}
}

// TestRateLimit_OrdinaryRefusals: a limit that reads bodies leaves the refusals of other
// routes in the platform's words.
func TestRateLimit_OrdinaryRefusals(t *testing.T) {
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{access.Entry, Entry, abilities.Entry}, policytest.Line("rate_limit 1/1h initialize /wp/**"), policytest.Line("abilities", policytest.Line("allow core/*")), policytest.Line("deny POST /wp/v2/posts"))
	r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "POST", "/wp-json/wp/v2/media", `{"title":"x"}`, policytest.JSONType, policytest.BasicAuth)
	c.Judge(t.Context(), r)
	if message.Read(r) == nil {
		t.Fatal("the limit has not read the body")
	}
	if a := c.Refusal(r, policy.Forbidden()); a != nil {
		t.Errorf("answered with %s", a.Body)
	}
}

func TestRateLimit_MessagesConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"rate_limit 1/1m GET,tools/call /x":         "a limit counts either",
		"rate_limit 1/1m tools/call,POST /x":        "leave POST out",
		"rate_limit 1/1m tools/call,tools/lists /x": "did you mean tools/list?",
		"rate_limit 1/1m tools/cal /x":              "did you mean tools/call?",
		"rate_limit 1/1m PUST /x":                   "did you mean POST or PUT?",
		"rate_limit 1/1m tools/call":                "no route named",
	} {
		if err := new(RateLimits).Configure(policytest.Line(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"allow anyone tools/call /mcp/**", "deny tools/call /mcp/**"} {
		if err := new(access.Access).Configure(policytest.Line(text)); err == nil || !strings.Contains(err.Error(), "which only rate_limit takes") {
			t.Errorf("%s: %v", text, err)
		}
	}
	p := &RateLimits{Limits: []*RateLimit{{Rate: "1/1m", Methods: []string{"POST", "ping"}, Routes: []string{"/mcp/**"}}}}
	if err := p.Provision(policytest.NewSite(t), policy.Settings{}); err == nil {
		t.Error("JSON mixes the kinds of methods")
	}
	q := new(RateLimits)
	policytest.Configure(t, q, policytest.Line("rate_limit 1/1m initialize /mcp/**"), policytest.Line("rate_limit 1/1m tools/call /mcp/**"))
	if got := q.Limits[1].String(); got != "rate_limit 1/1m tools/call /mcp/**" {
		t.Error(got)
	}
}
