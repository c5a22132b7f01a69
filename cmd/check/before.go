package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// beforeTag is the build tag of the tests that hold a program of before a change against
// that of the tree, beforeVariable names its path, and addedVariable
// the members of JSON that it need not have.
const (
	beforeTag      = "before"
	beforeVariable = "RESTWARDEN_BEFORE"
	addedVariable  = "RESTWARDEN_ADDED"
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
	names, err := addedNames(c.root, tree)
	if err != nil {
		c.results.fail("before", err.Error())
		return
	}
	c.goTestWith(ctx, &c.results, testLimit, []string{beforeVariable + "=" + program, addedVariable + "=" + strings.Join(names, ",")},
		"-tags="+beforeTag, "-count=1", "-run=^TestBefore", "-timeout="+testLimit.String(), "./caddymodule/drytest")
}

// addedNames returns the members of JSON, texts, that the list of names has in one tree and not in that
// of before. A tree of before without a list had all of them.
func addedNames(root, before string) (added []string, err error) {
	var lists [2][]string
	for i, tree := range []string{before, root} {
		text, err := os.ReadFile(filepath.Join(tree, "caddymodule/drytest/testdata/names.txt"))
		if err != nil && (i > 0 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		lists[i] = strings.Split(string(text), "\n")
	}
	if len(lists[0]) < 2 {
		return nil, nil
	}
	for _, line := range lists[1] {
		path, is := strings.CutSuffix(line, " string")
		if name := path[strings.LastIndexAny(path, ".] ")+1:]; is && !slices.Contains(lists[0], line) && !slices.Contains(added, name) {
			added = append(added, name)
		}
	}
	return added, nil
}
