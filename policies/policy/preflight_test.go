package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/policy"
)

// FuzzPreflightQuery: a preflight keeps its route as PHP reads it, and nothing else, wherever PHP
// splits a query.
func FuzzPreflightQuery(f *testing.F) {
	seeds := []string{
		"", "a=1&rest_route=/wp/v2/posts&_method=GET", "rest.route=/a&rest_route=/b&x", "rest_route=/a;email=x",
		"rest_route[]=/a&rest_route[x]=1", "rest_route", "&&rest_route=%2Fa&&", strings.Repeat("a=1&", 1000) + "rest_route=/late",
		strings.Repeat("&", 1000) + "+rest_route=/a", "rest_route=/a&" + strings.Repeat("a&", 998) + "rest_route=/b&rest_route=/c",
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got := policy.PreflightQuery(query)
		before, after := phpvars.Query(query), phpvars.Query(got)
		want, had := before.Get("rest_route")
		route, has := after.Get("rest_route")
		if had != has || !reflect.DeepEqual(want, route) || strings.Contains(got, ";") {
			t.Fatalf("%q: %q, %v instead of %v", query, got, route, want)
		}
		for _, name := range after.Keys() {
			if name != "rest_route" {
				t.Fatalf("%q: keeps %q", query, name)
			}
		}
	})
}
