package redact

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func redactsAbilities(t *testing.T, s *policy.Site, lines ...string) *Redact {
	t.Helper()
	p := new(Redact)
	for _, text := range lines {
		policytest.Configure(t, p, policytest.Line(text))
	}
	return policytest.Provision(t, s, p)
}

// secretResult is what a tool returns with a field to hide.
const secretResult = `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"email":"S3CRET"},"content":[{"type":"text","text":"{\"email\":\"S3CRET\"}"}]}}`

// TestRedact_Ability: a line holds for every way to an ability, with or without rules of
// abilities, and for no other one.
func TestRedact_Ability(t *testing.T) {
	const run, plain = "/wp-json/wp-abilities/v1/abilities/shop/query/run", `{"email":"S3CRET"}`
	const own = "/wp-json/own/v1/mcp"
	for name, test := range map[string]struct {
		line, method, target, body, answer string
		want                               string // "hidden", "kept" or "withheld"
	}{
		"REST":                      {"shop/*", "GET", run + "?input[id]=1", "", plain, "hidden"},
		"REST, in data":             {"shop/query", "GET", run, "", `{"data":` + plain + `}`, "hidden"},
		"REST, in result":           {"shop/query", "GET", run, "", `{"result":[` + plain + `]}`, "hidden"},
		"REST, a list":              {"shop/query", "GET", run, "", `[` + plain + `]`, "hidden"},
		"REST, in a batch":          {"shop/query", "POST", "/wp-json/batch/v1", `{"requests":[{"method":"POST","path":"/wp-abilities/v1/abilities/shop/query/run","body":{}}]}`, `{"responses":[{"body":` + plain + `,"status":200,"headers":{}}]}`, "hidden"},
		"REST, with a message":      {"shop/query", "POST", run, policytest.ToolCall("x-y", `{}`), plain, "hidden"},
		"REST, an envelope":         {"shop/query", "GET", run + "?_envelope", "", `{"body":` + plain + `,"status":200}`, "hidden"},
		"REST, another ability":     {"shop/update", "GET", run, "", plain, "kept"},
		"REST, a name in the query": {"shop/update", "GET", run + "?name=shop/update", "", plain, "hidden"},
		"REST, no JSON":             {"shop/*", "GET", run, "", "S3CRET", "withheld"},
		"a tool":                    {"shop/query", "POST", own, policytest.ToolCall("shop-query", `{}`), secretResult, "hidden"},
		"a tool by its name":        {"plain_tool", "POST", own, policytest.ToolCall("plain_tool", `{}`), secretResult, "hidden"},
		"a tool by a cut name":      {policytest.LongID, "POST", own, policytest.ToolCall(policytest.CutName, `{}`), secretResult, "hidden"},
		"another tool":              {"shop/query", "POST", own, policytest.ToolCall("shop-update", `{}`), secretResult, "kept"},
		"a prompt":                  {"shop/query", "POST", own, `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"shop-query"}}`, `{"jsonrpc":"2.0","id":7,"result":{"messages":[{"role":"user","content":{"type":"text","text":"{\"email\":\"S3CRET\"}"}}]}}`, "hidden"},
		"a prompt of another form":  {"shop/query", "POST", own, `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"shop-query"}}`, `{"jsonrpc":"2.0","id":7,"result":{"messages":[{"role":"user","text":"S3CRET"}]}}`, "withheld"},
		"executed":                  {"shop/query", "POST", policytest.Adapter, policytest.ExecutorOf("shop/query", `{}`), strings.Replace(secretResult, `{"email":"S3CRET"}`, `{"success":true,"data":{"email":"S3CRET"}}`, 1), "hidden"},
		"executed, another one":     {"shop/query", "POST", policytest.Adapter, policytest.ExecutorOf("shop/update", `{}`), secretResult, "kept"},
		"on any route":              {"shop/query", "POST", "/wp-json/lab/v1/agent", policytest.ToolCall("shop-query", `{}`), secretResult, "hidden"},
		"a resource":                {"shop/doc", "POST", policytest.Adapter, policytest.ReadOf("shop://doc"), `{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"shop://doc","text":"{\"email\":\"S3CRET\"}"}]}}`, "hidden"},
		"another resource":          {"shop/query", "POST", policytest.Adapter, policytest.ReadOf("shop://doc"), `{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"shop://doc","text":"S3CRET"}]}}`, "kept"},
		"a resource of no ability":  {"shop/query", "POST", policytest.Adapter, policytest.ReadOf("lab://x"), `{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"lab://x","text":"S3CRET"}]}}`, "withheld"},
		"a text that is no JSON":    {"shop/query", "POST", own, policytest.ToolCall("shop-query", `{}`), `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"It is S3CRET."}]}}`, "withheld"},
		"events":                    {"shop/query", "POST", own, policytest.ToolCall("shop-query", `{}`), "data: " + secretResult, "withheld"},
		"a list of messages":        {"shop/query", "POST", own, "[" + policytest.ToolCall("shop-query", `{}`) + "]", "[" + secretResult + "]", "withheld"},
		"a name in the params":      {"shop/query", "POST", own, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"params":{"name":"shop-query"}}}`, secretResult, "withheld"},
		"an overridden method":      {"shop/query", "GET", own + "?_method=POST", policytest.ToolCall("shop-query", `{}`), secretResult, "withheld"},
		"initialize":                {"shop/query", "POST", own, `{"jsonrpc":"2.0","id":7,"method":"initialize"}`, `{"jsonrpc":"2.0","id":7,"result":{"email":"S3CRET"}}`, "kept"},
		"a settings form":           {"shop/query", "POST", "/wp-json/my-mcp/v1/settings", `{"a":1}`, `{"email":"S3CRET"}`, "kept"},
		"another route":             {"shop/query", "POST", "/wp-json/wp/v2/posts", `{"title":"x"}`, `{"email":"S3CRET"}`, "kept"},
		"too long to be read":       {"shop/query", "POST", "/wp-json/lab/v1/agent", policytest.ToolCall("shop-query", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`), secretResult, "withheld"},
		"too long, another answer":  {"shop/query", "POST", "/wp-json/wp/v2/posts", `{"title":"` + strings.Repeat("x", 1<<20) + `"}`, `{"email":"S3CRET"}`, "kept"},
	} {
		for _, guarded := range []bool{false, true} {
			s := policytest.NewSite(t)
			p := redactsAbilities(t, s, "redact ability "+test.line+" email")
			r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), test.method, test.target, test.body, policytest.BasicAuth, policytest.JSONType)
			if guarded {
				if d := policytest.Alone("abilities", policytest.Provision(t, s, &abilities.Abilities{Rules: []abilities.Rule{{Pattern: "*"}, {Pattern: "*", Kind: abilities.KindTool}, {Pattern: "*", Kind: abilities.KindResource}}})).Judge(t.Context(), r); d.Outcome != policy.Pass {
					continue
				}
			}
			a := asktest.JSON(200, test.answer)
			got := "kept"
			if p.Rewrites(r) == policy.RewriteBody {
				if err := p.Rewrite(r, a); err != nil {
					got = "withheld"
				} else if !strings.Contains(string(a.Body), "S3CRET") {
					got = "hidden"
				}
			}
			if got != test.want {
				t.Errorf("%s, guarded %v: %s, want %s: %s", name, guarded, got, test.want, a.Body)
			}
		}
	}
}

