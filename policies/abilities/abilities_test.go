package abilities

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestAbilities_Runs(t *testing.T) {
	run := func(name string) string { return "/wp-json/wp-abilities/v1/abilities/" + name + "/run" }
	all := []policy.Option{policytest.Line("abilities", policytest.Line("allow shop/*"), policytest.Line("deny core/*"))}
	for name, test := range map[string]struct {
		options              []policy.Option
		method, target, body string
		status               int
		undecided            bool
	}{
		"pass/readonly":                      {all, "GET", run("shop/query"), "", 0, false},
		"pass/readonly, HEAD":                {all, "HEAD", run("shop/query"), "", 0, false},
		"pass/readonly with input":           {all, "GET", run("shop/query") + "?input[id]=7&input[status]=a", "", 0, false},
		"pass/write":                         {all, "POST", run("shop/update"), `{"input":{"id":7}}`, 0, false},
		"pass/another route":                 {all, "GET", "/wp-json/wp-abilities/v1/abilities/shop/query", "", 0, false},
		"pass/unknown, platform's own 404":   {all, "POST", run("shop/nope"), `{}`, 0, false},
		"pass/destructive, named":            {[]policy.Option{policytest.Line("abilities", policytest.Line("allow shop/* shop/delete"), policytest.Line("allow shop/delete"))}, "DELETE", run("shop/delete"), "", 403, false},
		"pass/destructive, named first":      {[]policy.Option{policytest.Line("abilities", policytest.Line("allow shop/delete shop/*"))}, "DELETE", run("shop/delete"), "", 0, false},
		"refuse/destructive by wildcard":     {all, "DELETE", run("shop/delete"), "", 403, false},
		"refuse/denied, more segments":       {[]policy.Option{policytest.Line("abilities", policytest.Line("deny shop/*"))}, "POST", run("shop/orders/update"), `{}`, 403, false},
		"refuse/denied":                      {all, "POST", run("core/get-user-info"), `{}`, 403, false},
		"refuse/not named":                   {all, "POST", run("mail/send"), `{}`, 403, false},
		"pass/only denials, others open":     {[]policy.Option{policytest.Line("abilities", policytest.Line("deny core/*"))}, "POST", run("shop/update"), `{"input":{"id":1}}`, 0, false},
		"refuse/only denials":                {[]policy.Option{policytest.Line("abilities", policytest.Line("deny core/*"))}, "GET", run("core/x"), "", 403, false},
		"refuse/wrong method":                {all, "GET", run("shop/update"), "", 400, false},
		"refuse/wrong method by override":    {all, "POST", run("shop/update") + "?_method=GET", "", 400, false},
		"refuse/input of the wrong type":     {all, "POST", run("shop/update"), `{"input":{"id":"x"}}`, 400, false},
		"refuse/input against enum":          {all, "POST", run("shop/update"), `{"input":{"id":1,"status":"c"}}`, 400, false},
		"refuse/input lacks a required one":  {all, "POST", run("shop/update"), `{"input":{"status":"a"}}`, 400, false},
		"refuse/a number out of range":       {all, "POST", run("shop/update"), `{"input":{"id":1e999999}}`, 400, false},
		"refuse/a number that is too small":  {all, "POST", run("shop/update"), `{"input":{"id":1,"x":[1e-999999]}}`, 400, false},
		"pass/a long number as text":         {all, "GET", run("shop/query") + "?input[id]=" + strings.Repeat("1", 40), "", 0, false},
		"refuse/additional input":            {all, "POST", run("shop/update"), `{"input":{"id":1,"x":1}}`, 400, false},
		"refuse/input in the query":          {all, "GET", run("shop/query") + "?input[id]=0", "", 400, false},
		"refuse/name in the query":           {all, "POST", run("shop/update") + "?name=shop/delete", `{}`, 400, false},
		"refuse/name in the query, folded":   {all, "POST", run("shop/update") + "?+name=shop/update", `{}`, 400, false},
		"refuse/name in JSON":                {all, "POST", run("shop/update"), `{"name":"shop/delete"}`, 400, false},
		"refuse/other letters in the route":  {all, "POST", "/wp-json/WP-Abilities/v1/Abilities/core/x/RUN", `{}`, 403, false},
		"refuse/id in other case is another": {[]policy.Option{policytest.Line("abilities", policytest.Line("allow shop/update"))}, "POST", run("shop/Update"), `{}`, 403, false},
		"pass/a type the platform lacks":     {all, "POST", run("shop/odd"), `{"input":{}}`, 0, false},
		"pass/a reference is ignored":        {all, "POST", run("shop/ref"), `{"input":{}}`, 0, false},
		"undecided/answer about another one": {all, "POST", run("shop/other"), `{"input":{}}`, 0, true},
		"pass/odd schema without input":      {all, "POST", run("shop/odd"), "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := new(Abilities)
			policytest.Configure(t, p, test.options...)
			policytest.Provision(t, s, p)
			headers := []string{policytest.BasicAuth}
			if test.body != "" {
				headers = append(headers, policytest.JSONType)
			}
			r := policytest.Request(t, s, policytest.Abilities(nil), test.method, test.target, test.body, headers...)
			d := policytest.Alone("abilities", p).Judge(t.Context(), r)
			want := test.status
			if test.undecided {
				want = 503
			}
			if d.Verdict.Status != want {
				t.Errorf("got %+v (%v), want %d", d, d.Err, want)
			}
		})
	}
}

