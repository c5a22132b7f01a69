package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// crossSystems are those that everything builds for, beside the check's own. A whole build
// for one of them takes minutes: with --nightly, and in the workflow ci.
var crossSystems = []string{"windows/amd64", "linux/arm64", "freebsd/amd64", "darwin/arm64"}

// emulated is the one whose Caddy runs here, too.
const emulated = "linux/arm64"

// emulator runs its programs.
var emulator = machine.Package{Name: "qemu-user-static", Command: "qemu-aarch64-static"}

// cross compiles everything for other systems, tests included, as far as errors need it.
// With --nightly it also builds Caddy, and tries the one that an emulator runs.
func (c *check) cross(ctx context.Context) {
	for _, system := range crossSystems {
		start := time.Now()
		out, err := c.compiles(ctx, system)
		c.results.verdict(system+": compiles", time.Since(start), out, err)
	}
	if c.nightly == 0 {
		return
	}
	dir, err := os.MkdirTemp("", "restwarden-cross-")
	if err != nil {
		c.results.fail("cross", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, system := range crossSystems {
		binary := filepath.Join(dir, strings.ReplaceAll(system, "/", "-"))
		if c.crossBuild(ctx, system, binary) && system == emulated {
			c.emulate(ctx, dir, binary)
		}
	}
}

// environmentOf is that of the go command for another system.
func environmentOf(system string) []string {
	goos, goarch, _ := strings.Cut(system, "/")
	return []string{"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0"}
}

// compiles type-checks all packages with their tests, and of their dependencies what they
// declare: that finds what a system does not have, in a twentieth of a build's time.
func (c *check) compiles(ctx context.Context, system string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolLimit)
	defer cancel()
	config := &packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes,
		Context: ctx, Dir: c.root, Env: append(os.Environ(), environmentOf(system)...), Tests: true,
	}
	loaded, err := packages.Load(config, "./...")
	if err == nil && len(loaded) == 0 {
		err = errors.New("there is no package")
	}
	var found []string
	for _, p := range loaded {
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	}
	if len(found) > 0 {
		err = fmt.Errorf("%d errors", len(found))
	}
	return strings.Join(found, "\n"), err
}

// crossBuild builds Caddy for another system, without C.
func (c *check) crossBuild(ctx context.Context, system, binary string) bool {
	ctx, cancel := context.WithTimeout(ctx, toolLimit)
	defer cancel()
	start := time.Now()
	out, err := machine.Run(ctx, c.root, environmentOf(system), "go", "build", "-o", binary, "./cmd/caddy")
	c.results.verdict(system+": go build ./cmd/caddy", time.Since(start), out, err)
	return err == nil
}

// emulate tries the demo of a Caddy for another processor, as the step readme does.
func (c *check) emulate(ctx context.Context, dir, binary string) {
	start := time.Now()
	out, err := machine.Install(ctx, []machine.Package{emulator})
	if err == nil {
		out, err = tryDemo(ctx, dir, emulator.Command, binary, "restwarden", "demo")
	}
	c.results.verdict(emulated+": the demo, by "+emulator.Command, time.Since(start), out, err)
}
