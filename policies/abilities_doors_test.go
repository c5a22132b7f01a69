package policies

import (
	//nolint:gosec // see cutName
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
)

const editorBody = `{"id":3,"roles":["editor"],"capabilities":{"edit_posts":true}}`

func abilitiesPolicy(t *testing.T, s *Site, lines ...string) *Abilities {
	t.Helper()
	var block []Option
	for _, text := range lines {
		block = append(block, line(text))
	}
	p := new(Abilities)
	configure(t, p, line("abilities", block...))
	return provision(t, s, p)
}

// doorRows are calls of an administrator and what the rules make of them.
var doorRows = map[string]struct {
	rules        string // lines, separated by ;
	target, body string
	status       int
}{
	"pass/initialize":                          {"deny shop/update", adapter, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, 0},
	"pass/notification":                        {"deny shop/update", adapter, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0},
	"refuse/unknown method":                    {"deny shop/update", adapter, `{"jsonrpc":"2.0","id":1,"method":"tools/run"}`, 403},
	"refuse/denied, by execute-ability":        {"deny shop/update", adapter, executorOf("shop/update", `{"id":1}`), 403},
	"refuse/execute-ability itself":            {"deny tool mcp-adapter-execute-*;allow shop/*", adapter, executorOf("shop/query", `{"id":1}`), 403},
	"refuse/execute-ability, by a slash":       {"deny tool team-execute-ability", adapter, toolOf("team/execute-ability", `{"ability_name":"shop/query"}`), 403},
	"refuse/get-ability-info itself":           {"deny tool *-get-ability-info;allow shop/*", adapter, toolOf("mcp-adapter-get-ability-info", `{"ability_name":"shop/query"}`), 403},
	"refuse/discover-abilities itself":         {"deny tool *-discover-abilities;allow shop/*", adapter, toolOf("mcp-adapter-discover-abilities", `{}`), 403},
	"pass/execute-ability, allowed before":     {"allow shop/query;deny tool *", adapter, executorOf("shop/query", `{"id":1}`), 0},
	"pass/other, by execute-ability":           {"deny shop/query", adapter, executorOf("shop/update", `{"id":1}`), 0},
	"refuse/against the schema":                {"deny shop/query", adapter, executorOf("shop/update", `{"id":"x"}`), 400},
	"refuse/destructive by wildcard":           {"allow shop/*", adapter, executorOf("shop/delete", `{"id":1}`), 403},
	"pass/destructive by name":                 {"allow shop/delete", adapter, executorOf("shop/delete", `{"id":1}`), 0},
	"refuse/destructive, only denials":         {"deny core/*", adapter, executorOf("shop/delete", `[]`), 403},
	"refuse/unlisted by wildcard":              {"allow lab/*", adapter, executorOf("lab/no", `[]`), 403},
	"pass/unlisted by name":                    {"allow lab/no", adapter, executorOf("lab/no", `[]`), 0},
	"pass/readonly":                            {"allow readonly shop/*", adapter, executorOf("shop/query", `{"id":1}`), 0},
	"refuse/not readonly":                      {"allow readonly shop/*", adapter, executorOf("shop/update", `{"id":1}`), 403},
	"refuse/info of a denied one":              {"allow readonly shop/*", adapter, toolOf("mcp-adapter-get-ability-info", `{"ability_name":"shop/update"}`), 403},
	"pass/info":                                {"allow readonly shop/*", adapter, toolOf("mcp-adapter-get-ability-info", `{"ability_name":"shop/query"}`), 0},
	"pass/discovery":                           {"allow readonly shop/*", adapter, toolOf("mcp-adapter-discover-abilities", `{}`), 0},
	"refuse/denied tool":                       {"deny shop/update", "/wp-json/own/v1/mcp", toolOf("shop-update", `{}`), 403},
	"pass/tool allowed before a deny":          {"allow shop/update;deny shop/*", "/wp-json/own/v1/mcp", toolOf("shop-update", `{}`), 0},
	"refuse/tool by wildcard of a deny":        {"deny shop/*;allow *", "/wp-json/own/v1/mcp", toolOf("shop-nobody-knows", `{}`), 403},
	"pass/tool of a listed ability":            {"allow shop/update", "/wp-json/own/v1/mcp", toolOf("shop-update", `{}`), 0},
	"refuse/destructive tool":                  {"allow shop/*;allow tool shop-*", "/wp-json/own/v1/mcp", toolOf("shop-delete", `{}`), 403},
	"pass/destructive tool by its ability":     {"allow shop/delete", "/wp-json/own/v1/mcp", toolOf("shop-delete", `{}`), 0},
	"refuse/two abilities of the name":         {"allow *;allow tool *", "/wp-json/own/v1/mcp", toolOf("a-b-c", `{}`), 400},
	"refuse/unlisted tool, a rule allows":      {"allow shop/*", "/wp-json/own/v1/mcp", toolOf("plain_tool", `{}`), 403},
	"pass/unlisted tool, only denials":         {"deny shop/*", "/wp-json/own/v1/mcp", toolOf("plain_tool", `{}`), 0},
	"pass/tool by a tool rule":                 {"allow tool plain_*", "/wp-json/own/v1/mcp", toolOf("plain_tool", `{}`), 0},
	"refuse/tool by a tool rule":               {"deny tool plain_*", "/wp-json/own/v1/mcp", toolOf("plain_tool", `{}`), 403},
	"refuse/resource":                          {"deny shop/*", adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 403},
	"pass/resource":                            {"allow resource shop://*", adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 0},
	"refuse/REST inside, tools/list":           {"deny shop/*", "/wp-json/wp/v2/wpmcp/streamable", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, 403},
	"refuse/REST inside, opened elsewhere":     {"allow tool *;doors /mcp/**", "/wp-json/mcp/v1/http", toolOf("any", `{}`), 403},
	"pass/REST inside, opened":                 {"allow tool *;doors /mcp/v1/http", "/wp-json/mcp/v1/http", toolOf("any", `{}`), 0},
	"pass/login of a server":                   {"allow shop/*", "/wp-json/own-mcp/v1/oauth/token", `{"grant_type":"x"}`, 0},
	"pass/another route":                       {"allow shop/*", "/wp-json/wp/v2/posts", `{"title":"tools/call"}`, 0},
	"refuse/net":                               {"allow readonly shop/*", "/wp-json/lab/v1/agent", executorOf("shop/update", `{"id":1}`), 403},
	"pass/net":                                 {"allow shop/update", "/wp-json/lab/v1/agent", executorOf("shop/update", `{"id":1}`), 0},
	"refuse/net, a list":                       {"allow *;allow tool *", "/wp-json/lab/v1/agent", "[" + toolOf("x", `{}`) + "]", 400},
	"refuse/net, key 0":                        {"allow *;allow tool *", "/wp-json/lab/v1/agent", `{"0":` + toolOf("x", `{}`) + "}", 400},
	"refuse/configured door, unknown method":   {"allow shop/*;doors /team/*/agent", "/wp-json/team/red/agent", `{"jsonrpc":"2.0","id":1,"method":"x"}`, 403},
	"refuse/overridden":                        {"allow shop/update", adapter + "?_method=POST", "", 400},
	"refuse/overridden to GET":                 {"allow shop/update", adapter + "?_method=GET", executorOf("shop/update", `{"id":1}`), 400},
	"refuse/params in the query":               {"allow shop/update", adapter + "?params[name]=x", executorOf("shop/update", `{"id":1}`), 400},
	"refuse/marker elsewhere":                  {"allow shop/update", adapter + "?x=/woocommerce/mcp", executorOf("shop/update", `{"id":1}`), 400},
	"refuse/marker at the list":                {"allow shop/update", "/wp-json/wp-abilities/v1/abilities?x=/woocommerce/mcp", "", 400},
	"pass/marker on a page's call":             {"allow shop/update", "/wp-json/wp/v2/posts?x=/woocommerce/mcp", "", 0},
	"pass/a plugin of the core's list":         {"allow shop/*", "/wp-json/wp/v2/plugins/mcp-head/mcp-adapter", `{"status":"inactive"}`, 0},
	"refuse/net, all members beside a key 0":   {"allow shop/query", "/wp-json/lab/v1/agent", `{"0":[],"x":` + executorOf("shop/update", `{}`) + "}", 400},
	"refuse/a door that looks like a batch":    {"allow shop/query", "/wp-json/wc/v3/mcp/batch", toolOf("shop-update", `{}`), 400},
	"refuse/net, a batch without parts":        {"allow shop/query", "/wp-json/wc/v3/things/batch", executorOf("shop/update", `{}`), 400},
	"pass/a batch":                             {"allow shop/query", "/wp-json/wc/v3/products/batch", `{"create":[{"name":"x"}]}`, 0},
	"refuse/an ability called as the executor": {"allow shop/query", "/wp-json/own/v1/mcp", toolOf("lab-execute-ability", `{"ability_name":"shop/query","parameters":{"id":1}}`), 403},
	"refuse/an ability called as the list":     {"allow shop/query", "/wp-json/own/v1/mcp", toolOf("lab-discover-abilities", `{}`), 403},
	"refuse/a prompt called as the list":       {"allow shop/query", "/wp-json/own/v1/mcp", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"lab-discover-abilities"}}`, 403},
	"refuse/the executor, as a tool":           {"deny tool mcp-adapter-execute-*", adapter, executorOf("shop/query", `{"id":1}`), 403},
	"refuse/the list, as a tool":               {"deny tool mcp-adapter-*", adapter, toolOf("mcp-adapter-discover-abilities", `{}`), 403},
	"refuse/a resource of a denied ability":    {"deny shop/doc;allow resource shop://*", adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://doc"}}`, 403},
	"refuse/a resource that destroys":          {"allow resource shop://*", adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://burn"}}`, 403},
	"refuse/a scheme in capitals":              {"deny shop/doc;allow resource *", adapter, readOf("SHOP://doc"), 400},
	"refuse/a prompt that executes":            {"deny shop/update", adapter, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"team-execute-ability","arguments":{"ability_name":"shop/update"}}}`, 400},
	"pass/the list, allowed first":             {"allow tool mcp-adapter-discover-abilities;deny tool mcp-adapter-*", adapter, toolOf("mcp-adapter-discover-abilities", `{}`), 0},
	"refuse/a method of a server called oauth": {"allow shop/query", "/wp-json/team/mcp/oauth", `{"jsonrpc":"2.0","id":1,"method":"own/x"}`, 403},
	"refuse/a call in the query of a GET":      {"allow shop/query", adapter + "?method=tools/call&params[name]=x", "", 400},
	"pass/a setting of the shop":               {"allow shop/query", "/wp-json/wc/v3/settings/advanced/woocommerce_feature_mcp_enabled", `{"value":"yes"}`, 0},
	"pass/a reply":                             {"allow shop/query", adapter, `{"jsonrpc":"2.0","id":3,"result":{}}`, 0},
	"refuse/hidden, by its cut name":           {"deny " + hiddenID + ";allow tool *", "/wp-json/own/v1/mcp", toolOf(cutOf(hiddenID), `{}`), 403},
	"refuse/hidden, only denials":              {"deny " + hiddenID, "/wp-json/own/v1/mcp", toolOf(cutOf(hiddenID), `{}`), 403},
	"refuse/hidden prompt, by its cut name":    {"deny " + hiddenID + ";allow tool *", "/wp-json/own/v1/mcp", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"` + cutOf(hiddenID) + `"}}`, 403},
	"refuse/hidden, by a pattern's end":        {"deny gone/*-end;allow tool *", "/wp-json/own/v1/mcp", toolOf(cutOf(hiddenID), `{}`), 403},
	"refuse/hidden, a run of dashes":           {"deny " + dashedID + ";allow tool *", "/wp-json/own/v1/mcp", toolOf("gone-a-b", `{}`), 403},
	"pass/cut from another id":                 {"deny " + hiddenID + ";allow tool *", "/wp-json/own/v1/mcp", toolOf(cutOf(hiddenID+"x"), `{}`), 0},
	"pass/cut, no beginning of the pattern":    {"deny core/*-end;allow tool *", "/wp-json/own/v1/mcp", toolOf(cutOf(hiddenID), `{}`), 0},
	"pass/cut, of a listed one":                {"deny long/*-end;allow " + longID, "/wp-json/own/v1/mcp", toolOf(cutName, `{}`), 0},
	"pass/cut, allowed before":                 {"allow " + longID + ";deny *", "/wp-json/own/v1/mcp", toolOf(cutName, `{}`), 0},
	"refuse/a name that is cut":                {"deny " + longID, "/wp-json/own/v1/mcp", toolOf(cutName, `{}`), 403},
	"refuse/execute-ability under other names": {"deny shop/update", "/wp-json/own/v1/mcp", toolOf("team/execute-ability", `{"ability_name":"shop/update"}`), 403},
}

