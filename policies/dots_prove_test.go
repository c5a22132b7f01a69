package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/review"
)

// dottedIndex is the index of a site with dots in its routes.
func dottedIndex() *index.Index {
	return index.New([]string{
		"/", "/oembed/1.0", "/oembed/1.0/embed", "/acme/v1.0", "/acme/v1.0/secret", `/acme/v1.0/(?P<id>[\d]+)`, "/acme/v1.0/open",
	}, []string{"oembed/1.0", "acme/v1.0"})
}

// TestDots_Prove: a proof takes what is refused for a dot as refused, and claims nothing of a dot
// that no line names.
func TestDots_Prove(t *testing.T) {
	const unproved = "unproved"
	for _, test := range []struct {
		lines, route string
		indexed      bool
		want         string // the counter-examples; "" if the claim holds
	}{
		{"deny /acme/v1.0/secret", "/acme/v1.0/secret", false, ""},
		{"deny /acme/v1.0/**", "/acme/v1.0/secret", false, ""},
		{"deny /acme/v1.0/**", "/acme/v1.0/**", true, ""},
		{"deny /acme/*/secret", "/acme/v1.0/secret", false, unproved},
		{"deny /acme/*/secret", "/acme/v1.0/secret", true, unproved},
		{"deny /acme/**", "/acme/v1.0/secret", false, ""},
		{"deny /acme/**", "/acme/v1.0/**", true, ""},
		{"login_only", "/acme/v1.0/secret", false, ""},
		{"login_only; allow anyone /acme/v1.0/open", "/acme/v1.0/secret", true, ""},
		{"login_only; allow anyone /acme/*/*/secret", "/acme/v1.0/secret", false, unproved},
		{"deny /oembed/*/embed", "/oembed/1.0/embed", false, ""},
		{"deny /oembed/1.0/**; deny /acme/**", "/*/**", true, ""},
		{"deny /*/**", "/**", true, "GET /"},
		{"deny /oembed/*/embed", "/**", true, "GET /oembed/1.0"},
		{"deny /oembed/*/embed", "/oembed/**", true, "GET /oembed/1.0"},
		{"deny /oembed/1.0/embed", "/oembed/*/embed", true, ""},
	} {
		q := review.Claim{Never: true, Methods: []string{"GET"}, Routes: []string{test.route}}
		if test.indexed {
			q.Index = dottedIndex()
		}
		proof, err := review.Prove(chainOf(t, strings.Split(test.lines, "; ")...), q)
		got := strings.Join(counters(proof), ", ")
		if len(proof.Unproved) > 0 {
			got = unproved
		}
		if err != nil || got != test.want || proof.Holds != (test.want == "") {
			t.Errorf("%s, never %s: %q, want %q: %v, %v", test.lines, test.route, got, test.want, proof, err)
		}
	}
}

// TestDots_Reach: nobody reaches a route with a dot by a call that is refused for the dot.
func TestDots_Reach(t *testing.T) {
	r, err := review.NewReacher(chainOf(t, "deny /acme/v1.0/secret", "deny /oembed/*/embed"))
	if err != nil {
		t.Fatal(err)
	}
	var reached []string
	for _, route := range dottedIndex().Routes() {
		found, err := r.Of(route, []string{"GET"}, []caller.Caller{{}})
		if err != nil {
			t.Fatal(err)
		}
		if found[0][0].Passes != "" {
			reached = append(reached, route.Name())
		}
	}
	slices.Sort(reached)
	if got := strings.Join(reached, " "); got != "/ /acme/v1.0 /acme/v1.0/:id /acme/v1.0/open /oembed/1.0" {
		t.Errorf("reached: %s", got)
	}
}
