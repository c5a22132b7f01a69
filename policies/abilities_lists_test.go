package policies

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
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
		{"deny " + hiddenID + ";allow tool *", "tools/list", `{"tools":` + list(cutOf(hiddenID), "plain") + `}`, []string{"plain"}, []string{"gone-"}},
		{"allow readonly *", "discover", `{"content":[{"type":"text","text":` + string(quoted) + `}],"structuredContent":` + found + `}`, []string{"shop/query"}, []string{"shop/update", "lab/hidden"}},
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		body := `{"jsonrpc":"2.0","id":7,"method":"` + test.method + `"}`
		if test.method == "discover" {
			body = toolOf("mcp-adapter-discover-abilities", `{}`)
		}
		r := request(t, s, shopOffers(editorBody), "POST", adapter, body, basicAuth, jsonType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || p.Rewrites(r) != RewriteBody {
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
	sent := executorOf("shop/update", `{"id":1}`)
	for name, test := range map[string]struct {
		refuse, body string
		verdict      Verdict
		status       int
		want         string
	}{
		"forbidden": {"error", sent, forbidden(), 403, `{"error":{"code":-32008,"data":{"code":"rest_forbidden","status":403},"message":"Sorry, you are not allowed to do that. Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"login":     {"error", sent, Verdict{Status: 401, Code: CodeNotLoggedIn, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"rest_not_logged_in","status":403},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"hidden":    {"error", sent, Verdict{Status: 404, Code: CodeNoRoute, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"rest_no_route","status":403},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"ambiguous": {"result", `[]`, fromRefusal(call.Ambiguous("message_list")), 400, `{"error":{"code":-32600,"data":{"code":"rest_ambiguous_request","status":400},"message":"The request has no certain meaning. Repeating the same call does not help."},"id":null,"jsonrpc":"2.0"}`},
		"schema":    {"error", sent, invalid("x"), 400, `{"error":{"code":-32602,"data":{"code":"rest_invalid_param","status":400},"message":"x Repeating the same call does not help."},"id":7,"jsonrpc":"2.0"}`},
		"too many":  {"error", sent, tooMany(3), 429, `{"error":{"code":-32000,"data":{"code":"rest_too_many_requests","status":429},"message":"Too many requests. Please try again later."},"id":7,"jsonrpc":"2.0"}`},
		"too early": {"error", sent, Verdict{Status: http.StatusTooEarly, Code: CodeTooMany, Message: "x"}, 425, `{"error":{"code":-32008,"data":{"code":"rest_too_many_requests","status":425},"message":"x"},"id":7,"jsonrpc":"2.0"}`},
		"confirm":   {"error", sent, Verdict{Status: 403, Code: CodeConfirm, Message: "x"}, 403, `{"error":{"code":-32008,"data":{"code":"` + string(CodeConfirm) + `","status":403},"message":"x"},"id":7,"jsonrpc":"2.0"}`},
		"undecided": {"error", sent, Unavailable(), 503, `{"error":{"code":-32603,"data":{"code":"rest_policy_unavailable","status":503},"message":"The request could not be checked. Please try again."},"id":7,"jsonrpc":"2.0"}`},
		"platform":  {"error", sent, inPlatformWords(asktest.JSON(401, `{"code":"incorrect_password","message":"No."}`)), 403, `{"error":{"code":-32008,"data":{"code":"incorrect_password","status":403},"message":"No."},"id":7,"jsonrpc":"2.0"}`},
		"result":    {"result", sent, forbidden(), 200, `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"Sorry, you are not allowed to do that. Repeating the same call does not help.","type":"text"}],"isError":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := abilitiesPolicy(t, s, "deny shop/update", "refuse "+test.refuse)
			r := request(t, s, nil, "POST", adapter, test.body, basicAuth, jsonType)
			MessageIn(r)
			a := alone("abilities", p).Refusal(r, test.verdict)
			if a == nil || a.Status != test.status || string(a.Body) != test.want {
				t.Errorf("got %+v\n%s, want\n%s", a, a.Body, test.want)
			}
		})
	}
	s := newSite(t)
	p := abilitiesPolicy(t, s, "deny shop/update")
	if a := alone("abilities", p).Refusal(request(t, s, nil, "POST", "/wp-json/wp/v2/posts", `{}`, jsonType), forbidden()); a != nil {
		t.Errorf("another route: %s", a.Body)
	}
	bare := provision(t, s, new(Abilities))
	if a := alone("abilities", bare).Refusal(request(t, s, nil, "POST", adapter, `{}`, jsonType), forbidden()); a != nil {
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
		{"allow shop/query", adapter, executorOf("shop/update", `{}`), basicAuth, denied + "shop/update"},
		{"allow shop/query", adapter, executorOf("lab/no", `{}`), basicAuth, unknown + "lab/no"},
		{"allow lab/*", adapter, executorOf("lab/no", `{}`), basicAuth, unknown + "lab/no"},
		{"allow readonly *", adapter, executorOf("lab/no", `{}`), basicAuth, unknown + "lab/no"},
		{"deny lab/*", adapter, executorOf("lab/no", `{}`), basicAuth, denied + "lab/no"},
		{"allow shop/query", adapter, toolOf("shop-update", `{}`), basicAuth, denied + "shop-update"},
		{"allow shop/query", adapter, toolOf("shop-updat", `{}`), basicAuth, unknown + "shop-updat"},
		{"deny shop/*", adapter, toolOf("shop-updat", `{}`), basicAuth, denied + "shop-updat"},
		{"allow role administrator shop/query", adapter, toolOf("shop-query", `{}`), basicAuth, denied + "shop-query"},
		{"allow shop/query", adapter, readOf("shop://doc"), basicAuth, denied + "shop://doc"},
		{"allow shop/*", adapter, readOf("shop://gone"), basicAuth, unknown + "shop://gone"},
		{"allow role administrator resource shop://*", adapter, readOf("shop://gone"), basicAuth, unknown + "shop://gone"},
		{"allow role administrator resource shop://*;deny shop/*", adapter, readOf("shop://gone"), basicAuth, denied + "shop://gone"},
		{"allow shop/*;deny lab/*", adapter, readOf("shop://gone"), basicAuth, denied + "shop://gone"},
		{"deny resource shop://*", adapter, readOf("shop://gone"), basicAuth, denied + "shop://gone"},
		{"allow shop/*", adapter, readOf("shop://gone"), "X-Nobody: y", denied + "shop://gone"},
		{"allow readonly shop/*;deny shop/*", adapter, toolOf("shop-gone", `{}`), basicAuth, denied + "shop-gone"},
		{"allow readonly shop/*;deny shop/*", adapter, executorOf("shop/gone", `{}`), basicAuth, denied + "shop/gone"},
		{"allow readonly shop/*;deny shop/*", "/wp-json/wp-abilities/v1/abilities/shop/gone/run", "{}", basicAuth, denied + "shop/gone"},
		{"allow shop/query", "/wp-json/wp-abilities/v1/abilities/shop/update/run", "{}", basicAuth, denied + "shop/update"},
		{"allow shop/query", adapter, executorOf("lab/no", `{}`), "X-Nobody: y", denied + "lab/no"},
		{"allow shop/query", adapter, executorOf("shop/update", `{}`), "X-Nobody: y", denied + "shop/update"},
		{"allow shop/query", adapter, toolOf("shop-updat", `{}`), "X-Nobody: y", denied + "shop-updat"},
		{"allow shop/*", adapter, executorOf("shop/update", `{"id":"x"}`), basicAuth, "The input of the ability shop/update is not valid"},
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		backend := shopOffers(editorBody)
		r := request(t, s, backend, "POST", test.target, test.body, test.headers, jsonType)
		d := alone("abilities", p).Judge(t.Context(), r)
		message := d.Verdict.Message
		if a := alone("abilities", p).Refusal(r, d.Verdict); a != nil {
			var sent struct{ Error struct{ Message string } }
			if err := json.Unmarshal(a.Body, &sent); err != nil {
				t.Fatal(err)
			}
			message = sent.Error.Message
		}
		if !strings.HasPrefix(message, test.want) || strings.Count(message, noUse) != 1 || !strings.HasSuffix(message, noUse) {
			t.Errorf("%s, %s: %q (%v), want %q", test.rules, test.body, message, d.Err, test.want)
		}
		if q := backend.Questions(); test.headers != basicAuth && len(q) > 0 {
			t.Errorf("asked for nobody: %+v", q)
		}
	}
}