func TestAbilities_Doors(t *testing.T) {
	for name, test := range doorRows {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
			method, headers := "POST", []string{basicAuth, jsonType}
			if test.body == "" {
				method, headers = "GET", []string{basicAuth}
			}
			r := request(t, s, shopOffers(adminBody), method, test.target, test.body, headers...)
			if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// TestAbilities_DoorTypes: a door takes one message, as JSON, by POST.
func TestAbilities_DoorTypes(t *testing.T) {
	message := executorOf("shop/update", `{"id":1}`)
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
		s := newSite(t)
		p := abilitiesPolicy(t, s, "allow shop/update")
		headers := []string{basicAuth}
		if test.contentType != "" {
			headers = append(headers, "Content-Type: "+test.contentType)
		}
		r := request(t, s, shopOffers(adminBody), test.method, adapter, test.body, headers...)
		if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
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
		"cookie alone":     {"/wp-json/wp/v2/wpmcp/streamable", []string{loginLine}, 400},
		"cookie and nonce": {"/wp-json/wp/v2/wpmcp/streamable", []string{loginLine, nonceLine}, 0},
		"no cookie":        {"/wp-json/wp/v2/wpmcp/streamable", nil, 0},
		"another server":   {adapter, []string{loginLine}, 403},
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, "allow tool *", "doors /wp/v2/wpmcp/**")
		r := request(t, s, shopOffers(adminBody), "POST", test.target, toolOf("any", `{}`), append(test.headers, jsonType)...)
		if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

// TestAbilities_NetUnread: a body that nobody can read may hold a message on any route.
func TestAbilities_NetUnread(t *testing.T) {
	padded := strings.Repeat(" ", 2<<20) + executorOf("shop/update", `{"id":1}`)
	for _, test := range []struct {
		contentType, body string
		headers           []string
		status            int
	}{
		{"application/json", padded, nil, 413},
		{"application/json", executorOf("shop/update", `{"id":1}`), []string{"Content-Encoding: gzip"}, 400},
		{"application/octet-stream", padded, nil, 0},                             // an upload
		{"multipart/form-data", executorOf("shop/update", `{"id":1}`), nil, 400}, // without a boundary
		{`multipart/form-data; boundary="x`, executorOf("shop/update", `{"id":1}`), nil, 400},
		{"text/plain", executorOf("shop/update", `{"id":1}`), nil, 400},
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, "allow shop/query")
		r := request(t, s, shopOffers(adminBody), "POST", "/wp-json/lab/v1/agent", test.body, append(test.headers, basicAuth, "Content-Type: "+test.contentType)...)
		if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
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
		"the role":                   {"allow role editor readonly shop/*", editorBody, executorOf("shop/query", `{"id":1}`), 0},
		"another role":               {"allow role shop_manager,administrator readonly shop/*", editorBody, executorOf("shop/query", `{"id":1}`), 403},
		"a capability":               {"allow capability edit_posts shop/update", editorBody, executorOf("shop/update", `{"id":1}`), 0},
		"another capability":         {"allow capability manage_options shop/update", editorBody, executorOf("shop/update", `{"id":1}`), 403},
		"a role that is not told":    {"allow role editor readonly shop/*", `{"id":1}`, executorOf("shop/query", `{"id":1}`), 503},
		"a capability, not told":     {"allow capability edit_posts shop/update", `{"id":1}`, executorOf("shop/update", `{"id":1}`), 503},
		"users, of whom it is not":   {"allow users shop/update", `{"id":1}`, toolOf("shop-update", `{}`), 0},
		"users":                      {"allow users shop/update", editorBody, toolOf("shop-update", `{}`), 0},
		"the first decides":          {"allow role administrator shop/update;allow users shop/*", editorBody, toolOf("shop-update", `{}`), 403},
		"a tool by role":             {"allow role editor tool plain_tool", editorBody, toolOf("plain_tool", `{}`), 0},
		"a tool by another role":     {"allow role administrator tool plain_tool", editorBody, toolOf("plain_tool", `{}`), 403},
		"a resource by another role": {"allow role administrator resource shop://*", editorBody, `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"shop://a"}}`, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
			r := request(t, s, shopOffers(test.me), "POST", adapter, test.body, basicAuth, jsonType)
			if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.status {
				t.Errorf("got %+v (%v), want %d", d, d.Err, test.status)
			}
		})
	}
}

