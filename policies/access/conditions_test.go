package access

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/signature"
)

// conditional is a line of a rule with a block.
func conditional(line string, conditions ...string) policy.Option {
	return policytest.Line(line, rules(conditions...)...)
}

const sendsJSON = "Content-Type: application/json"

// TestConditions: one that does not hold refuses the call, whoever makes it, and no later rule is asked.
func TestConditions(t *testing.T) {
	const order, batch = "/wp-json/wc/v3/orders/5", "/wp-json/wc/v3/orders/batch"
	status := []policy.Option{
		conditional("allow role administrator PUT /wc/v3/orders/*", "only status", "status = processing,completed"),
		policytest.Line("allow role administrator /wc/v3/**"),
	}
	from := []policy.Option{conditional("allow users /wp/v2/posts/:id", "only title", "from 198.51.100.0/24")}
	const post = "/wp-json/wp/v2/posts/5"
	named := []policy.Option{conditional("allow users /wp/v2/posts/:id", "only title")}
	admin, plain := []string{"Authorization: Basic eDp5", sendsJSON}, []string{sendsJSON}
	runGuards(t, map[string]guardTest{
		"it holds":                         {status, policytest.AdminBody, "PUT", order, `{"status":"completed"}`, admin, 0},
		"another value":                    {status, policytest.AdminBody, "PUT", order, `{"status":"refunded"}`, admin, 403},
		"another parameter":                {status, policytest.AdminBody, "PUT", order, `{"status":"completed","total":"1"}`, admin, 403},
		"another parameter in the query":   {status, policytest.AdminBody, "PUT", order + "?total=1", `{"status":"completed"}`, admin, 403},
		"an id in the body":                {status, policytest.AdminBody, "PUT", order, `{"status":"completed","id":6}`, admin, 403},
		"nothing":                          {status, policytest.AdminBody, "PUT", order, `{}`, admin, 403},
		"an override":                      {status, policytest.AdminBody, "POST", order + "?_method=PUT", `{"status":"refunded"}`, admin, 403},
		"by rest_route":                    {status, policytest.AdminBody, "PUT", "/?rest_route=/wc/v3/orders/5", `{"status":"completed"}`, admin, 0},
		"by rest_route, another value":     {status, policytest.AdminBody, "PUT", "/?rest_route=/wc/v3/orders/5", `{"status":"x"}`, admin, 403},
		"another rule":                     {status, policytest.AdminBody, "POST", order, `{"total":"1"}`, admin, 0},
		"no user":                          {status, `{"code":"rest_not_logged_in"}`, "PUT", order, `{"status":"completed"}`, plain, 403},
		"a part of a batch":                {status, policytest.AdminBody, "POST", batch, `{"update":[{"id":5,"status":"completed"}]}`, admin, 0},
		"a part with another value":        {status, policytest.AdminBody, "POST", batch, `{"update":[{"id":5,"status":"completed"},{"id":6,"status":"x"}]}`, admin, 403},
		"a part with another parameter":    {status, policytest.AdminBody, "POST", batch, `{"update":[{"id":5,"status":"completed","total":1}]}`, admin, 403},
		"what is not certain":              {status, policytest.AdminBody, "PUT", order, `{"status":"completed","status":"x"}`, admin, 400},
		"from elsewhere":                   {from, policytest.AdminBody, "PUT", "/wp-json/wp/v2/posts/5", `{"title":"x"}`, admin, 403},
		"an id as in the path":             {named, policytest.AdminBody, "PUT", post + "?id=5", `{"title":"x","id":5}`, admin, 0},
		"a part with its id":               {[]policy.Option{conditional("allow users PUT /wc/v3/orders/:id", "only status")}, policytest.AdminBody, "POST", batch, `{"update":[{"id":5,"status":"x"}]}`, admin, 0},
		"another id, in the query too":     {named, policytest.AdminBody, "PUT", post + "?id=6", `{"title":"x","id":5}`, admin, 400},
		"only of the batch's own":          {[]policy.Option{conditional("allow anyone POST /wc/v3/orders/batch", "only update")}, "", "POST", batch, `{"create":[{}]}`, plain, 403},
		"only of the batch's own, kept to": {[]policy.Option{conditional("allow anyone POST /wc/v3/orders/batch", "only update")}, "", "POST", batch, `{"update":[{"id":1}]}`, plain, 0},
	})
}

