package gateway

import (
	"fmt"
	"runtime"
	"testing"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
)

// usualRoot is the root of a usual site, of 800 routes; more are routes that follow them.
func usualRoot(more ...string) string {
	routes := []string{"GET /cms/v2"}
	for i := range 800 {
		routes = append(routes, fmt.Sprintf(`GET,POST /plugin-%d/v1/entries-%d/(?P<id>[\d]+)`, i%12, i))
	}
	return rootOf(append(routes, more...)...)
}

// sitesWithEqualRoots returns sites that have read equal roots for the first time, and such a
// root.
func sitesWithEqualRoots(tb testing.TB, n int) (*discover.Root, []*site) {
	tb.Helper()
	g := provisioned(tb, `{"platform":"cms"}`)
	root, err := discover.Discover(tb.Context(), &g.sites[0].Site, asktest.Answering(200, usualRoot()), discover.Reach{Host: "shop.example"})
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]*site, n)
	for i := range all {
		s := *g.sites[0]
		s.Name, s.state = fmt.Sprintf("shop%d.example", i), newSiteState("", s.state.running)
		all[i] = &s
	}
	return root, all
}

// BenchmarkDrift_Sites compares the memory of a thousand sites whose roots are equal and have
// been read, without what they listed before and with it.
func BenchmarkDrift_Sites(b *testing.B) {
	const sites = 1000
	for _, remembers := range []bool{false, true} {
		b.Run(fmt.Sprintf("remembers=%t", remembers), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				root, all := sitesWithEqualRoots(b, sites)
				before := heap.Live()
				b.StartTimer()
				for _, s := range all {
					if remembers {
						s.drift(b.Context(), root, s.Name, true)
					}
				}
				b.StopTimer()
				b.ReportMetric(float64(heap.Live()-before)/sites, "B/site")
				runtime.KeepAlive(all)
				runtime.KeepAlive(root)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkDrift_Reading is one reading of a root as before, and one that has a route more
// or less each time.
func BenchmarkDrift_Reading(b *testing.B) {
	g := provisioned(b, `{"platform":"cms","policies":{"access":{"login_only":true}}}`)
	s := g.sites[0]
	s.logger = zap.NewNop()
	var roots [2]*discover.Root
	for i, text := range []string{usualRoot(), usualRoot("GET /acme/v1/x")} {
		var err error
		if roots[i], err = discover.Discover(b.Context(), &s.Site, asktest.Answering(200, text), discover.Reach{Host: "shop.example"}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("parse", func(b *testing.B) {
		backend := asktest.Answering(200, usualRoot())
		b.ReportAllocs()
		for b.Loop() {
			if _, err := discover.Discover(b.Context(), &s.Site, backend, discover.Reach{Host: "shop.example"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.drift(b.Context(), roots[0], "shop.example", true)
		}
	})
	b.Run("changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			s.drift(b.Context(), roots[i%2], "shop.example", true)
		}
	})
}