// TestAbilities_DoorAnonymous: a message without credentials costs no question.
func TestAbilities_DoorAnonymous(t *testing.T) {
	backend := shopOffers(adminBody)
	for body, want := range map[string]int{
		executorOf("shop/query", `{"id":1}`):             0,
		executorOf("shop/update", `{"id":1}`):            403,
		toolOf("shop-query", `{}`):                       403,
		toolOf("plain_tool", `{}`):                       0,
		toolOf("plain_other", `{}`):                      403,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`: 0,
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`: 0,
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, "allow shop/query shop/*", "allow tool plain_tool plain_*")
		r := request(t, s, backend, "POST", adapter, body, jsonType)
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
		s := newSite(t)
		s.Tools = new(hosts.Table[*index.Index])
		learnTools(s, found, "example.com")
		learnTools(s, new(index.Root), "other.example.com")
		if _, known := s.Tools.Get("other.example.com"); !known || s.hasTools("other.example.com", "/team/v1/red/agent") {
			t.Error("a host without servers of tools is not kept, or has one")
		}
		p := abilitiesPolicy(t, s, "allow shop/query")
		r := request(t, s, shopOffers(adminBody), "POST", target, `{"jsonrpc":"2.0","id":1,"method":"own/method"}`, basicAuth, jsonType)
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
			return asktest.JSON(200, adminBody), nil
		case strings.Contains(q.Query, "page=3"):
			return asktest.JSON(200, `[{"name":"lab/last","meta":{"annotations":{"destructive":true}}}]`), nil
		}
		return asktest.JSON(200, page(len(q.Query))), nil
	}}
	s := newSite(t)
	p := abilitiesPolicy(t, s, "allow lab/* ", "allow tool *")
	r := request(t, s, backend, "POST", adapter, toolOf("lab-last", `{}`), basicAuth, jsonType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 403 || len(backend.Questions()) != 4 { // and who is calling
		t.Errorf("got %+v, %v after %d questions", v, err, len(backend.Questions()))
	}
	backend.Answer = func(ask.Question) (*ask.Answer, error) { return asktest.JSON(200, page(0)), nil }
	r = request(t, s, backend, "POST", adapter, toolOf("lab-last", `{}`), basicAuth, jsonType)
	if _, err := p.Check(t.Context(), r); err == nil {
		t.Error("a list without end decides")
	}
}

func TestAbilities_BatchParts(t *testing.T) {
	s := newSite(t)
	p := abilitiesPolicy(t, s, "allow *")
	for path, body := range map[string]string{"/mcp/mcp-adapter-default-server": `{"x":1}`, "/lab/v1/agent": executorOf("shop/update", `{}`)} {
		batch := `{"requests":[{"method":"POST","path":"` + path + `","body":` + body + `}]}`
		r := request(t, s, shopOffers(adminBody), "POST", "/wp-json/batch/v1", batch, basicAuth, jsonType)
		if d := alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != 400 {
			t.Errorf("%s: got %+v", path, d)
		}
	}
}
