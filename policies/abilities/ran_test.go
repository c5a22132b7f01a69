package abilities

import (
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAnswered: only what the adapter itself says of a call of a tool proves that nothing ran. An
// ability chooses what else an answer says (docs/platform IV.7).
func TestAnswered(t *testing.T) {
	const (
		noSuchSession = `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"Session not found"}}`
		oldSession    = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: Invalid or expired session"}}`
		nobody        = `{"code":"rest_forbidden","message":"no","data":{"status":401}}`
		wrongInput    = `{"code":"ability_invalid_input","message":"Ability \"shop/erase\" has invalid input.","data":{"status":400}}`
	)
	tool, prompt := toolCall("tools/call", "shop-erase", `{}`), toolCall("prompts/get", "shop-erase", `{}`)
	at := func(route string, c agentCall) agentCall { return agentCall{c.method, "/wp-json" + route, c.body} }
	for name, test := range map[string]struct {
		call   agentCall
		status int
		body   string
		back   bool
	}{
		"a tool":                             {tool, 404, noSuchSession, true},
		"a tool, to 0.4.1":                   {tool, 200, oldSession, true},
		"a tool, of nobody":                  {tool, 401, nobody, true},
		"a tool, in capitals":                {at("/MCP/mcp-adapter-default-server", tool), 404, noSuchSession, true},
		"a tool by execute-ability":          {executeAbility("mcp-adapter-execute-ability", "shop/erase", `{}`), 404, noSuchSession, true},
		"a tool of another adapter's server": {at("/team/v1/agents", tool), 404, noSuchSession, true},
		"a tool of an unknown server":        {at("/team/v1/mcp", tool), 404, noSuchSession, false},
		"a tool of an unknown server, 401":   {at("/team/v1/mcp", tool), 401, nobody, false},
		"a tool of the shop's server":        {at("/woocommerce/mcp", tool), 404, noSuchSession, false},
		"a tool, another status":             {tool, 500, noSuchSession, false},
		"a prompt":                           {prompt, 404, noSuchSession, false},
		"a prompt, to 0.4.1":                 {prompt, 200, oldSession, false},
		"a run, 401":                         {restRun("POST", "shop/erase", `{}`), 401, nobody, false},
		"a run, 400":                         {restRun("POST", "shop/erase", `{}`), 400, wrongInput, false},
		"a run, 404":                         {restRun("POST", "shop/erase", `{}`), 404, noSuchSession, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := confirming(t, policytest.Line("confirm shop/erase"))
			discover.Of(s).PutTools("example.com", index.New([]string{"/team/v1/agents"}, nil))
			if d := sent(t, s, p, test.call); d.Verdict.Code != policy.CodeConfirm {
				t.Fatalf("%+v, %v", d.Verdict, d.Err)
			}
			list, err := waiting.Of(s).Ledger.List(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			if _, err := waiting.Of(s).Ledger.Decide(t.Context(), list[0].ID, true); err != nil {
				t.Fatal(err)
			}
			r := policytest.Request(t, s, asktest.Routed(shopAnswers()), test.call.method, test.call.target, test.call.body, policytest.BasicAuth, policytest.JSONType)
			if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Outcome != policy.Pass || !Confirmed(r) {
				t.Fatalf("given: %+v, %v", d.Verdict, d.Err)
			}
			r.Settle()
			back, err := Answered(t.Context(), r, asktest.JSON(test.status, test.body), false)
			if err != nil || back != test.back || Confirmed(r) {
				t.Errorf("given back: %t, %v", back, err)
			}
			if d := sent(t, s, p, test.call); (d.Outcome == policy.Pass) != test.back {
				t.Errorf("the same call again: %+v, %v", d.Verdict, d.Err)
			}
		})
	}
}
