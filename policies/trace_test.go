package policies

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestTrace: the trace reports each policy that was asked, each rule with the reason that
// it did not match, each question, and the decision on the request.
func TestTrace(t *testing.T) {
	s := policytest.NewSite(t)
	c := guarded(t, s,
		policytest.Line("allow anyone GET /consent/v1/**"), policytest.Line("allow users POST /wp/v2/posts"), policytest.Line("allow role administrator /wp/v2/**"),
		policytest.Line("rate_limit 10/1m POST /consent/v1/consent"), policytest.Line("rate_limit 9/1m /wp/v2/posts"),
	)
	var heard []string
	say := func(format string, args ...any) { heard = append(heard, fmt.Sprintf(format, args...)) }
	r := policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), "GET", "/wp-json/wp/v2/posts", "", policytest.BasicAuth)
	r.Trace = &policy.Trace{
		Questions: ask.Trace{
			Asked: func(q ask.Question, a *ask.Answer, err error, _ time.Duration) {
				say("question %s %s: %d, %v", q.Kind, q.Route, a.Status, err)
			},
			Known: func(kind ask.Kind) { say("known %s", kind) },
		},
		Asked: func(_ *policy.Request, policy string, v policy.Verdict, err error, early bool) {
			say("asked %s: %d, %v, %t", policy, v.Status, err, early)
		},
		Rule: func(_ *policy.Request, policy string, c policy.Considered) {
			say("%s %s: %s%q", c.At, policy, c.Rule, c.Why)
		},
		Refused: func(_ *policy.Request, d policy.Decision) { say("refused by %s", d.Policy) },
		Decided: func(_ *policy.Request, d policy.Decision) { say("decided %s", d.Outcome) },
	}
	r.Whole.Trace = &r.Trace.Questions
	c.Judge(t.Context(), r)
	want := []string{
		"asked call: 0, <nil>, false",
		`Caddyfile:7 access: allow anyone GET /consent/v1/**"route"`,
		`Caddyfile:7 access: allow users POST /wp/v2/posts"method"`,
		`Caddyfile:7 access: allow role administrator /wp/v2/**""`,
		` access: built-in: only users /wp/v2/users /wp/v2/users/*"route"`,
		` access: built-in: only role administrator /*/troubleshooting /*/*/troubleshooting"route"`,
		` access: built-in: nobody /*/v1/upload-logo"route"`,
		` access: built-in: nobody /*/v1/store-auth"route"`,
		` access: built-in: only users /batch/v1"route"`,
		"question caller /wp/v2/users/me: 200, <nil>",
		"asked access: 0, <nil>, false",
		`Caddyfile:7 rate_limit: rate_limit 10/1m POST /consent/v1/consent"method"`,
		`Caddyfile:7 rate_limit: rate_limit 9/1m /wp/v2/posts""`,
		"asked rate_limit: 0, <nil>, false",
		"asked order_type: 0, <nil>, false", "asked checkout_total: 0, <nil>, false", "asked refund_totals: 0, <nil>, false",
		"decided pass",
	}
	if !slices.Equal(heard, want) {
		for i, text := range heard {
			if i >= len(want) || want[i] != text {
				t.Errorf("%d: heard %s", i, text)
			}
		}
		t.Errorf("heard %d things, want %d", len(heard), len(want))
	}

	heard = nil
	again := policytest.Request(t, s, nil, "DELETE", "/wp-json/wp/v2/users/7", "", policytest.BasicAuth)
	again.Trace, again.Whole.Trace = r.Trace, r.Whole.Trace
	c.Judge(t.Context(), again)
	if !slices.Contains(heard, "known caller") {
		t.Errorf("a caller who is known: %q", heard)
	}
}

// TestTrace_Refusals: the trace reports a refusal that is only observed, and each that
// follows.
func TestTrace_Refusals(t *testing.T) {
	s := policytest.NewSite(t)
	denied := policy.Verdict{Status: 403, Code: policy.CodeForbidden}
	c := policy.Link(s, "",
		policytest.Linked("first", &fixed{verdict: denied, asked: new(int)}, policy.Settings{Mode: policy.Observe}),
		policytest.Linked("second", &fixed{verdict: denied, asked: new(int)}),
	)
	var heard []string
	r := policytest.Request(t, s, nil, "GET", "/wp-json/x/y", "")
	r.Trace = &policy.Trace{
		Refused: func(_ *policy.Request, d policy.Decision) { heard = append(heard, d.Policy+" "+string(d.Outcome)) },
		Decided: func(_ *policy.Request, d policy.Decision) { heard = append(heard, "decided "+d.Policy) },
	}
	c.Judge(t.Context(), r)
	if want := []string{"first would_refuse", "second refused", "decided second"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// TestTrace_CostsNothing: rules are not formatted without a trace.
func TestTrace_CostsNothing(t *testing.T) {
	s := policytest.NewSite(t)
	c := guarded(t, s, policytest.Line("allow anyone POST /consent/v1/**"), policytest.Line("allow anyone /wp/v2/**"))
	r := policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
	r.Trace = new(policy.Trace)
	if n := testing.AllocsPerRun(100, func() { c.Judge(t.Context(), r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
