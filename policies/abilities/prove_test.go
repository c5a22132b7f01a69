package abilities

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

const runPrefix = "/wp-abilities/v1/abilities/"

var (
	subscriber = caller.Caller{Kind: caller.User, Roles: []string{"subscriber"}, Capabilities: map[string]bool{"read": true}}
	editor     = caller.Caller{Kind: caller.User, Roles: []string{"editor"}}
)

// drawAbilities draws rules of every kind that may decide on a run over REST, and one that
// may not.
func drawAbilities(t *rapid.T) *Abilities {
	p := new(Abilities)
	for range rapid.IntRange(0, 4).Draw(t, "rules") {
		r := Rule{
			Pattern: rapid.SampledFrom([]string{"*", "shop/*", "shop/a", "shop/b", "core/*"}).Draw(t, "pattern"),
			Deny:    rapid.Bool().Draw(t, "deny"),
		}
		if r.Kind = rapid.SampledFrom([]Kind{KindAbility, KindAbility, KindReadonly, KindTool}).Draw(t, "kind"); r.Kind == KindReadonly {
			r.Deny = false
		}
		if r.Kind == KindTool {
			r.Pattern = mcp.Dashed(r.Pattern) // the name of a tool has no slash
		}
		if !r.Deny {
			r.Allow = rapid.SampledFrom([]string{"", "", "role editor", "users", "anyone"}).Draw(t, "who")
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

// liveRun tells whether the policy lets a run pass: of an ability about which the platform
// says about, nil for one that it does not list.
func liveRun(t *testing.T, s *policy.Site, p *Abilities, method, id string, about *ability, who caller.Caller) bool {
	t.Helper()
	answers := map[string]*ask.Answer{}
	if about != nil {
		note := about.Meta.Annotations
		answers["GET "+runPrefix+id] = asktest.JSON(200, fmt.Sprintf(`{"name":%q,"meta":{"annotations":{"readonly":%t,"destructive":%t,"idempotent":%t}}}`, id, note.Readonly, about.destructive(), note.Idempotent))
	}
	var headers []string
	if who.Kind != caller.Anonymous {
		headers = []string{fmt.Sprintf("Authorization: Basic dXNlcjox%d%dMjM=", len(who.Roles[0])%10, len(who.Capabilities))}
		answers["GET /wp/v2/users/me"] = asktest.JSON(200, fmt.Sprintf(`{"id":7,"roles":[%q],"capabilities":{"read":true}}`, who.Roles[0]))
	}
	r := policytest.Request(t, s, asktest.Routed(answers), method, "/wp-json"+runPrefix+id+"/run", "", headers...)
	d := policytest.Alone("abilities", p).Judge(t.Context(), r)
	if d.Err != nil {
		t.Fatalf("%s %s: %v", method, id, d.Err)
	}
	return d.Outcome == policy.Pass
}

// TestProve_AbilitiesAsTriedOut compares proofs with what the policy decides on every run of a
// few abilities, whatever the platform says of them.
func TestProve_AbilitiesAsTriedOut(t *testing.T) {
	s := policytest.NewSite(t)
	held := map[bool]int{}
	rapid.Check(t, func(rt *rapid.T) {
		p := drawAbilities(rt)
		chain, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, access.Entry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{
			"access": {Entry: access.Entry, Policy: new(access.Access)}, "abilities": {Entry: Entry, Policy: p},
		})
		if err != nil {
			rt.Fatal(err)
		}
		q := review.Claim{Never: rapid.Bool().Draw(rt, "never"), Methods: policytest.DrawMethods(rt), Caller: rapid.SampledFrom([]caller.Caller{{}, subscriber, editor}).Draw(rt, "caller")}
		route := rapid.SampledFrom([]string{"shop/a", "shop/b", "core/x", "shop/*", "*/*"}).Draw(rt, "route")
		q.Routes = []string{runPrefix + route + "/run"}
		proof, err := review.Prove(chain, q)
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range proof.Counter {
			id := strings.TrimSuffix(strings.TrimPrefix(e.Route, runPrefix), "/run")
			if liveRun(t, s, p, e.Method, id, nil, q.Caller) != q.Never {
				rt.Fatalf("%+v breaks nothing", e)
			}
		}
		broken := brokenRun(t, s, p, &q)
		if proof.Holds && broken != "" || !strings.Contains(route, "*") && !proof.Holds && broken == "" {
			rt.Fatalf("%+v, and %q breaks it", proof, broken)
		}
		held[proof.Holds]++
	})
	if !t.Failed() && (held[true] < 5 || held[false] < 5) {
		t.Errorf("the drawn claims are of one kind: %v", held)
	}
}

// brokenRun returns a run that breaks a claim, or "".
func brokenRun(t *testing.T, s *policy.Site, p *Abilities, q *review.Claim) string {
	t.Helper()
	target, _ := policy.NewTarget(q.Methods, q.Routes)
	for _, id := range []string{"shop/a", "shop/b", "shop/z", "core/x", "zz/y"} {
		for _, method := range policy.MethodsApart {
			if target.Route(review.CallOf(method, runPrefix+id+"/run")) == nil {
				continue
			}
			for _, about := range abilitiesFor(method, q.Caller) {
				if liveRun(t, s, p, method, id, about, q.Caller) == q.Never {
					return fmt.Sprintf("%s %s, %+v", method, id, about)
				}
			}
		}
	}
	return ""
}

// TestProve_AbilitiesKinds: what rules mean for claims of owners.
func TestProve_AbilitiesKinds(t *testing.T) {
	one := func(route string) string { return runPrefix + route + "/run" }
	for name, test := range map[string]struct {
		lines  []string
		never  bool
		method string
		route  string
		who    caller.Caller
		want   string
	}{
		"readonly is never a write":       {[]string{"allow readonly *"}, true, "POST", one("*/*"), subscriber, "holds"},
		"readonly may be a read":          {[]string{"allow readonly *"}, true, "GET", one("shop/a"), subscriber, "Only the platform knows"},
		"a caller whom no rule names":     {[]string{"allow role editor *"}, true, "POST", one("*/*"), subscriber, "holds"},
		"a caller whom a rule names":      {[]string{"allow role editor *"}, true, "POST", one("shop/a"), editor, "broken"},
		"destructive is not always":       {[]string{"allow *"}, false, "POST", one("shop/a"), editor, "Only the platform knows"},
		"destructive, named, is always":   {[]string{"allow shop/a"}, false, "DELETE", one("shop/a"), editor, "holds"},
		"denied before a wildcard":        {[]string{"deny shop/a", "allow shop/*"}, true, "POST", one("shop/a"), editor, "holds"},
		"a literal route by a wildcard":   {[]string{"deny shop/*"}, true, "POST", one("shop/b"), editor, "holds"},
		"a tool rule allows no run":       {[]string{"allow tool *"}, true, "POST", one("shop/a"), editor, "holds"},
		"a closed server of tools":        {[]string{"deny a/b"}, true, "POST", "/wp/v2/wpmcp/**", editor, "holds"},
		"a closed server, not always":     {[]string{"deny a/b"}, false, "POST", "/mcp/v1/http", editor, "broken"},
		"an opened server, by message":    {[]string{"deny a/b", "doors /wp/v2/wpmcp"}, true, "POST", "/wp/v2/wpmcp", editor, "depends on the message"},
		"a server of tools, by message":   {[]string{"deny a/b"}, false, "POST", "/mcp/mcp-adapter-default-server", editor, "depends on the message"},
		"a named server, by message":      {[]string{"deny a/b", "doors /team/*/agents"}, false, "POST", "/team/x/agents", editor, "depends on the message"},
		"a server of tools, read":         {[]string{"deny a/b"}, false, "GET", "/mcp/mcp-adapter-default-server", editor, "holds"},
		"without rules, no message read":  {nil, false, "POST", "/mcp/mcp-adapter-default-server", editor, "holds"},
		"log in to a server of tools":     {[]string{"deny a/b"}, false, "POST", "/mcp/v1/oauth/token", editor, "holds"},
		"another route has no message":    {[]string{"deny a/b"}, false, "POST", "/wp/v2/posts", editor, "holds"},
		"a preflight of a closed server":  {[]string{"deny a/b"}, false, "OPTIONS", "/wp/v2/wpmcp", editor, "holds"},
		"anonymous by an exact id":        {[]string{"allow shop/a"}, true, "POST", one("shop/a"), caller.Caller{}, "broken"},
		"anonymous by a rule for editors": {[]string{"allow role editor shop/a"}, true, "POST", one("shop/a"), caller.Caller{}, "holds"},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(Abilities)
			var block []policy.Option
			for _, text := range test.lines {
				block = append(block, policytest.Line(text))
			}
			policytest.Configure(t, p, policytest.Line("abilities", block...))
			c, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, access.Entry, Entry}, policy.Entry{}, policytest.NewSite(t), "", map[string]*policy.Configured{
				"access": {Entry: access.Entry, Policy: new(access.Access)}, "abilities": {Entry: Entry, Policy: p},
			})
			if err != nil {
				t.Fatal(err)
			}
			proof, err := review.Prove(c, review.Claim{Never: test.never, Methods: []string{test.method}, Routes: []string{test.route}, Caller: test.who})
			got := strings.Join(proof.Unproved, " ")
			switch {
			case proof.Holds:
				got = "holds"
			case len(proof.Counter) > 0:
				got = "broken"
			}
			if err != nil || !strings.Contains(got, test.want) {
				t.Errorf("got %q, %v: %+v", got, err, proof)
			}
		})
	}
}