// TestRedact_AbilityStreams: what a server sends to a stream is not let out; nobody without
// credentials causes a question.
func TestRedact_AbilityStreams(t *testing.T) {
	s := policytest.NewSite(t)
	p := redactsAbilities(t, s, "redact ability shop/* email")
	r := policytest.Request(t, s, nil, "GET", policytest.Adapter, "", policytest.BasicAuth)
	if got := p.Rewrites(r); got != policy.RewriteHeader {
		t.Fatalf("got %d", got)
	}
	if err := p.Rewrite(r, &ask.Answer{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}}); err == nil {
		t.Error("a stream passes")
	}
	if err := p.Rewrite(r, &ask.Answer{Status: 405, Header: http.Header{}}); err != nil {
		t.Error(err)
	}
	backend := policytest.ShopOffers(policytest.AdminBody)
	if got := p.Rewrites(policytest.Request(t, s, backend, "POST", policytest.Adapter, policytest.ReadOf("shop://doc"), policytest.JSONType)); got != policy.RewriteBody || len(backend.Questions()) > 0 {
		t.Errorf("nobody: %d, asked %+v", got, backend.Questions())
	}
}

func TestRedact_AbilityBadConfiguration(t *testing.T) {
	for _, text := range []string{"redact ability", "redact ability shop/x", "redact ability shop?x email", "redact ability shop/x a..b", "redact abilities shop/x email"} {
		if err := new(Redact).Configure(policytest.Line(text)); err == nil || !strings.Contains(err.Error(), "Caddyfile:7") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := policytest.ProvisionError(policytest.NewSite(t), &Redact{Abilities: []AbilityRedaction{{Pattern: "shop/x"}}}); err == nil {
		t.Error("no field: no error")
	}
}
