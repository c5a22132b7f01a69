package routes_test

import (
	"testing"

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
