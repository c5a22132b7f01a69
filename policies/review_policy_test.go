package policies

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// memberWrites is a policy that nobody but this file knows: it lets only users write to its routes.
type memberWrites struct {
	routes []string
	tools  bool
	target policy.Target
}

func (p *memberWrites) Provision(*policy.Site, policy.Settings) (err error) {
	p.target, err = policy.NewTarget([]string{"POST"}, p.routes)
	return err
}

// line is the one line of the configuration.
func (p *memberWrites) line() *policy.Rule { return policy.RuleNamed("members only", "Caddyfile:3") }

// refuses is what the policy decides, for requests and for proofs.
func (p *memberWrites) refuses(c *call.Call, who caller.Caller) bool {
	return p.target.Matches(c) && who.Kind == caller.Anonymous
}

func (p *memberWrites) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	who, _, err := r.Who(ctx)
	if err != nil || !p.refuses(r.Call, who) {
		return policy.Verdict{}, err
	}
	return policy.Forbidden(), nil
}

func (p *memberWrites) EachRoute(do func(policy.RouteLine)) {
	do(policy.RouteLine{At: p.line().At, Text: p.line().String(), Routes: p.target.Routes(), Own: true})
	do(policy.RouteLine{Text: "a default", Routes: []routes.Pattern{routes.MustPattern("/nowhere/**")}})
}

func (p *memberWrites) GuardsTools() bool { return p.tools }

func (p *memberWrites) Decider(at *review.Patterns, _ []routes.Pattern) review.Decide {
	for i, route := range p.target.Routes() {
		at.Add(route, i)
	}
	return func(q *review.Asked) review.Fate {
		if p.refuses(q.Call, q.Caller) {
			return review.Refuses(p.line())
		}
		return review.Passes(nil)
	}
}

// withMembers is a chain whose catalogue has one policy more, on one side of all others.
func withMembers(t *testing.T, first bool, settings policy.Settings, routes ...string) *policy.Chain {
	t.Helper()
	p := &memberWrites{routes: routes}
	e := policy.Entry{Name: "members", Words: []string{"members"}, New: func() policy.Policy { return p }, Codes: []policy.Code{policy.CodeForbidden}}
	catalog := append(slices.Clone(Catalog), e)
	if first {
		catalog = append([]policy.Entry{e}, Catalog...)
	}
	configured := configured("abilities", &abilities.Abilities{Rules: []abilities.Rule{{Pattern: "shop/*", Deny: true}}})
	configured["members"] = &policy.Configured{Entry: e, Policy: p, Settings: settings}
	c, err := policy.NewChain(catalog, access.Closed, policytest.NewSite(t), "", configured)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReview_NewPolicy: a policy that states what it can do gets the findings of its routes and a
// word in proofs, wherever it stands in the chain.
func TestReview_NewPolicy(t *testing.T) {
	for _, first := range []bool{false, true} {
		c := withMembers(t, first, policy.Settings{}, "/acme/v1/**", "/acme/v2", "/xmlrpc.php")
		if got := policytest.Codes(review.OddIn(c)); got != "W06:3" {
			t.Errorf("of an unknown site: %s", got)
		}
		odd := review.OddOn(c, installedAs(t, smallSite))
		if got := policytest.Codes(odd); got != "W06:3 W15:3" || !strings.Contains(odd[1].Text, "members only names /acme/v2 and /xmlrpc.php, ") {
			t.Errorf("of a site: %s, %+v", got, odd)
		}
		always := review.Claim{Methods: []string{"POST"}, Routes: []string{"/acme/v2"}}
		proof, err := review.Prove(c, always)
		want := review.Counterexample{Method: "POST", Route: "/acme/v2", Rule: "members only", At: "Caddyfile:3"}
		if err != nil || proof.Holds || !slices.Equal(proof.Counter, []review.Counterexample{want}) {
			t.Errorf("%+v, %v", proof, err)
		}
		never := review.Claim{Never: true, Methods: []string{"POST"}, Routes: []string{"/acme/v1/**"}}
		if proof, err := review.Prove(c, never); err != nil || !proof.Holds {
			t.Errorf("%+v, %v", proof, err)
		}
		always.Caller = caller.Caller{Kind: caller.User}
		if proof, err := review.Prove(c, always); err != nil || !proof.Holds {
			t.Errorf("%+v, %v", proof, err)
		}
		never.Routes = []string{"/wp-abilities/v1/abilities/shop/a/run"} // that of another policy stays
		if proof, err := review.Prove(c, never); err != nil || !proof.Holds {
			t.Errorf("%+v, %v", proof, err)
		}
		r, err := review.NewReacher(c)
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.Of(index.New([]string{"/acme/v2"}, nil).Routes()[0], []string{"GET", "POST"}, []caller.Caller{{}})
		if err != nil || !found[0][0].All() || !found[1][0].None() || found[1][0].RefusedBy.String() != "members only" {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

// TestReview_NewPolicySettings: a proof takes the mode and on_error of every policy that decides.
func TestReview_NewPolicySettings(t *testing.T) {
	never := review.Claim{Never: true, Methods: []string{"POST"}, Routes: []string{"/acme/v1/**"}}
	if proof, err := review.Prove(withMembers(t, false, policy.Settings{Mode: policy.Observe}, "/acme/**"), never); err != nil || len(proof.Counter) != 1 {
		t.Errorf("it observes: %+v, %v", proof, err)
	}
	proof, err := review.Prove(withMembers(t, false, policy.Settings{OnError: policy.PassOnError}, "/acme/**"), never)
	if err != nil || proof.Holds || len(proof.Counter) > 0 || len(proof.Unproved) != 1 || !strings.HasPrefix(proof.Unproved[0], "members has on_error pass") {
		t.Errorf("it may pass: %+v, %v", proof, err)
	}
}

// TestReview_NewToolGuard: W19 asks whether any policy guards servers of tools.
func TestReview_NewToolGuard(t *testing.T) {
	site := installedAs(t, `{"namespaces":["mcp"],"routes":{"/mcp/x":{"endpoints":[{"methods":["POST","GET","DELETE"],"args":[]}]}}}`)
	for guards, want := range map[bool]string{false: "W19:", true: ""} {
		e := policy.Entry{Name: "members", Words: []string{"members"}, New: func() policy.Policy { return &memberWrites{routes: []string{"/mcp/y"}, tools: guards} }, Default: true}
		c, err := policy.NewChain(append(slices.Clone(Catalog), e), access.Closed, policytest.NewSite(t), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		odd := slices.DeleteFunc(review.OddOn(c, site), func(o review.Odd) bool { return o.Code == "W15" })
		if got := policytest.Codes(odd); got != want {
			t.Errorf("it guards: %t: %q", guards, got)
		}
	}
}
