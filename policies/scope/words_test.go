package scope_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/scope"
)

// TestScope_Words: a word of a line stands where the platform has a named group, which a body or a query replaces: the call
// would be about another plugin, group of settings or user.
func TestScope_Words(t *testing.T) {
	t.Parallel()
	json := []string{basic(key), policytest.JSONType}
	allow := func(text string) policy.Option { return line("scope erp", "key a1b2c3d", "allow "+text) }
	for name, tt := range map[string]struct {
		scope                policy.Option
		method, target, body string
		status               int
	}{
		"another plugin":             {allow("/wp/v2/plugins/hello"), "PUT", "/wp/v2/plugins/hello", `{"plugin":"other"}`, 400},
		"the same plugin":            {allow("/wp/v2/plugins/hello"), "PUT", "/wp/v2/plugins/hello", `{"plugin":"Hello","status":"active"}`, 0},
		"alike in Unicode alone":     {allow("/wp/v2/plugins/akismet"), "PUT", "/wp/v2/plugins/akismet", `{"plugin":"a\u212aismet"}`, 400}, // the Kelvin sign
		"a list in its place":        {allow("/wp/v2/plugins/hello"), "PUT", "/wp/v2/plugins/hello", `{"plugin":["hello"]}`, 400},
		"in the query":               {allow("/wp/v2/plugins/hello"), "GET", "/wp/v2/plugins/hello?plugin=other", "", 400},
		"a plugin in a folder":       {allow("/wp/v2/plugins/a/b"), "PUT", "/wp/v2/plugins/a/b", `{"plugin":"a"}`, 400},
		"a folder's own":             {allow("/wp/v2/plugins/a/b"), "PUT", "/wp/v2/plugins/a/b", `{"plugin":"a/b"}`, 0},
		"no line spells it":          {allow("/wp/v2/plugins/**"), "PUT", "/wp/v2/plugins/hello", `{"plugin":"other"}`, 0},
		"into what a line spells":    {line("scope erp", "key a1b2c3d", "allow /wp/v2/plugins/**", "hide /wp/v2/plugins/hello name"), "PUT", "/wp/v2/plugins/other", `{"plugin":"hello"}`, 400},
		"the passwords of another":   {allow("/wp/v2/users/me/application-passwords"), "POST", "/wp/v2/users/me/application-passwords?user_id=3", `{"name":"x"}`, 400},
		"another group of settings":  {allow("/wc/v3/settings/tax/*"), "PUT", "/wc/v3/settings/tax/x", `{"group_id":"general"}`, 400},
		"another id of the group":    {allow("/wc/v3/settings/tax/*"), "PUT", "/wc/v3/settings/tax/x", `{"id":"y"}`, 400},
		"a value of the group":       {allow("/wc/v3/settings/tax/*"), "PUT", "/wc/v3/settings/tax/x", `{"value":"y"}`, 0},
		"a part of a batch":          {allow("/wc/v3/settings/tax/batch"), "POST", "/wc/v3/settings/tax/batch", `{"update":[{"id":"x","group_id":"general"}]}`, 400},
		"a route of a plugin":        {allow("/acme/v1/callback/stripe"), "POST", "/acme/v1/callback/stripe", `{"gateway":"other"}`, 400},
		"the plugin's own":           {allow("/acme/v1/callback/stripe"), "POST", "/acme/v1/callback/stripe", `{"gateway":"stripe"}`, 0},
		"a group that no line tells": {allow("/acme/v1/callback/*"), "POST", "/acme/v1/callback/stripe", `{"gateway":"other"}`, 0},
		"a short namespace":          {allow("/acme/ping"), "POST", "/acme/ping", `{"verb":"purge"}`, 400},
		"its own":                    {allow("/acme/ping"), "POST", "/acme/ping", `{"verb":"ping"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewSite(t)
			discover.Of(s).PutIndex("example.com", index.New([]string{`/acme/v1/callback/(?P<gateway>\w+)`, `/acme/(?P<verb>\w+)`}, []string{"acme/v1", "acme"}))
			c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, tt.scope)
			r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, tt.method, "/wp-json"+tt.target, tt.body, json...)
			if d := c.Judge(t.Context(), r); status(d) != tt.status {
				t.Errorf("%+v, %v", d.Verdict, d.Err)
			}
		})
	}
}

// TestScope_WordsOfHosts: a host that nothing is known of may be another spelling of one that is. One that is known has
// its own routes.
func TestScope_WordsOfHosts(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	discover.Of(s).PutIndex("shop.example.com", index.New([]string{`/acme/v1/callback/(?P<gateway>\w+)`}, []string{"acme/v1"}))
	discover.Of(s).PutIndex("hidden.example.com", nil)
	c := policytest.Guarded(t, s, []policy.Entry{scope.Entry}, line("scope erp", "key a1b2c3d", "allow /acme/v1/callback/stripe"))
	for host, want := range map[string]int{
		"shop.example.com": 400, "SHOP.example.com": 400, "shop.example.com.": 400, "shop.example.com:443": 400, "hidden.example.com": 400,
		"example.com": 0, // a shop without this plugin
	} {
		r := policytest.Request(t, s, &asktest.Platform{Answer: platform}, "POST", "/wp-json/acme/v1/callback/stripe", `{"gateway":"other"}`, basic(key), policytest.JSONType)
		r.HTTP.Host = host
		if d := c.Judge(t.Context(), r); status(d) != want {
			t.Errorf("%s: %d, want %d: %+v, %v", host, status(d), want, d.Verdict, d.Err)
		}
	}
}

// TestScope_WordsElsewhere: a word in a line is what the platform does: it would take the parameter from elsewhere in the request.
func TestScope_WordsElsewhere(t *testing.T) {
	t.Parallel()
	const (
		own  = "/wp-json/wp/v2/users/me/application-passwords"
		one  = "/wp-json/wp/v2/plugins/hello"
		run  = "/wp-json/wp-abilities/v1/abilities/shop/stock-get/run"
		form = "Content-Type: application/x-www-form-urlencoded"
	)
	for name, tt := range map[string]struct {
		judged
		status int
	}{
		"one's own":            {judged{"POST", own, `{"name":"x"}`, []string{policytest.JSONType}}, 0},
		"another user's":       {judged{"POST", own + "?user_id=3", `{"name":"x"}`, []string{policytest.JSONType}}, 400},
		"in JSON":              {judged{"POST", own, `{"name":"x","user_id":3}`, []string{policytest.JSONType}}, 400},
		"in a form":            {judged{"POST", own, "name=x&user.id=3", []string{form}}, 400},
		"read":                 {judged{"GET", own + "?user_id=3", "", nil}, 400},
		"as a list":            {judged{"GET", own + "?user_id[]=3", "", nil}, 400},
		"oneself, spelled out": {judged{"GET", own + "?user_id=ME", "", nil}, 0},
		"a plugin":             {judged{"PUT", one, `{"status":"active"}`, []string{policytest.JSONType}}, 0},
		"another plugin":       {judged{"PUT", one, `{"status":"active","plugin":"other/other"}`, []string{policytest.JSONType}}, 400},
		"the same plugin":      {judged{"PUT", one, `{"status":"active","plugin":"hello"}`, []string{policytest.JSONType}}, 0},
		"an ability":           {judged{"POST", run, `{"input":{"name":"x"}}`, []string{policytest.JSONType}}, 0},
		"another ability":      {judged{"POST", run, `{"name":"shop/delete"}`, []string{policytest.JSONType}}, 400},
		"what is hidden":       {judged{"GET", "/wp-json/wp/v2/statuses/publish?status=draft", "", nil}, 400},
		"a group of settings":  {judged{"POST", "/wp-json/wc/v3/settings/tax/batch", `{"update":[{"id":"x","value":"y"}]}`, []string{policytest.JSONType}}, 0},
		"another group":        {judged{"POST", "/wp-json/wc/v3/settings/tax/batch", `{"update":[{"id":"x","group_id":"general"}]}`, []string{policytest.JSONType}}, 400},
		"a tool":               {judged{"POST", "/wp-json/wp/v2/wpmcp", policytest.ToolCall("run_api_function", `{"route":"/wp/v2/plugins/hello","method":"PUT","data":{"status":"active"}}`), []string{policytest.JSONType}}, 0},
		"a tool for another":   {judged{"POST", "/wp-json/wp/v2/wpmcp", policytest.ToolCall("run_api_function", `{"route":"/wp/v2/plugins/hello","method":"PUT","data":{"plugin":"x"}}`), []string{policytest.JSONType}}, 403},
	} {
		tt.headers = append(tt.headers, basic("maria"))
		d := judge(t, tt.judged, nil, line("scope x", "password "+uuid, "allow /wp/v2/users/me/application-passwords", "allow PUT /wp/v2/plugins/hello",
			"allow /wp-abilities/v1/abilities/shop/stock-get/run", "allow GET /wp/v2/statuses/**", "hide /wp/v2/statuses/draft name",
			"allow POST,PUT /wc/v3/settings/tax/batch /wc/v3/settings/tax/*", "allow POST /wp/v2/wpmcp"))
		if status(d) != tt.status {
			t.Errorf("%s: %d, want %d: %+v", name, status(d), tt.status, d.Verdict)
		}
	}
}
