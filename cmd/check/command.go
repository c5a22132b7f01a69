package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// command prepares a child in a process group of its own: what it starts ends
// with it, by its id, when ctx does.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	return cmd
}

// signalGroup reaches the children of `go run` too. It must be called before
// Wait returns, while the id is certainly still the child's.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, s)
}

// output runs a command to its end and returns what it printed, both streams.
func output(ctx context.Context, limit time.Duration, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := command(ctx, dir, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (limit %s)", context.Cause(ctx), limit)
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out.String(), err
}
