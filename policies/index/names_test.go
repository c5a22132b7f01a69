package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIndex_Names(t *testing.T) {
	namespaces := []string{"wp/v2", "a/v1"}
	routes := []string{`/z`, `/wp/v2/posts/(?P<id>[\d]+)`, `/a/v1/(?=look)x`, `/wp/v2/posts/(?P<id>[a-z]+)`, `/a/v1`, `/a/v1/b c`, `(?<!x)`}
	want := []string{"*~0f658ac3", "/a/v1", "/a/v1*~055a833d", "/a/v1/b_c", "/wp/v2/posts/:id", "/z"}
	x := New(routes, namespaces)
	if got := x.Names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	slices.Reverse(routes)
	if other := New(routes, namespaces); other == x || other.Digest() != x.Digest() || x.Digest() != DigestOf(want) {
		t.Error("the order of registration changes the digest")
	}
	if other := New(routes[1:], namespaces); other.Digest() == x.Digest() {
		t.Error("a route less has the same digest")
	}
	var called []string
	for _, r := range x.Routes() {
		called = append(called, r.Called())
	}
	for _, pattern := range routes {
		if l := (&Listed{Pattern: pattern}); !slices.Contains(called, l.Called()) {
			t.Errorf("%s is %q in a root, and not in the index", pattern, l.Called())
		}
	}
	if none := (*Index)(nil); none.Names() != nil || none.Len() != 0 || x.Len() != len(routes) {
		t.Errorf("%d patterns", x.Len())
	}
}

// TestIndex_NamesOfAnything: whatever a root lists, its routes have names that IsName knows,
// and what was left out has none.
func TestIndex_NamesOfAnything(t *testing.T) {
	var routes []string
	for i := range maxRoutes + 10 {
		routes = append(routes, fmt.Sprintf("/r/%d", i))
	}
	if n := len(New(routes, nil).Names()); n != maxRoutes {
		t.Errorf("%d names of %d routes", n, len(routes))
	}
	for _, pattern := range []string{
		"/" + strings.Repeat("a", 500), "/" + strings.Repeat("a", 500) + "(?=x)", "/\x00\n\x1b[31m<script>", "/(?P<" + strings.Repeat("n", 500) + ">x)",
		"/\xff\xfe", `/(?P<id>[\d]+)(?:/(?P<sub>a|b))?`, "/?", "x", "/A/B(?=)", "/%0a", `/\n`, `/a|/b`, "/{}[]()*:|",
	} {
		for _, name := range New([]string{pattern}, nil).Names() {
			if !IsName(name) {
				t.Errorf("%q is called %q", pattern, name)
			}
		}
	}
	for _, text := range []string{"", "a b", "a\n", "a\x1b", "ä", "<", `"`, strings.Repeat("a", maxName+3)} {
		if IsName(text) {
			t.Errorf("%q may be a name", text)
		}
	}
}

// TestForms: the name of a route stands for each of its forms, and for none that a rule
// cannot name.
func TestForms(t *testing.T) {
	t.Parallel()
	for route, want := range map[string][]string{
		"/a/:id":               {"/a/:id"},
		"/a[/:id]":             {"/a/:id", "/a"},
		"/a/(b|c)":             {"/a/b", "/a/c"},
		"/a[/(b|:c)]":          {"/a/b", "/a", "/a/:c"},
		"/a/**":                nil,
		"/a/*b":                nil,
		"/a/(b":                nil,
		"/[a|b|c|d]/[a|b|c|d]": nil, // "//" is no route
	} {
		var got []string
		for _, form := range Forms(route) {
			got = append(got, form.String())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", route, got, want)
		}
	}
}
