package main

import (
	"context"
	"slices"
	"strings"
)

const module = "github.com/restwarden/restwarden"

// servers are packages that tests link which need more than Go: a whole Caddy, a Redis, a
// browser, curl, or a gateway with many sites. Such tests are no part of --fast.
var servers = []string{
	"github.com/caddyserver/caddy/v2/modules/caddyhttp",
	module + "/cmd/check/testkit/redisrun",
	module + "/cmd/check/testkit/browser",
	module + "/cmd/check/scale",
	module + "/caddymodule/command/curl",
}

// testFast runs the tests of packages that need none of servers. The go command keeps what passed,
// so that a package is tested again only where something that it is made of has changed.
func (c *check) testFast(ctx context.Context) {
	out, err := output(ctx, toolLimit, c.root, "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	if err != nil {
		c.results.fail("go list", out+"\n"+err.Error())
		return
	}
	fast, left := testable(out)
	c.goTest(ctx, &c.results, fast...)
	c.results.leave("the race detector")
	c.results.leave("the tests of " + strings.ReplaceAll(strings.Join(left, ", "), module+"/", ""))
}

// testable sorts the packages with tests, of which list has the dependencies, by whether these
// tests need one of servers.
func testable(list string) (fast, left []string) {
	for line := range strings.Lines(list) {
		path, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		pkg, isTest := strings.CutSuffix(path, ".test")
		if !isTest {
			continue
		}
		if slices.ContainsFunc(strings.Fields(deps), func(dep string) bool { return slices.Contains(servers, dep) }) {
			left = append(left, pkg)
		} else {
			fast = append(fast, pkg)
		}
	}
	return fast, left
}
