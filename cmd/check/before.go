package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// beforeTag is the build tag of the tests that hold a program of before a change against
// that of the tree, and beforeVariable names its path.
const (
	beforeTag      = "before"
	beforeVariable = "RESTWARDEN_BEFORE"
)

// holdAgainst is the step that builds Caddy from a revision and holds the one of the tree
// against it: for a change of the structure, which changes nothing that anybody sees.
func holdAgainst(revision string) step {
	return step{name: "before", what: "the gateway does what that of " + revision + " did", run: func(c *check, ctx context.Context) {
		c.before(ctx, revision)
	}}
}

func (c *check) before(ctx context.Context, revision string) {
	dir, err := os.MkdirTemp("", "restwarden-before-")
	if err != nil {
		c.results.fail("before", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the directory for temporary files
	tree, program := filepath.Join(dir, "tree"), filepath.Join(dir, "caddy")
	start := time.Now()
	out, err := output(ctx, toolLimit, c.root, "git", "worktree", "add", "--detach", tree, revision)
	if err == nil {
		defer func() {
			_, _ = machine.Run(context.WithoutCancel(ctx), c.root, nil, "git", "worktree", "remove", "--force", tree)
		}()
		out, err = output(ctx, toolLimit, tree, "go", "build", "-o", program, "./cmd/caddy")
	}
	c.results.verdict("go build ./cmd/caddy", time.Since(start), out, err)
	if err != nil {
		return
	}
	c.goTestWith(ctx, &c.results, testLimit, []string{beforeVariable + "=" + program},
		"-tags="+beforeTag, "-count=1", "-run=^TestBefore", "-timeout="+testLimit.String(), "./caddymodule/drytest")
}
