package index

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/keyset"
)

// TestRoute_AsMatched compares the keys of a route with what its pattern matches: every key
// that a walk finds is one, and none that matches is left out.
func TestRoute_AsMatched(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	matched, walked := 0, 0
	for _, pattern := range append(coreRoot(t).Patterns, oddPatterns...) {
		x := New([]string{pattern}, nil)
		route := x.Routes()[0]
		if _, opaque := route.Opaque(); opaque {
			continue
		}
		fits := func(text string) bool {
			steps := maxSteps
			return route.entry.match(text, &steps) == yes
		}
		for range 60 {
			text := lowerText(sample(random, pattern))
			if !plainRoute(text) {
				continue
			}
			a, found := keyset.New("wc"), false
			a.Apart(text)
			err := a.Walk(route, nil, func(p *keyset.Place) bool {
				walked++
				if got := p.Route(); !fits(got) && plainRoute(got) && !strings.Contains(pattern, "//") && pattern[0] == '/' {
					t.Errorf("%s does not match %q", pattern, got)
				}
				found = found || p.Route() == text
				return true
			})
			if err != nil {
				t.Fatal(pattern, err)
			}
			if fits(text) && !found {
				t.Errorf("%s matches %q, and no walk finds it", pattern, text)
			}
			if fits(text) {
				matched++
			}
		}
	}
	if matched < 500 || walked < 5000 {
		t.Errorf("only %d routes match, %d were walked", matched, walked)
	}
}

// plainRoute tells whether a route is as the reader of calls gives it.
func plainRoute(text string) bool {
	return printable(text) && strings.HasPrefix(text, "/") && !strings.Contains(text, "//") && (text == "/" || !strings.HasSuffix(text, "/"))
}

// TestRoute_Opaque: what is known of a pattern that cannot be read, or that is left out.
func TestRoute_Opaque(t *testing.T) {
	routes := New([]string{`/a/v1/(?=b)b`, "/a/v1/c"}, []string{"a/v1"}).Routes()
	if len(routes) != 2 {
		t.Fatal(len(routes))
	}
	prefix, opaque := routes[0].Opaque()
	if _, other := routes[1].Opaque(); !opaque || other || prefix != "/a/v1" && prefix != "/a/v1/" || routes[1].Name() != "/a/v1/c" {
		t.Errorf("%q, %v, %v, %q", prefix, opaque, other, routes[1].Name())
	}
	if len((*Index)(nil).Routes()) != 0 {
		t.Error("no index has no routes")
	}
}
