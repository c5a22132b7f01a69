// Package caddyrun runs Caddy for tests, from a Caddyfile in parts: in the process of the
// test, which can run one at a time, or as a program of its own, built from this module.
//
// It does not import the module: a test that runs Caddy in its own process imports the
// directives that its Caddyfile names.
package caddyrun

import (
	"strings"
	"syscall"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// attempts is how often Start tries other addresses if another process has taken the free
// ones.
const attempts = 5

// Start gives an address to each site of f that has none, and runs Caddy with f until the
// test ends.
func Start(tb testing.TB, f *File) {
	tb.Helper()
	tb.Setenv("XDG_DATA_HOME", tb.TempDir()) // where what is switched on is kept
	var open []*Site
	for i := range f.Sites {
		if f.Sites[i].Address == "" {
			open = append(open, &f.Sites[i])
		}
	}
	for attempt := 0; ; attempt++ {
		for i, address := range machine.FreeAddresses(tb, len(open)) {
			open[i].Address = address
		}
		err := caddy.Load(f.config(tb), true)
		if err == nil {
			break
		}
		if inUse := strings.Contains(err.Error(), syscall.EADDRINUSE.Error()); attempt == attempts || !inUse { // Caddy does not wrap it
			tb.Fatal(err)
		}
	}
	StopAfter(tb)
}

// Load replaces the running configuration by f: Caddy reloads.
func Load(tb testing.TB, f *File) {
	tb.Helper()
	if err := Reload(tb, f)(); err != nil {
		tb.Fatal(err)
	}
}

// Reload returns a function that reloads, for a test that goes on meanwhile.
func Reload(tb testing.TB, f *File) func() error {
	tb.Helper()
	config := f.config(tb)
	return func() error { return caddy.Load(config, true) }
}

func (f *File) config(tb testing.TB) []byte {
	tb.Helper()
	if f.storage == "" && f.secure() {
		f.storage = tb.TempDir()
	}
	return Adapt(tb, f.String())
}

// Stop stops the Caddy of this process.
func Stop(tb testing.TB) {
	tb.Helper()
	if err := caddy.Stop(); err != nil {
		tb.Error(err)
	}
}

// StopAfter stops the Caddy of this process when the test ends.
func StopAfter(tb testing.TB) {
	tb.Helper()
	tb.Cleanup(func() { Stop(tb) })
}
