// Package machine works on the machine of tests and checks: it installs packages, runs
// commands, starts and stops servers, and finds addresses for them.
//
// Every child has a process group of its own, so that its own children end with it. On
// Windows, where the tests are built and not run, the children of a child go on.
package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Command prepares a command that ends with ctx, together with its children. LookPath
// finds a name without a slash.
func Command(ctx context.Context, dir, name string, args ...string) (*exec.Cmd, error) {
	path := name
	if !strings.Contains(name, "/") {
		var err error
		if path, err = LookPath(name); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return Signal(cmd, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	return cmd, nil
}

// Run runs a command to its end and returns its output, both streams. If ctx ended it,
// the error holds the cause.
func Run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd, err := Command(ctx, dir, name, args...)
	if err != nil {
		return "", err
	}
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), errors.Join(err, context.Cause(ctx)))
	}
	return out.String(), nil
}
