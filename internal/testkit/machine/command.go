// Package machine is what tests and checks do to the machine that they run on:
// install packages, run commands, start servers and stop them again, and find
// addresses for them.
//
// Every child has a process group of its own, so that what it has started ends
// with it.
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

// Command prepares a command that ends with ctx, with all that it has started. A
// name without a slash is looked for as LookPath does.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return Signal(cmd, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	return cmd, nil
}

// Signal sends s to a command that was started and to all that it has started. It
// must be called before Wait returns, while the number is certainly the command's.
func Signal(cmd *exec.Cmd, s syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, s)
}

// Run runs a command to its end and returns what it printed, both streams. Where
// ctx ended it, the error holds the cause of that.
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
