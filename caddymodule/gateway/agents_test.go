package gateway

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
)

const (
	agentsDoor = "/wp-json/mcp/mcp-adapter-default-server"
	jsonBody   = "Content-Type: application/json"
)

// newToolServer is a platform with a server of tools. What a tool does is told by its
// arguments: {"do":"fail"}, "stream", "break" or "large".
func newToolServer(t *testing.T) *platform {
	t.Helper()
	return newAbilityPlatform(t, "shop/query", `{"readonly":false}`, func(user string) string {
		return map[string]string{"admin": `{"id":1,"roles":["administrator"],"capabilities":{"read":true}}`}[user]
	}, answerTool)
}

// newAbilityPlatform is a platform with one ability, which a server of tools offers. me is what it says of
// the caller who gives a name; "" is nobody. All that is no question is answered by run.
func newAbilityPlatform(t *testing.T, ability, annotations string, me func(user string) string, run func(w http.ResponseWriter, body string)) *platform {
	t.Helper()
	one := `{"name":"` + ability + `","input_schema":[],"meta":{"annotations":` + annotations + `}}`
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		body, _ := io.ReadAll(r.Body)
		user, _, _ := r.BasicAuth()
		switch path := strings.TrimPrefix(r.URL.Path, "/wp-json"); {
		case path == "/wp/v2/users/me" && me(user) != "":
			_, _ = io.WriteString(w, me(user))
		case path == "/wp/v2/users/me":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`)
		case path == "/" || path == "":
			_, _ = fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["mcp","wp-abilities/v1"],"routes":{"/mcp/mcp-adapter-default-server":{},"/wp-abilities/v1/abilities/(?P<name>[a-zA-Z0-9\\-\\/]+?)/run":{}}}`, r.Host, r.Host)
		case path == "/wp-abilities/v1/abilities":
			_, _ = io.WriteString(w, "["+one+"]")
		case path == "/wp-abilities/v1/abilities/"+ability:
			_, _ = io.WriteString(w, one)
		default:
			run(w, string(body))
		}
		return true
	})
	return p
}

func answerTool(w http.ResponseWriter, body string) {
	result := func(failed bool, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}],"isError":%v}}`, text, failed)
	}
	switch {
	case strings.Contains(body, `"do":"fail"`):
		_, _ = io.WriteString(w, result(true, "no"))
	case strings.Contains(body, `"do":"large"`):
		_, _ = io.WriteString(w, result(true, strings.Repeat("x", 2*maxHeard)))
	case strings.Contains(body, `"do":"error"`):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`)
	case strings.Contains(body, `"do":"rpc"`):
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
	case strings.Contains(body, `"do":"events"`):
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"error\":{\"code\":-32603,\"message\":\"no\"}}\n\n")
	case strings.Contains(body, `"do":"break"`):
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		_, _ = io.WriteString(w, result(false, "yes"))
	}
}

// startAudited runs a gateway that sends the audit log to a file of its own.
func startAudited(t *testing.T, p *platform, abilities, more string) (g *gateway, lines func() []map[string]any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agents.log")
	g = startFile(t, &caddyrun.File{
		Global: "\tlog agents {\n\t\toutput file " + file + "\n\t\tformat json\n\t\tinclude http.handlers.restwarden.agents\n\t}\n",
		Sites:  []caddyrun.Site{{Body: "restwarden wordpress {\n" + abilities + "\n" + more + "\n}\n" + p.proxied()}},
	})
	return g, func() (all []map[string]any) {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			all = append(all, object)
		}
		return all
	}
}

