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