func TestAbilities_PlatformsWords(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(Abilities))
	answers := map[string]*ask.Answer{"GET /wp-abilities/v1/abilities/shop/update": asktest.JSON(401, `{"code":"rest_forbidden"}`)}
	r := policytest.Request(t, s, policytest.Abilities(answers), "POST", "/wp-json/wp-abilities/v1/abilities/shop/update/run", "", policytest.BasicAuth)
	if v, err := p.Check(t.Context(), r); err != nil || v.Answer == nil {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestAbilities_AnonymousCostsNoQuestion(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("allow shop/search other/*")))
	policytest.Provision(t, s, p)
	backend := policytest.Abilities(nil)
	for id, want := range map[string]int{"shop/search": 0, "other/a": 403, "third/a": 403} {
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wp-abilities/v1/abilities/"+id+"/run", "")
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != want {
			t.Errorf("%s: got %+v, %v, want %d", id, v, err, want)
		}
	}
	if q := backend.Questions(); len(q) > 0 {
		t.Errorf("asked %+v", q)
	}
}

// TestAbilities_ListOfFields: a list without annotations does not show what may be
// destructive, and one without names shows nothing.
func TestAbilities_ListOfFields(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("deny core/*"), policytest.Line("allow shop/erase shop/*")))
	policytest.Provision(t, s, p)
	for fields, want := range map[string]string{
		"name":      `[{"name":"shop/erase"}]`,
		"label":     `[]`,
		"name,meta": `[{"name":"shop/a","meta":{"annotations":{"destructive":null}}}]`,
	} {
		r := policytest.Request(t, s, nil, "GET", "/wp-json/wp-abilities/v1/abilities?_fields="+fields, "", policytest.BasicAuth)
		list := map[string]string{
			"name": `[{"name":"shop/a"},{"name":"shop/erase"},{"name":"core/b"}]`, "label": `[{"label":"A"},{"label":"B"}]`,
			"name,meta": `[{"name":"shop/a","meta":{"annotations":{"destructive":null}}},{"name":"shop/b","meta":[]},{"name":"shop/c","meta":{"annotations":{"readonly":false}}}]`,
		}[fields]
		a := asktest.JSON(200, list)
		if err := p.Rewrite(r, a); err != nil || string(a.Body) != want {
			t.Errorf("%s: %s, %v", fields, a.Body, err)
		}
	}
}