// TestOdd_AbilitiesAsTriedOut: what W18 calls a rule that never decides does not decide on any
// subject. A deny behind an allow may, where it changes nothing.
func TestOdd_AbilitiesAsTriedOut(t *testing.T) {
	s, found := policytest.NewSite(t), 0
	readonly := new(ability)
	readonly.Meta.Annotations.Readonly = true
	var subjects []Subject
	for _, id := range []string{"shop/a", "shop/b", "core/x", "zz/y"} {
		name := strings.ReplaceAll(id, "/", "-")
		subjects = append(subjects, Subject{ID: id}, Subject{ID: id, about: readonly}, Subject{Name: name}, Subject{ID: id, Name: name, about: readonly}, Subject{URI: id})
	}
	rapid.Check(t, func(t *rapid.T) {
		p := drawAbilities(t)
		if err := policytest.ProvisionError(s, p); err != nil {
			t.Fatal(err)
		}
		for i := range p.Rules {
			p.Rules[i].At = fmt.Sprint("line:", i)
		}
		for _, odd := range p.hidden() {
			found++
			for j := range subjects {
				rule, allowed := p.decide(&subjects[j], nil)
				if rule.At == odd.At && (!rule.Deny || allowed || p.open) {
					t.Fatalf("%s, but it decides on %+v", odd.Text, subjects[j])
				}
			}
		}
	})
	if !t.Failed() && found < 5 {
		t.Errorf("only %d of the drawn rules never decide", found)
	}
}

