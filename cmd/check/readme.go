package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// readme tries the commands of the README as a new user would: in a fresh clone of HEAD,
// one after the other, as written.
func (c *check) readme(ctx context.Context) {
	dir, err := os.MkdirTemp("", "restwarden-readme-")
	if err != nil {
		c.results.fail("clone", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	clone := filepath.Join(dir, "restwarden")
	start := time.Now()
	out, err := output(ctx, time.Minute, c.root, "git", "clone", "--quiet", "--no-hardlinks", c.root, clone)
	c.results.verdict("git clone of HEAD", time.Since(start), out, err)
	if err != nil {
		return
	}
	text, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		c.results.fail("README.md", err.Error())
		return
	}
	commands := shellCommands(string(text))
	for _, required := range append([]string{demoCommand, checkCommand, refusalCommand}, newUserCommands...) {
		if !contains(commands, required) {
			c.results.fail(required, "the README does not name this command")
		}
	}
	user, err := newUserOf(clone, string(text))
	if err != nil {
		c.results.fail("the README's own site", err.Error())
		return
	}
	for _, line := range commands {
		if len(xcaddyLines(line)) > 0 {
			continue // of the step xcaddy
		}
		start, try := time.Now(), func(ctx context.Context, line string) (string, error) { return tryCommand(ctx, clone, line) }
		if user.does(line) {
			try = user.try
		}
		out, err := try(ctx, line)
		c.results.verdict(line, time.Since(start), out, err)
	}
	if err := user.close(ctx); err != nil {
		c.results.fail("the README's own site", err.Error())
	}
}

const (
	demoCommand  = "./caddy restwarden demo"
	checkCommand = "go run ./cmd/check"

	refusalCommand = "go test -tags wordpress ./cmd/check/wordpress -run '^$' -bench Refusal"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// shellCommands returns the lines of all sh blocks, without comments and with
// continued lines joined.
func shellCommands(markdown string) []string {
	var commands []string
	for _, m := range shellBlock.FindAllStringSubmatch(markdown, -1) {
		for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
				commands = append(commands, line)
			}
		}
	}
	return commands
}

func contains(commands []string, command string) bool {
	for _, c := range commands {
		if c == command || strings.HasPrefix(c, command+" ") {
			return true
		}
	}
	return false
}

// tryCommand runs one line of the README in dir. The demo serves until it is
// stopped, the check is under way already, and its step wordpress runs the benchmark.
func tryCommand(ctx context.Context, dir, line string) (string, error) {
	switch {
	case line == checkCommand:
		return output(ctx, toolLimit, dir, "go", "run", "./cmd/check", "--list")
	case strings.HasPrefix(line, refusalCommand):
		return lists(ctx, dir, line, "BenchmarkRefusal")
	case strings.HasPrefix(line, demoCommand):
		return tryDemo(ctx, dir, "./caddy", "restwarden", "demo")
	}
	return output(ctx, toolLimit, dir, "bash", "-euo", "pipefail", "-c", line)
}

// lists holds that a line with go test knows the benchmark, and runs nothing.
func lists(ctx context.Context, dir, line, benchmark string) (string, error) {
	out, err := output(ctx, toolLimit, dir, "bash", "-euo", "pipefail", "-c", line+" -list "+benchmark)
	if err == nil && !strings.Contains(out, benchmark+"\n") {
		err = fmt.Errorf("there is no %s", benchmark)
	}
	return out, err
}