func TestAbilities_ListIsFiltered(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("allow shop/erase shop/*")))
	policytest.Provision(t, s, p)
	r := policytest.Request(t, s, nil, "GET", "/wp-json/wp-abilities/v1/abilities", "", policytest.BasicAuth)
	overridden := policytest.Request(t, s, nil, "GET", "/wp-json/wp-abilities/v1/abilities?_method=DELETE", "", policytest.BasicAuth) // a server may lose the query
	if p.Rewrites(r) != policy.RewriteBody || p.Rewrites(overridden) != policy.RewriteBody {
		t.Fatal("the list is not rewritten")
	}
	a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"core/x"},{"name":"shop/delete","meta":{"annotations":{"destructive":true}}},{"name":"shop/erase","meta":{"annotations":{"destructive":true}}}]`)
	if err := p.Rewrite(r, a); err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(a.Body, &list); err != nil || len(list) != 2 || list[0].Name != "shop/query" || list[1].Name != "shop/erase" {
		t.Errorf("got %s, %v", a.Body, err)
	}
	for pages, want := range map[string]string{"1": "1", "2": ""} {
		a := asktest.JSON(200, `[{"name":"shop/query"},{"name":"core/x"}]`)
		a.Header.Set("X-WP-Total", "2")
		a.Header.Set("X-WP-TotalPages", pages)
		if err := p.Rewrite(r, a); err != nil || a.Header.Get("X-WP-Total") != want {
			t.Errorf("of %s pages: total %q, %v", pages, a.Header.Get("X-WP-Total"), err)
		}
	}
	head := &ask.Answer{Status: 200, Header: http.Header{"X-Wp-Total": {"2"}, "X-Wp-Totalpages": {"1"}}}
	if h := policytest.Request(t, s, nil, "HEAD", "/wp-json/wp-abilities/v1/abilities", "", policytest.BasicAuth); p.Rewrites(h) != policy.RewriteBody || p.Rewrite(h, head) != nil || len(head.Header) > 0 {
		t.Errorf("the head alone: %v", head.Header)
	}
	if err := p.Rewrite(r, asktest.JSON(200, `{"not":"a list"}`)); err == nil {
		t.Error("an answer that is no list is sent on")
	}
}

func TestAbilities_BadConfiguration(t *testing.T) {
	for _, o := range []policy.Option{
		policytest.Line("abilities on"), policytest.Line("abilities", policytest.Line("allow")), policytest.Line("abilities", policytest.Line("allow a[b")), policytest.Line("abilities", policytest.Line("permit x")),
		policytest.Line("abilities", policytest.Line("deny a.b")),
	} {
		if err := new(Abilities).Configure(o); err == nil || !strings.Contains(err.Error(), "Caddyfile:7") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzCoerce(f *testing.F) {
	for _, seed := range []string{"7", "true", "1e5", "0x1", "", "NaN", "Infinity", "-0", "1.50"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := json.Marshal(coerce(text, spelled)); err != nil {
			t.Errorf("%q cannot be JSON: %v", text, err)
		}
	})
}

// BenchmarkAbilities_Schema is a run whose schema is compiled: the cost of the policy
// beside the question.
func BenchmarkAbilities_Schema(b *testing.B) {
	s := policytest.NewSite(b)
	p := policytest.Provision(b, s, new(Abilities))
	r := policytest.Request(b, s, policytest.Abilities(nil), "POST", "/wp-json/wp-abilities/v1/abilities/shop/update/run", `{"input":{"id":7,"status":"a"}}`, policytest.JSONType, policytest.BasicAuth)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
}

// TestAbilities_Described: over REST nobody reads what an ability is that they may not run.
func TestAbilities_Described(t *testing.T) {
	const of = "/wp-json/wp-abilities/v1/abilities/"
	for _, test := range []struct {
		rules, method, target string
		anonymous             bool
		want                  int
	}{
		{"deny shop/update", "GET", of + "shop/update", false, 403},
		{"deny shop/update", "HEAD", of + "shop/update", false, 403},
		{"deny shop/update", "GET", of + "shop/update/", false, 403},
		{"deny shop/update", "GET", "/?rest_route=/wp-abilities/v1/abilities/shop/update", false, 403},
		{"deny shop/update", "GET", of + "shop/up%64ate", false, 0}, // no id, so that the platform has no such route
		{"deny shop/update", "GET", of + "shop/query?name=shop/update", false, 400},
		{"deny shop/update", "GET", of + "shop/update?x=/woocommerce/mcp", false, 400},
		{"deny shop/gone", "GET", of + "shop/gone", false, 403},
		{"allow readonly shop/*", "GET", of + "shop/update", false, 403},
		{"allow readonly shop/*", "GET", of + "shop/query", false, 0},
		{"allow role administrator shop/*", "GET", of + "shop/query", false, 403},
		{"allow shop/*", "GET", of + "shop/delete", false, 403},
		{"deny shop/delete", "GET", of + "shop/update", false, 0},
		{"deny shop/update", "OPTIONS", of + "shop/update", false, 0},
		{"deny shop/update", "GET", "/wp-json/wp-abilities/v1/categories/shop", false, 0},
		{"deny shop/update", "GET", of + "shop/query", true, 403},
		{"", "GET", of + "shop/update", false, 0},
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s)
		if test.rules != "" {
			p = abilitiesPolicy(t, s, test.rules)
		}
		headers := []string{policytest.BasicAuth}
		if test.anonymous {
			headers = nil
		}
		backend := policytest.ShopOffers(editorBody)
		r := policytest.Request(t, s, backend, test.method, test.target, "", headers...)
		d := policytest.Alone("abilities", p).Judge(t.Context(), r)
		if d.Verdict.Status != test.want || test.anonymous && len(backend.Questions()) > 0 {
			t.Errorf("%s, %s %s: %+v, %v", test.rules, test.method, test.target, d.Verdict, d.Err)
		}
	}
}
