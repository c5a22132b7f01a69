package abilities

import (
	"crypto/md5" //nolint:gosec // see TestOffers_Collapsed
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAbilities_ConfirmsAllArguments: what a person confirms of another server's tool is all
// that the tool gets.
func TestAbilities_ConfirmsAllArguments(t *testing.T) {
	s, p := confirming(t, policytest.Line("allow tool lab-execute-ability"), policytest.Line("allow shop/*"), policytest.Line("confirm lab-execute-ability"))
	sent(t, s, p, executeAbility("lab-execute-ability", "shop/query", `{"id":1}`))
	all, err := waiting.Of(s).Ledger.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if _, err := waiting.Of(s).Ledger.Decide(t.Context(), all[0].ID, true); err != nil {
		t.Fatal(err)
	}
	if d := sent(t, s, p, executeAbility("lab-execute-ability", "shop/update", `{"id":1}`)); d.Verdict.Status != 403 {
		t.Errorf("another ability passes: %+v", d)
	}
}

// TestAbilities_ConfirmsExecutor: the adapter's own tool can be named, too.
func TestAbilities_ConfirmsExecutor(t *testing.T) {
	s, p := confirming(t, policytest.Line("allow shop/*"), policytest.Line("confirm mcp-adapter-execute-ability"))
	if d := sent(t, s, p, executeAbility("mcp-adapter-execute-ability", "shop/update", `{"id":1}`)); d.Verdict.Code != policy.CodeConfirm {
		t.Errorf("got %+v", d)
	}
}

// TestAbilities_NeverAsksForARun: no id makes the gateway's own question a run.
func TestAbilities_NeverAsksForARun(t *testing.T) {
	for _, rules := range []string{"deny shop/query", "allow readonly *", "deny shop/query;allow shop/*"} {
		s := policytest.NewSite(t)
		p, b := abilitiesPolicy(t, s, strings.Split(rules, ";")...), policytest.ShopOffers(policytest.AdminBody)
		_, _ = p.Check(t.Context(), policytest.Request(t, s, b, "GET", "/wp-json/wp-abilities/v1/abilities/shop/query/run/run", "", policytest.BasicAuth))
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
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, strings.Split(test.rules, ";")...)
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", policytest.Adapter, policytest.ReadOf(test.uri), policytest.JSONType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Status != test.status {
			t.Errorf("%+v: %+v, %v", test, v, err)
		}
	}
}

// TestAbilities_TrimmedURI: servers trim the address of a resource.
func TestAbilities_TrimmedURI(t *testing.T) {
	s := policytest.NewSite(t)
	p := abilitiesPolicy(t, s, "deny shop/doc", "allow resource *")
	list := asktest.JSON(200, `[{"name":"shop/doc","meta":{"mcp":{"uri":" shop://doc"}}}]`)
	r := policytest.Request(t, s, policytest.Abilities(map[string]*ask.Answer{"GET /wp-abilities/v1/abilities": list}), "POST", policytest.Adapter, policytest.ReadOf("shop://doc"), policytest.BasicAuth, policytest.JSONType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Status != 403 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestAbilities_NoRulesNoLists: without a rule no list is changed, whoever has read the message.
func TestAbilities_NoRulesNoLists(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(Abilities))
	r := policytest.Request(t, s, nil, "POST", policytest.Adapter, `{"jsonrpc":"2.0","id":7,"method":"resources/list"}`, policytest.BasicAuth, policytest.JSONType)
	message.In(r)
	if p.Rewrites(r) != policy.RewriteNothing {
		t.Error("the list is rewritten")
	}
}

// TestAbilities_OffersWithoutNames: an item that says not what it is may be any.
func TestAbilities_OffersWithoutNames(t *testing.T) {
	for method, result := range map[string]string{
		"tools/list":     `{"tools":[{"description":"secret"},{"uri":"shop://a","description":"secret"}]}`,
		"resources/list": `{"resources":[{"description":"secret"},{"name":"shop-query","description":"secret"}]}`,
	} {
		s := policytest.NewSite(t)
		p := abilitiesPolicy(t, s, "deny shop/*")
		r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", policytest.Adapter+"?_fields=result", `{"jsonrpc":"2.0","method":"`+method+`"}`, policytest.BasicAuth, policytest.JSONType)
		if v, err := p.Check(t.Context(), r); err != nil || v.Refused() || p.Rewrites(r) != policy.RewriteBody {
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
