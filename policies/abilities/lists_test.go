package abilities

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAbilities_Offers: lists show what the caller may call, and nothing else.
func TestAbilities_Offers(t *testing.T) {
	list := func(names ...string) string {
		items := []string{}
		for _, name := range names {
			items = append(items, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	const own = "mcp-adapter-execute-ability"
	found := `{"abilities":[{"name":"shop/query","label":"q"},{"name":"shop/update"},{"name":"lab/hidden"}]}`
	quoted, _ := json.Marshal(found)
	for _, test := range []struct {
		rules, method, result string
		has, lacks            []string
	}{
		{"allow readonly shop/*", "tools/list", `{"tools":` + list("shop-query", "shop-update", own) + `,"nextCursor":"x"}`, []string{"shop-query", own, "nextCursor"}, []string{"shop-update"}},
		{"deny tool *-ability;allow shop/query", "tools/list", `{"tools":` + list("shop-query", own) + `}`, []string{"shop-query"}, []string{own}},
		{"allow shop/query;deny tool *-ability", "tools/list", `{"tools":` + list("shop-query", own) + `}`, []string{"shop-query", own}, nil},
		{"allow tool plain", "tools/list", `{"tools":` + list("shop-query", "plain") + `}`, []string{"plain"}, []string{"shop-query"}},
		{"allow role administrator shop/*", "tools/list", `{"tools":` + list("shop-query") + `}`, nil, []string{"shop-query"}},
		{"allow *", "tools/list", `{"tools":` + list("a-b-c", "shop-delete", "shop-update") + `}`, []string{"shop-update"}, []string{"a-b-c", "shop-delete"}},
		{"allow shop/query", "prompts/list", `{"prompts":` + list("shop-query", "shop-update") + `}`, []string{"shop-query"}, []string{"shop-update"}},
		{"allow resource shop://a", "resources/list", `{"resources":[{"uri":"shop://a","name":"x"},{"uri":"shop://b","name":"shop-query"}]}`, []string{"shop://a"}, []string{"shop://b"}},
		{"allow readonly *", "resources/list", `{"resources":[{"uri":"shop://doc","name":"x"}]}`, nil, []string{"shop://doc"}},
		{"deny core/*", "resources/list", `{"resources":[{"uri":"shop://doc","name":"x"}]}`, nil, []string{"shop://doc"}},
		{"deny shop/burn;allow resource *", "resources/list", `{"resources":[{"uri":"shop://doc","name":"x"},{"uri":"shop://burn","name":"x"}]}`, []string{"shop://doc"}, []string{"shop://burn"}},
		{"deny " + policytest.HiddenID + ";allow tool *", "tools/list", `{"tools":` + list(policytest.CutOf(policytest.HiddenID), "plain") + `}`, []string{"plain"}, []string{"gone-"}},
		{"allow readonly *", "discover", `{"content":[{"type":"text","text":` + string(quoted) + `}],"structuredContent":` + found + `}`, []string{"shop/query"}, []string{"shop/update", "lab/hidden"}},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		body := `{"jsonrpc":"2.0","id":7,"method":"` + test.method + `"}`
		if test.method == "discover" {
			body = policytest.ToolCall("mcp-adapter-discover-abilities", `{}`)
		}
		r := policytest.Request(t, s, policytest.ShopOffers(editorBody), "POST", policytest.Adapter, body, policytest.BasicAuth, policytest.JSONType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || p.Rewrites(r) != policy.RewriteBody {
			t.Fatalf("%+v: %+v, %v", test, v, err)
		}
		a := asktest.JSON(200, `{"jsonrpc":"2.0","id":7,"result":`+test.result+`}`)
		if err := p.Rewrite(r, a); err != nil {
			t.Fatal(err)
		}
		for _, text := range slices.Concat(test.has, test.lacks) {
			if got := strings.Contains(string(a.Body), text); got != slices.Contains(test.has, text) {
				t.Errorf("%s: %q in %s: %v", test.rules, text, a.Body, got)
			}
		}
		if err := p.Rewrite(r, &ask.Answer{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: a.Body}); err == nil {
			t.Errorf("%s: an event stream passes", test.rules)
		}
		for _, odd := range []string{`[]`, `{"body":{"result":{"tools":[]}},"status":200}`, `{"result":[]}`, `{"result":{"tools":{},"prompts":1,"resources":1,"content":1}}`} {
			if err := p.Rewrite(r, asktest.JSON(200, odd)); err == nil {
				t.Errorf("%s: %s passes", test.rules, odd)
			}
		}
	}
}

// TestAbilities_RefusalsOfDoors: agents get a JSON-RPC error with their id.
func TestAbilities_RefusalsOfDoors(t *testing.T) {
	sent := policytest.ExecutorOf("shop/update", `{"id":1}`)
	for name, test := range map[string]struct {
		refuse, body string
		verdict      policy.Verdict
		status       int
		want         string
	}{
		"forbidden": {"error", sent, policy.Forbidden(), 403, `{"error":{"code":-32008,"data":{"code":"rest_forbidden","status":403},"message":"Sorry, you are not allowed to do that. Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"login":     {"error", sent, policy.Verdict{Status: 401, Code: policy.CodeNotLoggedIn, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"rest_not_logged_in","status":403},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"hidden":    {"error", sent, policy.Verdict{Status: 404, Code: policy.CodeNoRoute, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"rest_no_route","status":403},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"ambiguous": {"result", `[]`, policy.FromRefusal(call.Ambiguous("message_list")), 400, `{"error":{"code":-32600,"data":{"code":"rest_ambiguous_request","status":400},"message":"The request has no certain meaning. Repeating the same call does not help."},"id":null,"jsonrpc":"2.0"}`},
		"schema":    {"error", sent, invalid("x"), 400, `{"error":{"code":-32602,"data":{"code":"rest_invalid_param","status":400},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"too many":  {"error", sent, policy.TooMany(3), 429, `{"error":{"code":-32000,"data":{"code":"rest_too_many_requests","status":429},"message":"Too many requests. Please try again later."},"id":7,"jsonrpc":"2.0"}`},
		"too early": {"error", sent, policy.Verdict{Status: http.StatusTooEarly, Code: policy.CodeTooMany, Message: "x"}, 425, `{"error":{"code":-32008,"data":{"code":"rest_too_many_requests","status":425},"message":"x"},"id":7,"jsonrpc":"2.0"}`},
		"confirm":   {"error", sent, policy.Verdict{Status: 403, Code: policy.CodeConfirm, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"` + string(policy.CodeConfirm) + `","status":403},"message":"x"},"id":7,"jsonrpc":"2.0"}`},
		"undecided": {"error", sent, policy.Unavailable(), 503, `{"error":{"code":-32603,"data":{"code":"rest_policy_unavailable","status":503},"message":"The request could not be checked. Please try again."},"id":7,"jsonrpc":"2.0"}`},
		"platform":  {"error", sent, policy.InPlatformWords(asktest.JSON(401, `{"code":"incorrect_password","message":"No."}`)), 403, `{"error":{"code":-32008,"data":{"code":"incorrect_password","status":403},"message":"No."},"id":7,"jsonrpc":"2.0"}`},
		"result":    {"result", sent, policy.Forbidden(), 200, `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"Sorry, you are not allowed to do that. Repeating the same call does not help.","type":"text"}],"isError":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := abilitiesPolicy(t, s, "deny shop/update", "refuse "+test.refuse)
			r := policytest.Request(t, s, nil, "POST", policytest.Adapter, test.body, policytest.BasicAuth, policytest.JSONType)
			message.In(r)
			a := policytest.Alone("abilities", p).Refusal(r, test.verdict)
			if a == nil || a.Status != test.status || string(a.Body) != test.want {
				t.Errorf("got %+v\n%s, want\n%s", a, a.Body, test.want)
			}
		})
	}
	s := policytest.NewSite(t)
	p := abilitiesPolicy(t, s, "deny shop/update")
	if a := policytest.Alone("abilities", p).Refusal(policytest.Request(t, s, nil, "POST", "/wp-json/wp/v2/posts", `{}`, policytest.JSONType), policy.Forbidden()); a != nil {
		t.Errorf("another route: %s", a.Body)
	}
	bare := policytest.Provision(t, s, new(Abilities))
	if a := policytest.Alone("abilities", bare).Refusal(policytest.Request(t, s, nil, "POST", policytest.Adapter, `{}`, policytest.JSONType), policy.Forbidden()); a != nil {
		t.Errorf("without a rule: %s", a.Body)
	}
}

// TestAbilities_RefusalsSay: a refusal says what was called, and that a repetition is of no use.
// That a name is unknown it says to callers whom the platform has told, and never of a name
// that a rule denies.
func TestAbilities_RefusalsSay(t *testing.T) {
	const unknown, denied = "The site lists nothing called ", "Sorry, you are not allowed to use "
	for _, test := range []struct {
		rules, target, body, headers, want string
	}{
		{"allow shop/query", policytest.Adapter, policytest.ExecutorOf("shop/update", `{}`), policytest.BasicAuth, denied + "shop/update"},
		{"allow shop/query", policytest.Adapter, policytest.ExecutorOf("lab/no", `{}`), policytest.BasicAuth, unknown + "lab/no"},
		{"allow lab/*", policytest.Adapter, policytest.ExecutorOf("lab/no", `{}`), policytest.BasicAuth, unknown + "lab/no"},
		{"allow readonly *", policytest.Adapter, policytest.ExecutorOf("lab/no", `{}`), policytest.BasicAuth, unknown + "lab/no"},
		{"deny lab/*", policytest.Adapter, policytest.ExecutorOf("lab/no", `{}`), policytest.BasicAuth, denied + "lab/no"},
		{"allow shop/query", policytest.Adapter, policytest.ToolCall("shop-update", `{}`), policytest.BasicAuth, denied + "shop-update"},
		{"allow shop/query", policytest.Adapter, policytest.ToolCall("shop-updat", `{}`), policytest.BasicAuth, unknown + "shop-updat"},
		{"deny shop/*", policytest.Adapter, policytest.ToolCall("shop-updat", `{}`), policytest.BasicAuth, denied + "shop-updat"},
		{"allow role administrator shop/query", policytest.Adapter, policytest.ToolCall("shop-query", `{}`), policytest.BasicAuth, denied + "shop-query"},
		{"allow shop/query", policytest.Adapter, policytest.ReadOf("shop://doc"), policytest.BasicAuth, denied + "shop://doc"},
		{"allow shop/*", policytest.Adapter, policytest.ReadOf("shop://gone"), policytest.BasicAuth, unknown + "shop://gone"},
		{"allow role administrator resource shop://*", policytest.Adapter, policytest.ReadOf("shop://gone"), policytest.BasicAuth, unknown + "shop://gone"},
		{"allow role administrator resource shop://*;deny shop/*", policytest.Adapter, policytest.ReadOf("shop://gone"), policytest.BasicAuth, denied + "shop://gone"},
		{"allow shop/*;deny lab/*", policytest.Adapter, policytest.ReadOf("shop://gone"), policytest.BasicAuth, denied + "shop://gone"},
		{"deny resource shop://*", policytest.Adapter, policytest.ReadOf("shop://gone"), policytest.BasicAuth, denied + "shop://gone"},
		{"allow shop/*", policytest.Adapter, policytest.ReadOf("shop://gone"), "X-Nobody: y", denied + "shop://gone"},
		{"allow readonly shop/*;deny shop/*", policytest.Adapter, policytest.ToolCall("shop-gone", `{}`), policytest.BasicAuth, denied + "shop-gone"},
		{"allow readonly shop/*;deny shop/*", policytest.Adapter, policytest.ExecutorOf("shop/gone", `{}`), policytest.BasicAuth, denied + "shop/gone"},
		{"allow readonly shop/*;deny shop/*", "/wp-json/wp-abilities/v1/abilities/shop/gone/run", "{}", policytest.BasicAuth, denied + "shop/gone"},
		{"allow shop/query", "/wp-json/wp-abilities/v1/abilities/shop/update/run", "{}", policytest.BasicAuth, denied + "shop/update"},
		{"allow shop/query", policytest.Adapter, policytest.ExecutorOf("lab/no", `{}`), "X-Nobody: y", denied + "lab/no"},
		{"allow shop/query", policytest.Adapter, policytest.ExecutorOf("shop/update", `{}`), "X-Nobody: y", denied + "shop/update"},
		{"allow shop/query", policytest.Adapter, policytest.ToolCall("shop-updat", `{}`), "X-Nobody: y", denied + "shop-updat"},
		{"allow shop/*", policytest.Adapter, policytest.ExecutorOf("shop/update", `{"id":"x"}`), policytest.BasicAuth, "The input of the ability shop/update is not valid"},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		backend := policytest.ShopOffers(editorBody)
		r := policytest.Request(t, s, backend, "POST", test.target, test.body, test.headers, policytest.JSONType)
		d := policytest.Alone("abilities", p).Judge(t.Context(), r)
		message := d.Verdict.Message
		if a := policytest.Alone("abilities", p).Refusal(r, d.Verdict); a != nil {
			var sent struct{ Error struct{ Message string } }
			if err := json.Unmarshal(a.Body, &sent); err != nil {
				t.Fatal(err)
			}
			message = sent.Error.Message
		}
		if !strings.HasPrefix(message, test.want) || strings.Count(message, noUse) != 1 || !strings.HasSuffix(message, noUse) {
			t.Errorf("%s, %s: %q (%v), want %q", test.rules, test.body, message, d.Err, test.want)
		}
		if q := backend.Questions(); test.headers != policytest.BasicAuth && len(q) > 0 {
			t.Errorf("asked for nobody: %+v", q)
		}
	}
}

// TestAbilities_Idle: what could do nothing, or would take every call for a message, does not
// load.
func TestAbilities_Idle(t *testing.T) {
	rules := []Rule{{Pattern: "shop/*"}}
	for _, test := range []struct {
		p    Abilities
		want string
	}{
		{Abilities{Doors: []string{"/team/agents"}}, "no rule says"},
		{Abilities{Refuse: refuseResult}, "no rule says"},
		{Abilities{Audit: auditArguments}, "without a rule"},
		{Abilities{Audit: auditOff}, ""},
		{Abilities{Rules: rules, Refuse: refuseResult, Audit: auditArguments}, ""},
		{Abilities{Confirm: []ConfirmRule{{Pattern: "shop/*"}}, Refuse: refuseResult}, ""},
		{Abilities{Rules: rules, Doors: []string{"/**"}}, "every call"},
		{Abilities{Rules: rules, Doors: []string{"/*/**"}}, "every call"},
		{Abilities{Rules: rules, Doors: []string{"/team/**"}}, ""},
		{Abilities{Rules: []Rule{{Pattern: "readonl"}}}, "did you mean readonly"},
		{Abilities{Rules: []Rule{{Pattern: "role", Kind: KindTool}}}, ""},
	} {
		err := policytest.ProvisionError(policytest.NewSite(t), &test.p)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.p, err, test.want)
		}
	}
}

// TestAbilities_ListOfSuperAdmin: a list has what a super admin of a network may run, of whom the
// answer about the user tells neither role nor capability.
func TestAbilities_ListOfSuperAdmin(t *testing.T) {
	b := asktest.Routed(map[string]*ask.Answer{
		"GET /wp/v2/users/me": asktest.JSON(200, `{"id":9,"roles":[],"capabilities":[]}`),
		"GET /wp/v2/settings": asktest.JSON(200, `{"title":"x"}`),
	})
	s, p := policytest.NewSite(t), new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("allow role administrator shop/*")))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, b, "GET", "/wp-json/wp-abilities/v1/abilities", "", policytest.BasicAuth)
	if v, err := p.Check(t.Context(), r); v.Status != 0 || err != nil {
		t.Fatal(v, err)
	}
	a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"core/query"}]`)
	if err := p.Rewrite(r, a); err != nil || string(a.Body) != `[{"name":"shop/query"}]` {
		t.Errorf("%s, %v", a.Body, err)
	}
}