// TestAbilities_SwitchOpensNoServer: a line that opens calls for a while opens no server whose tools run REST calls inside, for
// nobody. The live judgement and a proof say the same.
func TestAbilities_SwitchOpensNoServer(t *testing.T) {
	t.Parallel()
	const route = "/mcp/v1/http"
	s := policytest.NewSite(t)
	c, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, access.Entry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{
		"access": {Entry: access.Entry, Policy: &access.Access{LoginOnly: true}}, "abilities": {Entry: Entry, Policy: &Abilities{Rules: []Rule{{Pattern: "*"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	line := policy.NewSwitchedLine("open POST "+route, []policy.Rule{policy.MustRule("anyone", []string{"POST"}, route)}, time.Time{})
	r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", "/wp-json"+route, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, policytest.JSONType, policytest.BasicAuth)
	r.InForce = r.InForce.Lines([]*policy.SwitchedLine{line}, nil)
	if d := c.Judge(t.Context(), r); d.Verdict.Rule != ruleInner {
		t.Errorf("%+v, %v", d.Verdict, d.Err)
	}
	found, err := review.Open(c, line, policy.InForce{})
	if err != nil || found.Passes || len(found.Stops) != 1 || found.Stops[0].By.String() != ruleInner {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestAbilities_GuardOpensNoServer: a line `deny plugin` that spells out a server whose tools run
// REST calls inside only takes away, so that messages still need a line that opens the server. The
// live judgement and a proof say the same.
func TestAbilities_GuardOpensNoServer(t *testing.T) {
	const route = "/mcp/v1/http"
	for name, test := range map[string]struct {
		rules []policy.Rule
		doors []string
		open  bool
	}{
		"the guard alone":         {nil, nil, false},
		"a rule for all routes":   {[]policy.Rule{{Allow: "users", Routes: []string{"/**"}}}, nil, false},
		"a rule names the server": {[]policy.Rule{{Allow: "users", Routes: []string{"/mcp/v1/*"}}}, nil, true},
		"a door names the server": {nil, []string{"/mcp/v1/**"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			c, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, access.Entry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{
				"access": {Entry: access.Entry, Policy: &access.Access{Rules: test.rules, Guards: []access.Guard{{Rule: policy.Rule{Allow: "users", Routes: []string{"/mcp/v1/**"}, From: "drawn"}}}}}, "abilities": {Entry: Entry, Policy: &Abilities{Rules: []Rule{{Pattern: "*"}}, Doors: test.doors}},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := policytest.Request(t, s, policytest.ShopOffers(policytest.AdminBody), "POST", "/wp-json"+route, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, policytest.JSONType, policytest.BasicAuth)
			if d := c.Judge(t.Context(), r); (d.Verdict.Rule == ruleInner) == test.open || (d.Outcome == policy.Pass) != test.open {
				t.Errorf("%+v, %v", d.Verdict, d.Err)
			}
			proof, err := review.Prove(c, review.Claim{Never: true, Methods: []string{"POST"}, Routes: []string{route}, Caller: editor})
			if err != nil || proof.Holds == test.open || len(proof.Counter) > 0 {
				t.Errorf("%+v, %v", proof, err)
			}
		})
	}
}