func toolCall(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

func executed(ability, parameters string) string {
	return toolCall("mcp-adapter-execute-ability", `{"ability_name":"`+ability+`","parameters":`+parameters+`}`)
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestAgents_AuditLog(t *testing.T) {
	const rules = "abilities {\nallow shop/query\nallow tool plain_tool\nallow resource shop://*\ndeny shop/erase\n}"
	run := "/wp-json/wp-abilities/v1/abilities/shop/query/run"
	door := map[string]any{"door": "/mcp/mcp-adapter-default-server", "method": "tools/call", "caller": "user", "user_id": 1.0}
	for name, test := range map[string]struct {
		abilities, more, line, body string
		headers                     []string
		want                        map[string]any // nil for no line; "" for an absent field
	}{
		"pass/by its dashed name": {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{ "b":1, "a":"\u0041/é" }`), []string{asAdmin}, map[string]any{
			"outcome": "pass", "tool": "shop-query", "ability": "shop/query", "status": 200.0, "is_error": false,
			"arguments_sha256": sha(`{"a":"A/é","b":1}`), "arguments": "", "code": "", "rule": "", "v": 1.0, "level": "info", "msg": "agent call",
		}},
		"pass/execute-ability":          {rules, "", "POST " + agentsDoor, executed("shop/query", `{"id":9007199254740993}`), []string{asAdmin}, map[string]any{"outcome": "pass", "tool": "mcp-adapter-execute-ability", "ability": "shop/query", "arguments_sha256": sha(`{"id":9007199254740993}`)}},
		"pass/a tool of no ability":     {rules, "", "POST " + agentsDoor, toolCall("plain_tool", `[]`), []string{asAdmin}, map[string]any{"outcome": "pass", "tool": "plain_tool", "ability": "", "arguments_sha256": ""}},
		"pass/a resource":               {rules, "", "POST " + agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"shop://a"}}`, []string{asAdmin}, map[string]any{"method": "resources/read", "resource": "shop://a", "tool": "", "is_error": ""}},
		"pass/the tool fails":           {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{"do":"fail"}`), []string{asAdmin}, map[string]any{"status": 200.0, "is_error": true, "outcome": "pass", "claimed_login": "", "error_code": ""}},
		"pass/an error of the protocol": {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{"do":"error"}`), []string{asAdmin}, map[string]any{"outcome": "failed", "status": 404.0, "is_error": "", "error_code": -32601.0}},
		"pass/an error within 200":      {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{"do":"rpc"}`), []string{asAdmin}, map[string]any{"outcome": "failed", "status": 200.0, "is_error": "", "error_code": -32603.0}},
		"pass/an error among events":    {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{"do":"events"}`), []string{asAdmin}, map[string]any{"outcome": "failed", "status": 200.0, "is_error": "", "error_code": -32603.0}},
		"pass/too long to be read":      {rules, "", "POST " + agentsDoor, toolCall("shop-query", `{"do":"large"}`), []string{asAdmin}, map[string]any{"status": 200.0, "is_error": ""}},
		"pass/over REST":                {rules, "", "POST " + run, `{"input":{"b":1,"a":2}}`, []string{asAdmin}, map[string]any{"door": "/wp-abilities/v1/abilities/:name/run", "method": "POST", "ability": "shop/query", "arguments_sha256": sha(`{"a":2,"b":1}`), "is_error": ""}},
		"refused/by a rule":             {rules, "", "POST " + agentsDoor, executed("shop/erase", `{"secret":1}`), []string{asAdmin}, map[string]any{"outcome": "refused", "policy": "abilities", "code": "rest_forbidden", "rule": "abilities deny shop/erase", "ability": "shop/erase", "status": "", "caller": "", "user_id": "", "claimed_login": "admin", "arguments": ""}},
		"refused/nobody claims to call": {rules, "", "POST " + agentsDoor, executed("shop/erase", `{}`), nil, map[string]any{"outcome": "refused", "claimed_login": "", "caller": ""}},
		"refused/by a login cookie":     {rules, "", "POST " + agentsDoor, executed("shop/erase", `{}`), []string{"Cookie: wordpress_logged_in_ab=ann%7C1%7Ct%7Cm"}, map[string]any{"outcome": "refused", "claimed_login": "ann", "user_id": ""}},
		"refused/over REST":             {rules, "", "POST /wp-json/wp-abilities/v1/abilities/shop/erase/run", `{}`, []string{asAdmin}, map[string]any{"outcome": "refused", "ability": "shop/erase", "door": "/wp-abilities/v1/abilities/:name/run", "method": "POST", "caller": "", "user_id": ""}},
		"refused/by access":             {rules, "deny /mcp/**", "POST " + agentsDoor, toolCall("shop-query", `{}`), nil, map[string]any{"outcome": "refused", "policy": "access", "rule": "deny /mcp/**", "tool": "shop-query", "caller": "", "user_id": "", "ability": ""}},
		"refused/no certain reading":    {rules, "", "POST " + agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop-query "}}`, []string{asAdmin}, map[string]any{"outcome": "refused", "code": "rest_ambiguous_request", "method": "", "tool": "", "caller": "", "user_id": ""}},
		"refused/below no door":         {rules, "", "POST /wp-json/acme/v1/x", toolCall("shop-erase", `{}`), []string{asAdmin}, map[string]any{"outcome": "refused", "tool": "shop-erase", "door": "unknown", "caller": "", "user_id": ""}},
		"would_refuse":                  {"abilities {\nmode observe\ndeny shop/*\n}", "", "POST " + agentsDoor, toolCall("shop-query", `{}`), []string{asAdmin}, map[string]any{"outcome": "would_refuse", "status": 200.0, "rule": "abilities deny shop/*"}},
		"arguments":                     {"abilities {\naudit arguments\nallow shop/query\n}", "", "POST " + agentsDoor, toolCall("shop-query", `{"b":[1],"a":"x"}`), []string{asAdmin}, map[string]any{"arguments": `{"a":"x","b":[1]}`}},
		"arguments, cut":                {"abilities {\naudit arguments\nallow shop/query\n}", "", "POST " + agentsDoor, toolCall("shop-query", `{"a":"x`+strings.Repeat("é", 8<<10)+`"}`), []string{asAdmin}, map[string]any{"arguments": `{"a":"x` + strings.Repeat("é", (8<<10-7)/2) + "…(cut)"}},
		"none/off":                      {"abilities {\naudit off\nallow shop/query\n}", "", "POST " + agentsDoor, toolCall("shop-query", `{}`), []string{asAdmin}, nil},
		"none/no rule":                  {"abilities", "", "POST " + agentsDoor, toolCall("shop-query", `{}`), []string{asAdmin}, nil},
		"none/initialize":               {rules, "", "POST " + agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, []string{asAdmin}, nil},
		"none/a list":                   {rules, "", "POST " + agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{asAdmin}, nil},
		"none/what an ability is":       {rules, "", "POST " + agentsDoor, toolCall("mcp-adapter-get-ability-info", `{"ability_name":"shop/erase"}`), []string{asAdmin}, nil},
		"none/another route":            {rules, "", "POST /wp-json/acme/v1/x", `{"a":1}`, []string{asAdmin}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newToolServer(t)
			g, lines := startAudited(t, p, test.abilities, test.more)
			eventually(t, "the index", func() bool {
				g.do("GET /wp-json/wp-abilities/v1/abilities/shop/erase/run", "")
				return strings.Contains(g.logged(), `"route":"/wp-abilities/v1/abilities/:name/run"`) || !strings.Contains(g.logged(), `"route"`)
			})
			before := len(lines())
			got := g.do(test.line, test.body, append(test.headers, jsonBody)...)
			if test.want != nil { // a stream may end for its reader before the line is written
				eventually(t, "the line", func() bool { return len(lines()) > before })
			}
			caddyrun.Stop(t)
			all := lines()[before:]
			if test.want == nil {
				if len(all) > 0 {
					t.Fatalf("got %v", all)
				}
				return
			}
			if len(all) != 1 {
				t.Fatalf("got %d lines for %+v: %v", len(all), got, all)
			}
			if strings.HasPrefix(name, "pass") {
				for field, value := range door {
					if _, set := test.want[field]; !set {
						test.want[field] = value
					}
				}
			}
			for field, want := range test.want {
				if value, set := all[0][field]; want == "" && set && value != "" || want != "" && value != want {
					t.Errorf("%s is %v, want %v", field, value, want)
				}
			}
			if took, _ := all[0]["took"].(float64); took <= 0 || all[0]["logger"] != "http.handlers.restwarden.agents" || all[0]["request_id"] == "" {
				t.Errorf("got %v", all[0])
			}
		})
	}
}

