package access

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestReacher_AsProved compares what is reached with proofs.
func TestReacher_AsProved(t *testing.T) {
	s := policytest.NewSite(t)
	site := index.New([]string{`/wp/v2/users/(?P<id>[\d]+)`, `/a/(?P<b>[\w/]+)`, `/wc/store/v1/(?P<x>[a-z]+)`, `/`, `/a`}, []string{"wp/v2", "a", "wc/store/v1"})
	rapid.Check(t, func(t *rapid.T) {
		chain, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{"access": {Entry: Entry, Policy: drawAccess(t)}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := review.NewReacher(chain)
		if err != nil {
			t.Fatal(err)
		}
		by := rapid.SampledFrom(testCallers[:3]).Draw(t, "caller")
		method := rapid.SampledFrom(someMethods).Draw(t, "method")
		methods := []string{method}
		if method == "GET" {
			methods = append(methods, "HEAD") // a claim of GET is one of HEAD, too
		}
		all, none := true, true
		for _, route := range site.Routes() {
			found, err := r.Of(route, methods, []caller.Caller{by})
			if err != nil {
				t.Fatal(err)
			}
			for i := range methods {
				all, none = all && found[i][0].All(), none && found[i][0].None()
			}
		}
		for never, holds := range map[bool]bool{true: none, false: all} {
			proof, err := review.Prove(chain, review.Claim{Never: never, Methods: []string{method}, Routes: []string{"/**"}, Caller: by, Index: site})
			if method == "PROPFIND" {
				continue // a claim names known methods
			}
			if err != nil || proof.Holds != holds {
				t.Fatalf("never %t: %t, but %+v, %v", never, holds, proof, err)
			}
		}
	})
}
