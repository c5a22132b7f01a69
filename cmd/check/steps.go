package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// step is one part of the check. It reports to the results itself.
type step struct {
	name, what string
	run        func(*check, context.Context)
	fast       bool // part of --fast: it installs nothing, and is quick where little has changed
}

// steps are all parts, cheap before expensive.
var steps = []step{
	{"setup", "Debian packages that the tests need", (*check).setUp, false},
	{"format", "gofmt -l finds nothing", (*check).format, true},
	{"tidy", "go.mod and go.sum are tidy", goCommand("mod", "tidy", "-diff"), true},
	{"build", "everything builds", goCommand("build", "./..."), true},
	{"vet", "go vet", goCommand("vet", "-tags="+allTags, "./..."), true},
	{"lint", "golangci-lint " + linterVersion + " finds nothing, nor does actionlint " + actionlintVersion, (*check).lint, false},
	{"cross", "everything compiles for other systems, with --nightly Caddy is built, too", (*check).cross, false},
	{"test", "all tests but those of the step measure, with the race detector, in random order; with --fast those that need no server", (*check).test, true},
	{"measure", "the tests that the race detector would only slow: of memory, and long comparisons", (*check).measure, false},
	{"mutation", "the list of accepted mutants fits the code, with --nightly the tests of what decides notice all others", (*check).mutation, false},
	{"fuzz", "every fuzz target for a short time", (*check).fuzz, false},
	{"ossfuzz", "fuzz targets by libFuzzer, built as OSS-Fuzz builds them; with --nightly all", (*check).ossFuzz, false},
	{"php", "queries, forms and multipart bodies are read as PHP itself reads them", (*check).php, false},
	{"bench", "every benchmark once", (*check).bench, false},
	{"latency", "calls while a shop is busy: without the directive beside with it, in six weathers", (*check).latency, false},
	{"readme", "the commands of the README in a fresh clone of HEAD", (*check).readme, false},
	{"xcaddy", "the lines with xcaddy " + xcaddyVersion + " of README and docs/install.md, with HEAD as a published module", (*check).xcaddy, false},
	{"release", "a release, twice, and once more as its workflow makes it: the Debian package and the container of it are tried", (*check).release, false},
	{"agents", "the clients that agents use, from npm, before the gateway", (*check).agents, false},
	{"clients", "the shop's client library, from npm, before the gateway and without it", (*check).clients, false},
	{"grafana", "the dashboard is of the form that Grafana's types from npm say", (*check).grafana, false},
	{"wordpress", "WordPress itself behind the gateway, also in a browser", (*check).wordpress, false},
	{"evidence", "the figures of README are what this run has counted", (*check).holdEvidence, false},
}

// allTags are the build tags of what is not always built.
const allTags = wordpressTag + "," + frankenTag + "," + agentsTag + "," + clientsTag + "," + grafanaTag + "," + beforeTag

// The pinned version is the one whose findings the tree is free of. Editors and
// CI have no version of their own.
const (
	linterVersion = "v2.15.0"
	linter        = "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@" + linterVersion

	actionlintVersion = "v1.7.12"
	actionlint        = "github.com/rhysd/actionlint/cmd/actionlint@" + actionlintVersion
)

// toolLimit bounds one command of the tool chain; the first build of all
// dependencies on two cores takes minutes.
const toolLimit = 10 * time.Minute

func (c *check) setUp(ctx context.Context) {
	start := time.Now()
	out, err := machine.Install(ctx, debianPackages)
	c.results.verdict("packages", time.Since(start), out, err)
}

func (c *check) format(ctx context.Context) {
	start := time.Now()
	out, err := output(ctx, toolLimit, c.root, "gofmt", "-l", ".")
	if err == nil && strings.TrimSpace(out) != "" {
		err = fmt.Errorf("not formatted")
	}
	c.results.verdict("gofmt", time.Since(start), out, err)
}

// goCommand is a step that passes if the go command does.
func goCommand(args ...string) func(*check, context.Context) {
	return func(c *check, ctx context.Context) {
		start := time.Now()
		out, err := output(ctx, toolLimit, c.root, "go", args...)
		c.results.verdict("go "+strings.Join(args, " "), time.Since(start), out, err)
	}
}

// lintLimit bounds one run of the linter; the first also builds the linter, which
// takes a core five minutes.
const lintLimit = 20 * time.Minute

// lint runs the linters of .golangci.yml over what is always built, then over
// what only tags build, and the linter of workflows.
func (c *check) lint(ctx context.Context) {
	start := time.Now()
	out, err := output(ctx, lintLimit, c.root, "go", "run", actionlint)
	c.results.verdict("actionlint", time.Since(start), out, err)
	for _, args := range [][]string{{"./..."}, {"--build-tags=" + allTags, "./..."}} {
		start := time.Now()
		out, err := output(ctx, lintLimit, c.root, "go", append([]string{"run", linter, "run"}, args...)...)
		c.results.verdict("golangci-lint run "+strings.Join(args, " "), time.Since(start), out, err)
	}
}