// TestAgents_BrokenOff: a call whose answer breaks off, and one whose client goes away, has
// exactly one line; a stream reaches the client before it has ended.
func TestAgents_BrokenOff(t *testing.T) {
	p := newToolServer(t)
	next, plain := make(chan struct{}), p.answering()
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Accept") != "text/event-stream" {
			return plain(w, r)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-next:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "data: 2\n\n")
		return true
	})
	g, lines := startAudited(t, p, "abilities {\nallow shop/query\n}", "")
	send := func(arguments, accept string) *http.Response {
		req, err := client.RequestFrom(t.Context(), g.url, "POST "+agentsDoor, strings.NewReader(toolCall("shop-query", arguments)),
			client.Lines(asAdmin, jsonBody, "Accept: "+accept))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := send(`{"do":"break"}`, "*/*")
	_, _ = io.ReadAll(res.Body)
	_ = res.Body.Close()
	eventually(t, "the line of the answer that broke off", func() bool { return len(lines()) == 1 })

	res = send(`{}`, "text/event-stream")
	if text, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || text != "data: 1\n" || len(lines()) != 1 {
		t.Errorf("got %q, %v, %d lines", text, err, len(lines()))
	}
	_ = res.Body.Close() // the client goes away
	eventually(t, "the line of the client that went away", func() bool { return len(lines()) == 2 })

	res = send(`{}`, "text/event-stream")
	close(next)
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("got %q, %v", text, err)
	}
	_ = res.Body.Close()
	caddyrun.Stop(t)
	all := lines()
	if len(all) != 3 {
		t.Fatalf("got %v", all)
	}
	for i, line := range all {
		if _, decided := line["is_error"]; line["status"] != 200.0 || line["outcome"] != "pass" || decided {
			t.Errorf("line %d: %v", i, line)
		}
	}
}
