package routes_test

import (
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/call/routes"
)

func TestPattern_Meets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"/", "/", true},
		{"/", "/a", false},
		{"/**", "/a/b", true},
		{"/a/**", "/a", true},
		{"/a/**", "/b/**", false},
		{"/a/:id", "/a/me", true},
		{"/a/:id", "/a/*", true},
		{"/a/:id", "/a/*/b", false},
		{"/a/*/c", "/a/b/*", true},
		{"/a/*/c", "/a/b/d", false},
		{"/wc/store/cart", "/wc/store/v1/cart", true},
	} {
		a, b := routes.MustPattern(c.a), routes.MustPattern(c.b)
		if a.Meets(b) != c.want || b.Meets(a) != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, !c.want)
		}
	}
}

// TestPattern_Meet: a key matches what two patterns have in common if it matches both.
func TestPattern_Meet(t *testing.T) {
	t.Parallel()
	segment := rapid.SampledFrom([]string{"a", "b", "*", ":id"})
	drawn := rapid.Custom(func(t *rapid.T) routes.Pattern {
		segments := rapid.SliceOfN(segment, 0, 3).Draw(t, "segments")
		if rapid.Bool().Draw(t, "rest") {
			segments = append(segments, "**")
		}
		return routes.MustPattern("/" + strings.Join(segments, "/"))
	})
	var keys []string
	for _, a := range []string{"", "/a", "/b", "/x"} {
		for _, b := range []string{"", "/a", "/b", "/x"} {
			for _, c := range []string{"", "/a", "/b", "/x", "/a/a"} {
				keys = append(keys, cmp.Or(a+b+c, "/"))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawn.Draw(t, "p"), drawn.Draw(t, "q")
		both, ok := p.Meet(q)
		if ok != p.Meets(q) {
			t.Fatalf("%s and %s: %v", p, q, ok)
		}
		for _, key := range keys {
			if got := ok && both.Match(key); got != (p.Match(key) && q.Match(key)) {
				t.Fatalf("%s and %s are %s: %s matches: %v", p, q, both, key, got)
			}
		}
	})
}
