package abilities

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

const editorBody = `{"id":3,"roles":["editor"],"capabilities":{"edit_posts":true}}`

func abilitiesPolicy(t *testing.T, s *policy.Site, lines ...string) *Abilities {
	t.Helper()
	var block []policy.Option
	for _, text := range lines {
		block = append(block, policytest.Line(text))
	}
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", block...))
	return policytest.Provision(t, s, p)
}

// doorRows are calls of an administrator and what the rules make of them.
var doorRows = map[string]struct {
	rules        string // lines, separated by ;
	target, body string
	status       int
}{
	"pass/initialize":                          {"deny shop/update", policytest.Adapter, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, 0},
	"pass/notification":                        {"deny shop/update", policytest.Adapter, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0},
	"refuse/unknown method":                    {"deny shop/update", policytest.Adapter, `{"jsonrpc":"2.0","id":1,"method":"tools/run"}`, 403},
	"refuse/denied, by execute-ability":        {"deny shop/update", policytest.Adapter, policytest.ExecutorOf("shop/update", `{"id":1}`), 403},
	"refuse/execute-ability itself":            {"deny tool mcp-adapter-execute-*;allow shop/*", policytest.Adapter, policytest.ExecutorOf("shop/query", `{"id":1}`), 403},
	"refuse/execute-ability, by a slash":       {"deny tool team-execute-ability", policytest.Adapter, policytest.ToolCall("team/execute-ability", `{"ability_name":"shop/query"}`), 403},
	"refuse/get-ability-info itself":           {"deny tool *-get-ability-info;allow shop/*", policytest.Adapter, policytest.ToolCall("mcp-adapter-get-ability-info", `{"ability_name":"shop/query"}`), 403},
	"refuse/discover-abilities itself":         {"deny tool *-discover-abilities;allow shop/*", policytest.Adapter, policytest.ToolCall("mcp-adapter-discover-abilities", `{}`), 403},
	"pass/execute-ability, allowed before":     {"allow shop/query;deny tool *", policytest.Adapter, policytest.ExecutorOf("shop/query", `{"id":1}`), 0},
	"pass/other, by execute-ability":           {"deny shop/query", policytest.Adapter, policytest.ExecutorOf("shop/update", `{"id":1}`), 0},
	"refuse/against the schema":                {"deny shop/query", policytest.Adapter, policytest.ExecutorOf("shop/update", `{"id":"x"}`), 400},
	"refuse/destructive by wildcard":           {"allow shop/*", policytest.Adapter, policytest.ExecutorOf("shop/delete", `{"id":1}`), 403},
	"pass/destructive by name":                 {"allow shop/delete", policytest.Adapter, policytest.ExecutorOf("shop/delete", `{"id":1}`), 0},
	"refuse/destructive, only denials":         {"deny core/*", policytest.Adapter, policytest.ExecutorOf("shop/delete", `[]`), 403},
	"refuse/unlisted by wildcard":              {"allow lab/*", policytest.Adapter, policytest.ExecutorOf("lab/no", `[]`), 403},
	"pass/unlisted by name":                    {"allow lab/no", policytest.Adapter, policytest.ExecutorOf("lab/no", `[]`), 0},
	"pass/readonly":                            {"allow readonly shop/*", policytest.Adapter, policytest.ExecutorOf("shop/query", `{"id":1}`), 0},
	"refuse/not readonly":                      {"allow readonly shop/*", policytest.Adapter, policytest.ExecutorOf("shop/update", `{"id":1}`), 403},
	"refuse/info of a denied one":              {"allow readonly shop/*", policytest.Adapter, policytest.ToolCall("mcp-adapter-get-ability-info", `{"ability_name":"shop/update"}`), 403},
	"pass/info":                                {"allow readonly shop/*", policytest.Adapter, policytest.ToolCall("mcp-adapter-get-ability-info", `{"ability_name":"shop/query"}`), 0},
	"pass/discovery":                           {"allow readonly shop/*", policytest.Adapter, policytest.ToolCall("mcp-adapter-discover-abilities", `{}`), 0},
	"refuse/denied tool":                       {"deny shop/update", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-update", `{}`), 403},
	"pass/tool allowed before a deny":          {"allow shop/update;deny shop/*", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-update", `{}`), 0},
	"refuse/tool by wildcard of a deny":        {"deny shop/*;allow *", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-nobody-knows", `{}`), 403},
	"pass/tool of a listed ability":            {"allow shop/update", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-update", `{}`), 0},
	"refuse/destructive tool":                  {"allow shop/*;allow tool shop-*", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-delete", `{}`), 403},
	"pass/destructive tool by its ability":     {"allow shop/delete", "/wp-json/own/v1/mcp", policytest.ToolCall("shop-delete", `{}`), 0},
	"refuse/two abilities of the name":         {"allow *;allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall("a-b-c", `{}`), 400},
	"refuse/unlisted tool, a rule allows":      {"allow shop/*", "/wp-json/own/v1/mcp", policytest.ToolCall("plain_tool", `{}`), 403},
	"pass/unlisted tool, only denials":         {"deny shop/*", "/wp-json/own/v1/mcp", policytest.ToolCall("plain_tool", `{}`), 0},
	"pass/tool by a tool rule":                 {"allow tool plain_*", "/wp-json/own/v1/mcp", policytest.ToolCall("plain_tool", `{}`), 0},
	"refuse/tool by a tool rule":               {"deny tool plain_*", "/wp-json/own/v1/mcp", policytest.ToolCall("plain_tool", `{}`), 403},
	"refuse/resource":                          {"deny shop/*", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 403},
	"pass/resource":                            {"allow resource shop://*", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 0},
	"refuse/REST inside, tools/list":           {"deny shop/*", "/wp-json/wp/v2/wpmcp/streamable", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, 403},
	"refuse/REST inside, opened elsewhere":     {"allow tool *;doors /mcp/**", "/wp-json/mcp/v1/http", policytest.ToolCall("any", `{}`), 403},
	"pass/REST inside, opened":                 {"allow tool *;doors /mcp/v1/http", "/wp-json/mcp/v1/http", policytest.ToolCall("any", `{}`), 0},
	"pass/login of a server":                   {"allow shop/*", "/wp-json/own-mcp/v1/oauth/token", `{"grant_type":"x"}`, 0},
	"pass/another route":                       {"allow shop/*", "/wp-json/wp/v2/posts", `{"title":"tools/call"}`, 0},
	"refuse/net":                               {"allow readonly shop/*", "/wp-json/lab/v1/agent", policytest.ExecutorOf("shop/update", `{"id":1}`), 403},
	"pass/net":                                 {"allow shop/update", "/wp-json/lab/v1/agent", policytest.ExecutorOf("shop/update", `{"id":1}`), 0},
	"refuse/net, a list":                       {"allow *;allow tool *", "/wp-json/lab/v1/agent", "[" + policytest.ToolCall("x", `{}`) + "]", 400},
	"refuse/net, key 0":                        {"allow *;allow tool *", "/wp-json/lab/v1/agent", `{"0":` + policytest.ToolCall("x", `{}`) + "}", 400},
	"refuse/configured door, unknown method":   {"allow shop/*;doors /team/*/agent", "/wp-json/team/red/agent", `{"jsonrpc":"2.0","id":1,"method":"x"}`, 403},
	"refuse/overridden":                        {"allow shop/update", policytest.Adapter + "?_method=POST", "", 400},
	"refuse/overridden to GET":                 {"allow shop/update", policytest.Adapter + "?_method=GET", policytest.ExecutorOf("shop/update", `{"id":1}`), 400},
	"refuse/params in the query":               {"allow shop/update", policytest.Adapter + "?params[name]=x", policytest.ExecutorOf("shop/update", `{"id":1}`), 400},
	"refuse/marker elsewhere":                  {"allow shop/update", policytest.Adapter + "?x=/woocommerce/mcp", policytest.ExecutorOf("shop/update", `{"id":1}`), 400},
	"refuse/marker at the list":                {"allow shop/update", "/wp-json/wp-abilities/v1/abilities?x=/woocommerce/mcp", "", 400},
	"pass/marker on a page's call":             {"allow shop/update", "/wp-json/wp/v2/posts?x=/woocommerce/mcp", "", 0},
	"pass/a plugin of the core's list":         {"allow shop/*", "/wp-json/wp/v2/plugins/mcp-head/mcp-adapter", `{"status":"inactive"}`, 0},
	"refuse/net, all members beside a key 0":   {"allow shop/query", "/wp-json/lab/v1/agent", `{"0":[],"x":` + policytest.ExecutorOf("shop/update", `{}`) + "}", 400},
	"refuse/a door that looks like a batch":    {"allow shop/query", "/wp-json/wc/v3/mcp/batch", policytest.ToolCall("shop-update", `{}`), 400},
	"refuse/net, a batch without parts":        {"allow shop/query", "/wp-json/wc/v3/things/batch", policytest.ExecutorOf("shop/update", `{}`), 400},
	"pass/a batch":                             {"allow shop/query", "/wp-json/wc/v3/products/batch", `{"create":[{"name":"x"}]}`, 0},
	"refuse/an ability called as the executor": {"allow shop/query", "/wp-json/own/v1/mcp", policytest.ToolCall("lab-execute-ability", `{"ability_name":"shop/query","parameters":{"id":1}}`), 403},
	"refuse/an ability called as the list":     {"allow shop/query", "/wp-json/own/v1/mcp", policytest.ToolCall("lab-discover-abilities", `{}`), 403},
	"refuse/a prompt called as the list":       {"allow shop/query", "/wp-json/own/v1/mcp", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"lab-discover-abilities"}}`, 403},
	"refuse/the executor, as a tool":           {"deny tool mcp-adapter-execute-*", policytest.Adapter, policytest.ExecutorOf("shop/query", `{"id":1}`), 403},
	"refuse/the list, as a tool":               {"deny tool mcp-adapter-*", policytest.Adapter, policytest.ToolCall("mcp-adapter-discover-abilities", `{}`), 403},
	"refuse/a resource of a denied ability":    {"deny shop/doc;allow resource shop://*", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://doc"}}`, 403},
	"refuse/a resource that destroys":          {"allow resource shop://*", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://burn"}}`, 403},
	"refuse/a scheme in capitals":              {"deny shop/doc;allow resource *", policytest.Adapter, policytest.ReadOf("SHOP://doc"), 400},
	"refuse/a prompt that executes":            {"deny shop/update", policytest.Adapter, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"team-execute-ability","arguments":{"ability_name":"shop/update"}}}`, 400},
	"pass/the list, allowed first":             {"allow tool mcp-adapter-discover-abilities;deny tool mcp-adapter-*", policytest.Adapter, policytest.ToolCall("mcp-adapter-discover-abilities", `{}`), 0},
	"refuse/a method of a server called oauth": {"allow shop/query", "/wp-json/team/mcp/oauth", `{"jsonrpc":"2.0","id":1,"method":"own/x"}`, 403},
	"refuse/a call in the query of a GET":      {"allow shop/query", policytest.Adapter + "?method=tools/call&params[name]=x", "", 400},
	"pass/a setting of the shop":               {"allow shop/query", "/wp-json/wc/v3/settings/advanced/woocommerce_feature_mcp_enabled", `{"value":"yes"}`, 0},
	"pass/a reply":                             {"allow shop/query", policytest.Adapter, `{"jsonrpc":"2.0","id":3,"result":{}}`, 0},
	"refuse/hidden, by its cut name":           {"deny " + policytest.HiddenID + ";allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutOf(policytest.HiddenID), `{}`), 403},
	"refuse/hidden, only denials":              {"deny " + policytest.HiddenID, "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutOf(policytest.HiddenID), `{}`), 403},
	"refuse/hidden prompt, by its cut name":    {"deny " + policytest.HiddenID + ";allow tool *", "/wp-json/own/v1/mcp", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"` + policytest.CutOf(policytest.HiddenID) + `"}}`, 403},
	"refuse/hidden, by a pattern's end":        {"deny gone/*-end;allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutOf(policytest.HiddenID), `{}`), 403},
	"refuse/hidden, a run of dashes":           {"deny " + policytest.DashedID + ";allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall("gone-a-b", `{}`), 403},
	"pass/cut from another id":                 {"deny " + policytest.HiddenID + ";allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutOf(policytest.HiddenID+"x"), `{}`), 0},
	"pass/cut, no beginning of the pattern":    {"deny core/*-end;allow tool *", "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutOf(policytest.HiddenID), `{}`), 0},
	"pass/cut, of a listed one":                {"deny long/*-end;allow " + policytest.LongID, "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutName, `{}`), 0},
	"pass/cut, allowed before":                 {"allow " + policytest.LongID + ";deny *", "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutName, `{}`), 0},
	"refuse/a name that is cut":                {"deny " + policytest.LongID, "/wp-json/own/v1/mcp", policytest.ToolCall(policytest.CutName, `{}`), 403},
	"refuse/execute-ability under other names": {"deny shop/update", "/wp-json/own/v1/mcp", policytest.ToolCall("team/execute-ability", `{"ability_name":"shop/update"}`), 403},
}

func TestAbilities_Doors(t *testing.T) {
	for name, test := range doorRows {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
			method, headers := "POST", []string{policytest.BasicAuth, policytest.JSONType}
			if test.body == "" {
				method, headers = "GET", []string{policytest.BasicAuth}
			}
			r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), method, test.target, test.body, headers...)
			if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// TestAbilities_DoorTypes: a door takes one message, as JSON, by POST.
func TestAbilities_DoorTypes(t *testing.T) {
	message := policytest.ExecutorOf("shop/update", `{"id":1}`)
	for _, test := range []struct {
		method, contentType, body string
		status                    int
	}{
		{"POST", "application/json", message, 0},
		{"POST", "application/x+json; charset=utf-8", message, 0},
		{"POST", "text/plain", message, 400},
		{"POST", "application/json-rpc", message, 400},
		{"POST", "", message, 400},
		{"GET", "application/json", "", 0},
		{"DELETE", "", "", 0},
		{"DELETE", "application/json", message, 400},
		{"GET", "application/json", message, 400},
		{"PUT", "application/json", message, 400},
		{"OPTIONS", "application/json", message, 400},
		{"OPTIONS", "", "", 0},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, "allow shop/update")
		headers := []string{policytest.BasicAuth}
		if test.contentType != "" {
			headers = append(headers, "Content-Type: "+test.contentType)
		}
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), test.method, policytest.Adapter, test.body, headers...)
		if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
			t.Errorf("%+v: got %+v (%v)", test, d, d.Err)
		}
	}
}

// TestAbilities_LoneCookie: who calls a server whose tools run REST calls inside is not certain by a login cookie
// that the platform ignores.
func TestAbilities_LoneCookie(t *testing.T) {
	for name, test := range map[string]struct {
		target  string
		headers []string
		status  int
	}{
		"cookie alone":     {"/wp-json/wp/v2/wpmcp/streamable", []string{policytest.LoginLine}, 400},
		"cookie and nonce": {"/wp-json/wp/v2/wpmcp/streamable", []string{policytest.LoginLine, policytest.NonceLine}, 0},
		"no cookie":        {"/wp-json/wp/v2/wpmcp/streamable", nil, 0},
		"another server":   {policytest.Adapter, []string{policytest.LoginLine}, 403},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, "allow tool *", "doors /wp/v2/wpmcp/**")
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", test.target, policytest.ToolCall("any", `{}`), append(test.headers, policytest.JSONType)...)
		if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

// TestAbilities_NetUnread: a body that nobody can read may hold a message on any route.
func TestAbilities_NetUnread(t *testing.T) {
	padded := strings.Repeat(" ", 2<<20) + policytest.ExecutorOf("shop/update", `{"id":1}`)
	for _, test := range []struct {
		contentType, body string
		headers           []string
		status            int
	}{
		{"application/json", padded, nil, 413},
		{"application/json", policytest.ExecutorOf("shop/update", `{"id":1}`), []string{"Content-Encoding: gzip"}, 400},
		{"application/octet-stream", padded, nil, 0},                                        // an upload
		{"multipart/form-data", policytest.ExecutorOf("shop/update", `{"id":1}`), nil, 400}, // without a boundary
		{`multipart/form-data; boundary="x`, policytest.ExecutorOf("shop/update", `{"id":1}`), nil, 400},
		{"text/plain", policytest.ExecutorOf("shop/update", `{"id":1}`), nil, 400},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, "allow shop/query")
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", "/wp-json/lab/v1/agent", test.body, append(test.headers, policytest.BasicAuth, "Content-Type: "+test.contentType)...)
		if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
			t.Errorf("%s: got %+v", test.contentType, d)
		}
	}
}

// TestAbilities_Callers: the first rule that fits decides, and names who may.
func TestAbilities_Callers(t *testing.T) {
	for name, test := range map[string]struct {
		rules, me string
		body      string
		status    int
	}{
		"the role":                   {"allow role editor readonly shop/*", editorBody, policytest.ExecutorOf("shop/query", `{"id":1}`), 0},
		"another role":               {"allow role shop_manager,administrator readonly shop/*", editorBody, policytest.ExecutorOf("shop/query", `{"id":1}`), 403},
		"a capability":               {"allow capability edit_posts shop/update", editorBody, policytest.ExecutorOf("shop/update", `{"id":1}`), 0},
		"another capability":         {"allow capability manage_options shop/update", editorBody, policytest.ExecutorOf("shop/update", `{"id":1}`), 403},
		"a role that is not told":    {"allow role editor readonly shop/*", `{"id":1}`, policytest.ExecutorOf("shop/query", `{"id":1}`), 503},
		"a capability, not told":     {"allow capability edit_posts shop/update", `{"id":1}`, policytest.ExecutorOf("shop/update", `{"id":1}`), 503},
		"users, of whom it is not":   {"allow users shop/update", `{"id":1}`, policytest.ToolCall("shop-update", `{}`), 0},
		"users":                      {"allow users shop/update", editorBody, policytest.ToolCall("shop-update", `{}`), 0},
		"the first decides":          {"allow role administrator shop/update;allow users shop/*", editorBody, policytest.ToolCall("shop-update", `{}`), 403},
		"a tool by role":             {"allow role editor tool plain_tool", editorBody, policytest.ToolCall("plain_tool", `{}`), 0},
		"a tool by another role":     {"allow role administrator tool plain_tool", editorBody, policytest.ToolCall("plain_tool", `{}`), 403},
		"a resource by another role": {"allow role administrator resource shop://*", editorBody, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
			r := policytest.Request(t, s, policytest.ShopOffers(test.me), "POST", policytest.Adapter, test.body, policytest.BasicAuth, policytest.JSONType)
			if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// TestAbilities_DoorAnonymous: a message without credentials costs no question.
func TestAbilities_DoorAnonymous(t *testing.T) {
	backend := policytest.ShopOffers(policytest.AdminBody)
	for body, want := range map[string]int{
		policytest.ExecutorOf("shop/query", `{"id":1}`):  0,
		policytest.ExecutorOf("shop/update", `{"id":1}`): 403,
		policytest.ToolCall("shop-query", `{}`):          403,
		policytest.ToolCall("plain_tool", `{}`):          0,
		policytest.ToolCall("plain_other", `{}`):         403,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`: 0,
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`: 0,
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, "allow shop/query shop/*", "allow tool plain_tool plain_*")
		r := policytest.Request(t, s, backend, "POST", policytest.Adapter, body, policytest.JSONType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != want {
			t.Errorf("%s: got %+v, %v, want %d", body, v, err, want)
		}
	}
	if q := backend.Questions(); len(q) > 0 {
		t.Errorf("asked %+v", q)
	}
}

// TestAbilities_DoorsOfTheIndex: a route that the REST index shows as a server of tools is a
// door by whatever name.
func TestAbilities_DoorsOfTheIndex(t *testing.T) {
	root := `{"namespaces":["team/v1"],"routes":{` +
		`"/team/v1/(?P<team>[a-z]+)/agent":{"endpoints":[{"methods":["POST","GET","DELETE"],"args":[]}]},` +
		`"/team/v1/items":{"endpoints":[{"methods":["POST","GET","DELETE"],"args":{"id":{}}}]}}}`
	found, err := index.ParseRoot([]byte(root))
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]int{"/wp-json/team/v1/red/agent": 403, "/wp-json/team/v1/items": 0} {
		s := policytest.NewSite(t)
		discover.LearnTools(s, found, "example.com")
		discover.LearnTools(s, new(index.Root), "other.example.com")
		if discover.Of(s).HasTools("other.example.com", "/team/v1/red/agent") {
			t.Error("a host without servers of tools has one")
		}
		p := abilitiesPolicy(t, s, "allow shop/query")
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", target, `{"jsonrpc":"2.0","id":1,"method":"own/method"}`, policytest.BasicAuth, policytest.JSONType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != want {
			t.Errorf("%s: got %+v, %v, want %d", target, v, err, want)
		}
	}
}

// TestAbilities_ListPages: a tool's ability may stand on any page of the platform's list.
func TestAbilities_ListPages(t *testing.T) {
	page := func(first int) string {
		names := make([]string, listPerPage)
		for i := range names {
			names[i] = fmt.Sprintf(`{"name":"lab/a%d"}`, first+i)
		}
		return "[" + strings.Join(names, ",") + "]"
	}
	backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		switch {
		case q.Kind == ask.KindCaller:
			return asktest.JSON(200, policytest.AdminBody), nil
		case strings.Contains(q.Query, "page=3"):
			return asktest.JSON(200, `[{"name":"lab/last","meta":{"annotations":{"destructive":true}}}]`), nil
		}
		return asktest.JSON(200, page(len(q.Query))), nil
	}}
	s := policytest.NewSite(t)
	p := abilitiesPolicy(t, s, "allow lab/* ", "allow tool *")
	r := policytest.Request(t, s, backend, "POST", policytest.Adapter, policytest.ToolCall("lab-last", `{}`), policytest.BasicAuth, policytest.JSONType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 403 || len(backend.Questions()) != 4 { // and who is calling
		t.Errorf("got %+v, %v after %d questions", v, err, len(backend.Questions()))
	}
	backend.Answer = func(ask.Question) (*ask.Answer, error) { return asktest.JSON(200, page(0)), nil }
	r = policytest.Request(t, s, backend, "POST", policytest.Adapter, policytest.ToolCall("lab-last", `{}`), policytest.BasicAuth, policytest.JSONType)
	if _, err := p.Check(t.Context(), r); err == nil {
		t.Error("a list without end decides")
	}
}

func TestAbilities_BatchParts(t *testing.T) {
	s := policytest.NewSite(t)
	p := abilitiesPolicy(t, s, "allow *")
	for path, body := range map[string]string{"/mcp/mcp-adapter-default-server": `{"x":1}`, "/lab/v1/agent": policytest.ExecutorOf("shop/update", `{}`)} {
		batch := `{"requests":[{"method":"POST","path":"` + path + `","body":` + body + `}]}`
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", "/wp-json/batch/v1", batch, policytest.BasicAuth, policytest.JSONType)
		if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != 400 {
			t.Errorf("%s: got %+v", path, d)
		}
	}
}
