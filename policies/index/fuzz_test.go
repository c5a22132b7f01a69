package index

import (
	"slices"
	"strings"
	"testing"
)

// FuzzIndex_Pattern: a name is that of one of the site's patterns, whatever the route, and
// holds no other character than those of names.
func FuzzIndex_Pattern(f *testing.F) {
	for _, pattern := range oddPatterns {
		f.Add(pattern, "/o/v1/abc")
		f.Add(pattern, pattern)
	}
	for _, route := range []string{"/wp/v2/posts/17", "/WP/V2/posts", "/wp/v2/templates/a//b", "//", "\x00", "/wp/v2/\xff\u017f", "/secret/v1/word"} {
		f.Add(`/wp/v2/(?P<any>[^/]+)`, route)
	}
	core := coreRoot(f)
	f.Fuzz(func(t *testing.T, pattern, route string) {
		e := newEntry(pattern)
		if strings.Trim(e.name, alphabet) != "" || len(e.name) > maxName {
			t.Errorf("%q is called %q", pattern, e.name)
		}
		own := New([]string{pattern}, []string{"o/v1", "wp/v2"})
		if name, ok := own.Pattern(route); ok && (name != e.name || name == "") || !ok && name != "" {
			t.Errorf("%q by %q is %q, %v", route, pattern, name, ok)
		}
		names := New(core.Patterns, core.Namespaces)
		if name, ok := names.Pattern(route); ok && !slices.ContainsFunc(core.Patterns, func(p string) bool { return newEntry(p).name == name }) {
			t.Errorf("%q is %q", route, name)
		}
		if ns := Known(route); ns != Unknown && !strings.HasPrefix(strings.ToLower(strings.TrimPrefix(route, "/")), strings.ToLower(ns)) {
			t.Errorf("%q is of %q", route, ns)
		}
	})
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~:*()|[]"
