package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

const (
	xcaddyVersion = "v0.4.5"
	xcaddyPackage = "github.com/caddyserver/xcaddy/cmd/xcaddy@" + xcaddyVersion
)

// xcaddyLimit bounds one build: the first of a version of Caddy compiles all that it needs, with flags of xcaddy's own.
const xcaddyLimit = 20 * time.Minute

// xcaddyPages have the lines that the step runs.
var xcaddyPages = []string{"README.md", "docs/install.md"}

// xcaddyClone stands in a line for the directory of a clone.
const xcaddyClone = "/path/to/the/clone"

// xcaddy runs the lines by which users build a Caddy with xcaddy, as written, in a fresh clone of HEAD, and tries what
// comes out. xcaddy fetches the module from a proxy, as it does once a version is published.
func (c *check) xcaddy(ctx context.Context) {
	dir, err := os.MkdirTemp("", "restwarden-xcaddy-")
	if err != nil {
		c.results.fail("xcaddy", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the directory for temporary files
	start := time.Now()
	x, out, err := newXcaddy(ctx, c.root, dir)
	c.results.verdict("xcaddy "+xcaddyVersion+", and HEAD as a module", time.Since(start), out, err)
	if err != nil {
		return
	}
	for i, line := range x.lines {
		start, own := time.Now(), filepath.Join(dir, fmt.Sprint("own", i))
		out, err := x.build(ctx, own, line)
		if err == nil {
			out, err = tryOwnCaddy(ctx, own, x.beside(line))
		}
		c.results.verdict(line, time.Since(start), out, err)
	}
	if err := x.proxy.forget(x.cache); err != nil {
		c.results.fail("the module cache", err.Error())
	}
}

// xcaddyLines returns the lines with xcaddy of a page, whatever block they are in.
func xcaddyLines(markdown string) (lines []string) {
	for line := range strings.Lines(markdown) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- run: ")
		if strings.HasPrefix(line, "xcaddy build ") && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// xcaddyIn is an xcaddy that finds HEAD in a module proxy.
type xcaddyIn struct {
	clone string
	lines []string
	proxy *moduleProxy
	env   []string
	cache string // the module cache
}

// newXcaddy installs xcaddy into dir, clones HEAD, and makes a module proxy of it and of the plugin.
func newXcaddy(ctx context.Context, root, dir string) (*xcaddyIn, string, error) {
	x := &xcaddyIn{clone: filepath.Join(dir, "clone"), proxy: &moduleProxy{dir: filepath.Join(dir, "proxy"), at: time.Now().UTC()}}
	bin, beside := filepath.Join(dir, "bin"), filepath.Join(dir, "beside")
	if out, err := machine.Run(ctx, dir, []string{"GOBIN=" + bin}, "go", "install", xcaddyPackage); err != nil {
		return nil, out, err
	}
	if out, err := output(ctx, time.Minute, root, "git", "clone", "--quiet", "--no-hardlinks", root, x.clone); err != nil {
		return nil, out, err
	}
	revision, err := output(ctx, time.Minute, x.clone, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, revision, err
	}
	oldest, err := oldestCaddy(x.clone)
	if err != nil {
		return nil, "", err
	}
	if err := errors.Join(writeBeside(beside, oldest), x.proxy.addHead(x.clone, strings.TrimSpace(revision)), x.proxy.addFiles(beside)); err != nil {
		return nil, "", err
	}
	settings, err := output(ctx, time.Minute, root, "go", "env", "GOPROXY", "GONOSUMDB", "GOMODCACHE")
	if err != nil {
		return nil, settings, err
	}
	values := strings.Split(settings, "\n")
	x.cache = values[2]
	x.env = append(x.proxy.environment(values[0], values[1]), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return x, "", x.readLines()
}

// readLines reads the lines of the pages.
func (x *xcaddyIn) readLines() error {
	for _, page := range xcaddyPages {
		text, err := os.ReadFile(filepath.Join(x.clone, page))
		if err != nil {
			return err
		}
		for _, line := range xcaddyLines(string(text)) {
			if !slices.Contains(x.lines, line) {
				x.lines = append(x.lines, line)
			}
		}
	}
	return nil
}

// oldestCaddy is the version of Caddy that the go.mod in dir requires.
func oldestCaddy(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "", err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == caddyModule {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod does not require %s", caddyModule)
}

// caddyModule is the name of Caddy's module.
const caddyModule = "github.com/caddyserver/caddy/v2"

// beside tells whether a Caddy gets the plugin, too. The line of the README is left as it is.
func (x *xcaddyIn) beside(line string) bool { return line != x.lines[0] }

// build runs a line in dir. The Caddy must be of the version that the line names.
func (x *xcaddyIn) build(ctx context.Context, dir, line string) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	run := strings.ReplaceAll(line, xcaddyClone, x.clone)
	if x.beside(line) {
		run += " --with " + besideModule
	}
	ctx, cancel := context.WithTimeoutCause(ctx, xcaddyLimit, fmt.Errorf("it took longer than %s", xcaddyLimit))
	defer cancel()
	out, err := machine.Run(ctx, dir, x.env, "bash", "-euo", "pipefail", "-c", run)
	if err != nil {
		return out, err
	}
	out, err = output(ctx, time.Minute, dir, "./caddy", "version")
	if named := strings.Fields(line)[2]; err == nil && named[0] == 'v' && !strings.HasPrefix(out, named+" ") {
		err = errors.New("it is another Caddy than the line names")
	}
	return out, err
}
