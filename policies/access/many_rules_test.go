package access

import (
	"fmt"
	"testing"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// manyRules are n rules for routes of many plugins, some of which never decide.
func manyRules(n int) *Access {
	p := &Access{LoginOnly: true}
	who := []string{"anyone", "users", "role editor,author", "capability manage_options"}
	for i := range n {
		plugin := fmt.Sprintf("/plugin-%d/v1", i/5)
		r := policy.Rule{Allow: who[i%len(who)], Routes: []string{plugin + []string{"/items/:id", "/items", "/items/*/notes", "/**", "/*/v2"}[i%5]}}
		if i%3 == 0 {
			r.Methods = []string{"GET", "POST"}
		}
		p.Rules = append(p.Rules, r)
	}
	p.Rules = append(p.Rules, policy.Rule{Allow: "users", Routes: []string{"/*/v1/items/**"}}, policy.Rule{Deny: true, Routes: []string{"/*/v2/**"}})
	return p
}

// BenchmarkOdd has a thousand rules, as a host may generate them.
func BenchmarkOdd(b *testing.B) {
	p := manyRules(1000)
	c, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, policytest.NewSite(b), "", map[string]*policy.Configured{"access": {Entry: Entry, Policy: p}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if odd := review.OddIn(c); len(odd) < 10 {
			b.Fatal(len(odd))
		}
	}
}

// BenchmarkProve proves a claim for five callers over 1,000 rules and 2,000 routes.
func BenchmarkProve(b *testing.B) {
	var routes, namespaces []string
	for i := range 2000 {
		ns := fmt.Sprintf("plugin-%d/v1", i/8)
		if i%8 == 0 {
			namespaces = append(namespaces, ns)
		}
		routes = append(routes, "/"+ns+[]string{
			"", "/items", `/items/(?P<id>[\d]+)`, `/items/(?P<id>[\d]+)/notes`, `/types/(?P<type>[\w-]+)`, `/files/(?P<path>.+)`, "/settings/x",
			`/(?P<what>orders|refunds)/(?P<id>[\d]+)`,
		}[i%8])
	}
	x := index.New(routes, namespaces)
	p := manyRules(1000)
	for i := range p.Rules {
		if r := &p.Rules[i]; !r.Deny {
			r.Allow, r.Methods = []string{"anyone", "users"}[i%2], []string{"GET"}
		}
	}
	c, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, policytest.NewSite(b), "", map[string]*policy.Configured{"access": {Entry: Entry, Policy: p}})
	if err != nil {
		b.Fatal(err)
	}
	claims := []review.Claim{ // which hold, so that nothing ends early
		{Methods: []string{"GET"}, Caller: caller.Caller{Kind: caller.User}},
		{Methods: []string{"GET"}, Caller: caller.Caller{Kind: caller.User, Roles: []string{"editor"}}},
		{Methods: []string{"GET"}, Caller: caller.Caller{Kind: caller.Unverified}},
		{Methods: []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, Never: true},
		{Methods: []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, Never: true, Caller: caller.Caller{Kind: caller.KeyHolder}},
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range claims {
			q.Routes, q.Index = []string{"/plugin-7/**", "/**"}, x
			if proof, err := review.Prove(c, q); err != nil || !proof.Holds {
				b.Fatal(proof, err)
			}
		}
	}
}
