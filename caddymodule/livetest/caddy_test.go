package livetest

import (
	"testing"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// block is one site: the directives between its braces, and whether it is over TLS.
type block = caddyrun.Site

// run starts Caddy with these sites until the test ends and returns their
// addresses in order. options are more global options.
func run(tb testing.TB, options string, sites ...block) []string {
	tb.Helper()
	f := &caddyrun.File{Global: options, Sites: sites}
	caddyrun.Start(tb, f)
	return f.Addresses()
}

// everywhere returns a Caddyfile of sites with these directives, each reachable by every
// protocol. Once it runs, at returns their addresses for one.
func everywhere(options string, bodies ...string) (f *caddyrun.File, at func(protocol string) []string) {
	f = &caddyrun.File{Global: options}
	for _, body := range bodies {
		f.Sites = append(f.Sites, block{Body: body}, block{Secure: true, Body: "\ttls internal\n" + body})
	}
	return f, func(protocol string) (its []string) {
		for _, s := range f.Sites {
			if s.Secure == (protocol != http1) {
				its = append(its, s.Address)
			}
		}
		return its
	}
}

// runEverywhere is run for sites that every protocol reaches.
func runEverywhere(tb testing.TB, options string, bodies ...string) (at func(protocol string) []string) {
	tb.Helper()
	f, at := everywhere(options, bodies...)
	caddyrun.Start(tb, f)
	return at
}
