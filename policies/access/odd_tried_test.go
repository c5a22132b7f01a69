package access

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// allCallers differ in everything that the rules of drawAccess ask for.
var allCallers = append(slices.Clip(testCallers),
	caller.Caller{Kind: caller.User, Roles: []string{"editor"}, Capabilities: map[string]bool{"read": true}},
	caller.Caller{Kind: caller.User}, caller.Caller{Kind: caller.Unverified})

// TestOdd_AsTriedOut compares W04 and W05 with all calls of a small alphabet: a rule that
// never decides, and one without which nothing would differ.
func TestOdd_AsTriedOut(t *testing.T) {
	s := policytest.NewSite(t)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := drawAccess(t)
		for i := range p.Rules {
			p.Rules[i].At = fmt.Sprint("line:", i)
		}
		chain, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{"access": {Entry: Entry, Policy: p}})
		if err != nil {
			t.Fatal(err)
		}
		want, divided := "", p.regions()
		for i := range p.Rules {
			if _, left, err := divided.hiding(i); err != nil || left != nil && p.ownRule(&policy.Request{Call: left}).Rule != &p.Rules[i] {
				t.Fatalf("%s does not decide on %+v, %v", &p.Rules[i], left, err)
			}
			without := &Access{LoginOnly: p.LoginOnly, Recommended: p.Recommended, Guards: slices.Clone(p.Guards), Rules: slices.Delete(slices.Clone(p.Rules), i, i+1)}
			if err := without.Provision(s, policy.Settings{}); err != nil {
				t.Fatal(err)
			}
			decides, differs := tryOut(s, p, without, i)
			switch {
			case !decides:
				want += fmt.Sprintf("W04:%d ", i)
			case !differs && !p.Rules[i].Deny:
				want += fmt.Sprintf("W05:%d ", i)
			}
		}
		odd := slices.DeleteFunc(review.OddIn(chain), func(o review.Odd) bool { return o.Code == "W16" })
		fields := strings.Fields(want)
		slices.SortStableFunc(fields, func(a, b string) int { return strings.Compare(a[:3], b[:3]) })
		if got := policytest.Codes(odd); got != strings.Join(fields, " ") {
			t.Fatalf("got %q, want %q", got, fields)
		}
		for _, f := range fields {
			seen[f[:3]]++
		}
	})
	if !t.Failed() && (seen["W04"] < 5 || seen["W05"] < 5) {
		t.Errorf("the drawn rules are of one kind: %v", seen)
	}
}

// tryOut tells whether rule i of p decides on a call, and whether one of these calls is
// decided in another way without it.
func tryOut(s *policy.Site, p, without *Access, i int) (decides, differs bool) {
	for _, key := range allKeys {
		for _, m := range someMethods {
			c := review.CallOf(m, key)
			if _, ok := p.Rules[i].Match(c); !ok || differs {
				continue
			}
			r := &policy.Request{Call: c}
			if p.ownRule(r).Rule != &p.Rules[i] {
				continue
			}
			decides = true
			guard, own := p.decide(r)
			other, behind := without.decide(r)
			differs = differs || (guard.Rule == nil) != (other.Rule == nil) || guard.Rule != nil && guard.Rule.Line() != other.Rule.Line() ||
				!slices.Equal(parameters(own.Route), parameters(behind.Route)) ||
				slices.ContainsFunc(allCallers, func(who caller.Caller) bool {
					return admitted(s, p, c, who) != admitted(s, without, c, who)
				})
		}
	}
	return decides, differs
}