// TestAbilities_Idle: what could do nothing, or would take every call for a message, does not
// load.
func TestAbilities_Idle(t *testing.T) {
	rules := []AbilityRule{{Pattern: "shop/*"}}
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
		{Abilities{Rules: []AbilityRule{{Pattern: "readonl"}}}, "did you mean readonly"},
		{Abilities{Rules: []AbilityRule{{Pattern: "role", Kind: KindTool}}}, ""},
	} {
		err := provisionError(newSite(t), &test.p)
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
	s, p := newSite(t), new(Abilities)
	configure(t, p, line("abilities", line("allow role administrator shop/*")))
	provision(t, s, p)
	r := request(t, s, b, "GET", "/wp-json/wp-abilities/v1/abilities", "", basicAuth)
	if v, err := p.Check(t.Context(), r); v.Status != 0 || err != nil {
		t.Fatal(v, err)
	}
	a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"core/query"}]`)
	if err := p.Rewrite(r, a); err != nil || string(a.Body) != `[{"name":"shop/query"}]` {
		t.Errorf("%s, %v", a.Body, err)
	}
}

// TestAbilities_ListBesideUnread: the platform's list is filtered, also where a limit has looked for a
// message in the body of the call and found none.
func TestAbilities_ListBesideUnread(t *testing.T) {
	s := newSite(t)
	p := abilitiesPolicy(t, s, "allow shop/query")
	limits := limited(t, s, "rate_limit 5/1m tools/call /wp-abilities/**")
	c := Link(s, "", linked("rate_limit", limits), linked("abilities", p))
	for _, body := range []string{`{}`, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`} {
		r := request(t, s, shopOffers(adminBody), "GET", "/wp-json/wp-abilities/v1/abilities", body, jsonType, basicAuth)
		if d := c.Judge(t.Context(), r); d.Outcome != Pass || MessageRead(r) == nil || p.Rewrites(r) != RewriteBody {
			t.Fatalf("%s: %+v, %v", body, d.Verdict, d.Err)
		}
		a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"shop/update"}]`)
		if err := p.Rewrite(r, a); err != nil || string(a.Body) != `[{"name":"shop/query"}]` {
			t.Errorf("%s: %s, %v", body, a.Body, err)
		}
	}
}