// conditionedCall judges a call from an address at a time.
func conditionedCall(t *testing.T, client string, now time.Time, target, body string, options ...policy.Option) (policy.Decision, *policy.Request) {
	t.Helper()
	s := policytest.NewSite(t)
	c := policytest.Guarded(t, s, []policy.Entry{Entry, signature.Entry}, options...)
	r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "PUT", target, body, "Authorization: Basic eDp5", sendsJSON)
	r.Client = netip.MustParseAddr(client)
	r.Whole.Site.Now = func() time.Time { return now }
	return c.Judge(t.Context(), r), r
}

// TestConditions_Around: address and hour are looked at before the platform is asked and before the body is read.
func TestConditions_Around(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	line := conditional("allow users PUT /wp/v2/posts/:id", "only title", "from 198.51.100.0/24", "between 08:00-18:00 UTC")
	for _, tt := range []struct {
		client string
		now    time.Time
		note   string
	}{
		{"198.51.100.7", day, ""},
		{"203.0.113.7", day, `The condition "from 198.51.100.0/24" of the rule does not hold.`},
		{"198.51.100.7", day.Add(7 * time.Hour), `The condition "between 08:00-18:00 UTC" of the rule does not hold.`},
	} {
		d, r := conditionedCall(t, tt.client, tt.now, "/wp-json/wp/v2/posts/5?id=5", `{"title":"x"}`, line)
		_, asked := r.Known()
		if d.Verdict.Note != tt.note || d.Verdict.Refused() != (tt.note != "") || asked != (tt.note == "") || d.Verdict.Yields {
			t.Errorf("%s at %s: %+v, asked %v", tt.client, tt.now, d.Verdict, asked)
		}
	}
	if d, _ := conditionedCall(t, "198.51.100.7", day, "/wp-json/wp/v2/posts/5?id=6", `{"title":"x"}`, line); d.Verdict.Status != 400 {
		t.Errorf("an id beside the path: %+v", d.Verdict)
	}
}

// TestConditions_Lockdown: a lockdown leaves open what a rule opens, where its conditions hold.
func TestConditions_Lockdown(t *testing.T) {
	t.Parallel()
	s, access := policytest.NewSite(t), new(Access)
	policytest.Configure(t, access, conditional("allow anyone POST /form/v1/send", "only mail"), conditional("allow anyone POST /list/v1/:id", "only mail"))
	closed := lockdown{policytest.Provision(t, s, access)}
	for body, status := range map[string]int{`{"mail":1}`: 0, `{"mail":1,"x":2}`: 401} {
		r := policytest.Request(t, s, asktest.Answering(401, ""), "POST", "/wp-json/form/v1/send", body, sendsJSON)
		r.InForce.Locked = true
		if v, err := closed.Check(t.Context(), r); v.Status != status || err != nil {
			t.Errorf("%s: %+v, %v", body, v, err)
		}
		if v, err := closed.CheckEarly(t.Context(), r); v.Refused() || err != nil {
			t.Errorf("%s, before the body is looked at: %+v, %v", body, v, err)
		}
	}
	r := policytest.Request(t, s, asktest.Answering(401, ""), "POST", "/wp-json/form/v1/send", `{"mail":1,"mail":2}`, sendsJSON)
	r.InForce.Locked = true
	if v, err := closed.Check(t.Context(), r); err == nil || v.Refused() {
		t.Errorf("a body without a certain reading: %+v, %v", v, err)
	}
	r = policytest.Request(t, s, asktest.Answering(401, ""), "POST", "/wp-json/list/v1/5?id=6", `{"mail":1,"id":5}`, sendsJSON)
	r.InForce.Locked = true
	if v, err := closed.Check(t.Context(), r); err == nil || v.Refused() {
		t.Errorf("another id beside the path: %+v, %v", v, err)
	}
}

// TestConditions_Early: before the body is read, conditions about parameters are left out, and those about the client are not.
func TestConditions_Early(t *testing.T) {
	t.Parallel()
	s, access := policytest.NewSite(t), new(Access)
	policytest.Configure(t, access, conditional("allow anyone POST /form/v1/send", "only mail", "from 192.0.2.0/24"))
	policytest.Provision(t, s, access)
	for client, early := range map[string]int{"192.0.2.7": 0, "198.51.100.7": 403} {
		r := policytest.Request(t, s, nil, "POST", "/wp-json/form/v1/send", `{"x":1}`, sendsJSON)
		r.Client = netip.MustParseAddr(client)
		if v, err := access.CheckEarly(t.Context(), r); err != nil || v.Status != early {
			t.Errorf("%s, early: %+v, %v", client, v, err)
		}
		if v, err := access.Check(t.Context(), r); err != nil || v.Status != 403 {
			t.Errorf("%s: %+v, %v", client, v, err)
		}
	}
}

