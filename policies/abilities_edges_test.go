package policies

import (
	"crypto/md5" //nolint:gosec // see cutName
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/mcp"
)

// TestAbilities_ConfirmsAllArguments: what a person confirms of another server's tool is all
// that the tool gets.
func TestAbilities_ConfirmsAllArguments(t *testing.T) {
	s, p := confirming(t, line("allow tool lab-execute-ability"), line("allow shop/*"), line("confirm lab-execute-ability"))
	sent(t, s, p, executeAbility("lab-execute-ability", "shop/query", `{"id":1}`))
	all, err := s.Confirmations.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if _, err := s.Confirmations.Decide(t.Context(), all[0].ID, true); err != nil {
		t.Fatal(err)
	}
	if d := sent(t, s, p, executeAbility("lab-execute-ability", "shop/update", `{"id":1}`)); d.Verdict.Status != 403 {
		t.Errorf("another ability passes: %+v", d)
	}
}

// TestAbilities_ConfirmsExecutor: the adapter's own tool can be named, too.
func TestAbilities_ConfirmsExecutor(t *testing.T) {
	s, p := confirming(t, line("allow shop/*"), line("confirm mcp-adapter-execute-ability"))
	if d := sent(t, s, p, executeAbility("mcp-adapter-execute-ability", "shop/update", `{"id":1}`)); d.Verdict.Code != CodeConfirm {
		t.Errorf("got %+v", d)
	}
}

// TestAbilities_NeverAsksForARun: no id makes the gateway's own question a run.
func TestAbilities_NeverAsksForARun(t *testing.T) {
	for _, rules := range []string{"deny shop/query", "allow readonly *", "deny shop/query;allow shop/*"} {
		s := newSite(t)
		p, b := abilitiesPolicy(t, s, strings.Split(rules, ";")...), shopOffers(adminBody)
		_, _ = p.Check(t.Context(), request(t, s, b, "GET", "/wp-json/wp-abilities/v1/abilities/shop/query/run/run", "", basicAuth))
		if q := b.Questions(); slices.ContainsFunc(q, func(q ask.Question) bool { return strings.HasSuffix(q.Route, "/run") }) {
			t.Errorf("%s: asks %+v", rules, q)
		}
	}
}

// TestAbilities_AnonymousResource: whoever the platform does not know needs a rule that names
// the resource, since the platform tells them nothing of its ability.
func TestAbilities_AnonymousResource(t *testing.T) {
	for _, test := range []struct {
		rules, uri string
		status     int
	}{
		{"deny shop/doc;allow resource *", "shop://doc", 403},
		{"allow resource shop://*", "shop://burn", 403},
		{"allow resource shop://doc", "shop://doc", 0},
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		r := request(t, s, shopOffers(adminBody), "POST", adapter, readOf(test.uri), jsonType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != test.status {
			t.Errorf("%+v: %+v, %v", test, v, err)
		}
	}
}

// TestAbilities_TrimmedURI: servers trim the address of a resource.
func TestAbilities_TrimmedURI(t *testing.T) {
	s := newSite(t)
	p := abilitiesPolicy(t, s, "deny shop/doc", "allow resource *")
	list := asktest.JSON(200, `[{"name":"shop/doc","meta":{"mcp":{"uri":" shop://doc"}}}]`)
	r := request(t, s, abilitiesOf(map[string]*ask.Answer{"GET /wp-abilities/v1/abilities": list}), "POST", adapter, readOf("shop://doc"), basicAuth, jsonType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 403 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestAbilities_NoRulesNoLists: without a rule no list is changed, whoever has read the message.
func TestAbilities_NoRulesNoLists(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(Abilities))
	r := request(t, s, nil, "POST", adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/list"}`, basicAuth, jsonType)
	MessageIn(r)
	if p.Rewrites(r) != RewriteNothing {
		t.Error("the list is rewritten")
	}
}

// TestAbilities_OffersWithoutNames: an item that says not what it is may be any.
func TestAbilities_OffersWithoutNames(t *testing.T) {
	for method, result := range map[string]string{
		"tools/list":     `{"tools":[{"description":"secret"},{"uri":"shop://a","description":"secret"}]}`,
		"resources/list": `{"resources":[{"description":"secret"},{"name":"shop-query","description":"secret"}]}`,
	} {
		s := newSite(t)
		p := abilitiesPolicy(t, s, "deny shop/*")
		r := request(t, s, shopOffers(adminBody), "POST", adapter+"?_fields=result", `{"jsonrpc":"2.0","method":"`+method+`"}`, basicAuth, jsonType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || p.Rewrites(r) != RewriteBody {
			t.Fatalf("%s: %+v, %v", method, v, err)
		}
		a := asktest.JSON(200, `{"jsonrpc":"2.0","id":7,"result":`+result+`}`)
		if err := p.Rewrite(r, a); err != nil || strings.Contains(string(a.Body), "secret") {
			t.Errorf("%s: %s, %v", method, a.Body, err)
		}
		if err := p.Rewrite(r, &ask.Answer{Status: 200}); err != nil {
			t.Errorf("%s: the empty answer to a message without id: %v", method, err)
		}
	}
}

// TestOffers_Collapsed: adapters keep one dash of several before they cut a name.
func TestOffers_Collapsed(t *testing.T) {
	id := "long/a--" + strings.Repeat("x", 130)
	name := strings.ReplaceAll(mcp.Dashed(id), "--", "-")[:115] + fmt.Sprintf("-%.6x", md5.Sum([]byte(id))) //nolint:gosec // the adapter's own choice
	if !mcp.Offers(id, name) || !mcp.Offers("lab/a--b-", "lab-a-b") || mcp.Offers("lab/a-b", "lab-a-c") {
		t.Error(name)
	}
}

// TestAbilities_PatternsOnce: an expression is compiled once, not for each item of a list.
func TestAbilities_PatternsOnce(t *testing.T) {
	if one := compiled("^[a-z]{1,20}$"); one == nil || one != compiled("^[a-z]{1,20}$") {
		t.Error("compiled again")
	}
	if compiled("(?=x)") != nil {
		t.Error("a lookahead compiles")
	}
}

// BenchmarkAbilities_Patterns checks a list of a thousand texts against a pattern.
func BenchmarkAbilities_Patterns(b *testing.B) {
	list := make([]any, 1000)
	for i := range list {
		list[i] = "a-b"
	}
	about := &ability{Name: "x/y", InputSchema: []byte(`{"type":"array","items":{"type":"string","pattern":"^[a-z0-9]{1,20}(-[a-z]{1,20}){0,10}$"}}`)}
	schemas := newSchemaCache()
	b.ReportAllocs()
	for b.Loop() {
		if wrong, err := schemas.violation(about, list); wrong != "" || err != nil {
			b.Fatal(wrong, err)
		}
	}
}