// TestConditions_Prove: a condition may hold and may not, so that neither claim holds.
func TestConditions_Prove(t *testing.T) {
	t.Parallel()
	c := policytest.Guarded(t, policytest.NewSite(t), []policy.Entry{Entry}, policytest.Line("login_only"),
		conditional("allow role editor PUT /a/b/c/*", "from 10.0.0.0/8"), policytest.Line("allow role editor GET /a/b/c/*"))
	for _, tt := range []struct {
		claim review.Claim
		holds bool
	}{
		{review.Claim{Methods: []string{"PUT"}}, false},
		{review.Claim{Methods: []string{"PUT"}, Never: true}, false},
		{review.Claim{Methods: []string{"GET"}}, true},
		{review.Claim{Methods: []string{"POST"}, Never: true, Caller: caller.Caller{Kind: caller.User, Roles: []string{"author"}}}, false},
		{review.Claim{Methods: []string{"PUT"}, Never: true, Caller: caller.Caller{Kind: caller.User, Roles: []string{"author"}}}, true},
	} {
		if tt.claim.Routes = []string{"/a/b/c/*"}; tt.claim.Caller.Kind == caller.Anonymous {
			tt.claim.Caller = caller.Caller{Kind: caller.User, Roles: []string{"editor"}}
		}
		p, err := review.Prove(c, tt.claim)
		if err != nil || p.Holds != tt.holds {
			t.Errorf("%+v: %+v, %v", tt.claim, p, err)
		}
		conditions := tt.claim.Methods[0] == "PUT" && !tt.holds
		if said := strings.Contains(strings.Join(p.Unproved, ""), "allow role editor PUT /a/b/c/* at Caddyfile:7 has conditions"); said != conditions || conditions && len(p.Counter) > 0 {
			t.Errorf("%+v: %+v", tt.claim, p)
		}
	}
}

// TestConditions_Odd: a rule with conditions takes its calls from those behind it, and is never useless.
func TestConditions_Odd(t *testing.T) {
	t.Parallel()
	for want, options := range map[string][]policy.Option{
		"W04:7": {conditional("allow users /a/*", "from 10.0.0.0/8"), policytest.Line("allow users /a/:id")},
		"W05:7": {policytest.Line("login_only"), policytest.Line("allow users /a/*")},
		"":      {policytest.Line("login_only"), conditional("allow users /a/*", "from 10.0.0.0/8")},
	} {
		c := policytest.Guarded(t, policytest.NewSite(t), []policy.Entry{Entry}, options...)
		if got := policytest.Codes(review.OddIn(c)); strings.TrimSpace(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c := policytest.Guarded(t, policytest.NewSite(t), []policy.Entry{Entry}, conditional("allow users PUT /a/*", "from 10.0.0.0/8"), policytest.Line("allow users /a/**"))
	if got := policytest.Codes(review.OddIn(c)); got != "" {
		t.Error("a rule before a wider one:", got)
	}
}

// TestConditions_Embedded: an embedded object comes from a call of its own, whose rule may have conditions.
func TestConditions_Embedded(t *testing.T) {
	t.Parallel()
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, &Access{Rules: []policy.Rule{policy.MustRule("anyone", nil, "/wp/v2/media/*")}})
	r := policytest.Request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/posts?_embed", "")
	if p.Rewrites(r) != policy.RewriteNothing {
		t.Error("a rule for anyone")
	}
	p = &Access{}
	policytest.Configure(t, p, conditional("allow anyone /wp/v2/media/*", "from 10.0.0.0/8"))
	p = policytest.Provision(t, s, p)
	embedded, _ := r.Call.Embedded("https://example.com/wp-json/wp/v2/media/5")
	if embedded == nil || p.Rewrites(r) != policy.RewriteBody || p.allowsEmbedded(r, embedded) {
		t.Error("a rule with conditions")
	}
	if r.Client = netip.MustParseAddr("10.1.2.3"); !p.allowsEmbedded(r, embedded) {
		t.Error("a rule whose conditions hold")
	}
}
