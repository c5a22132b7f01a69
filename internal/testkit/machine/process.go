// Package machine is what the checks do to the machine: install packages, run
// commands, start servers and stop them again.
package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is a server that runs until it is stopped, in a process group of its
// own.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// Start starts a server; what it prints goes to a file in dir.
func Start(dir, name string, args ...string) (*Process, error) {
	path, err := LookPath(name)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	out, err := os.Create(filepath.Join(dir, base+".out"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	p := &Process{name: base, cmd: cmd, log: out.Name(), done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// ID returns the number of the process and of its group.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Stop ends the process and all that it started, first kindly.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	select {
	case <-p.done: // its number may be somebody else's by now
		return
	default:
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// Ready waits until probe succeeds; it fails at once when the process ends.
func (p *Process) Ready(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended: %w\n%s", p.name, err, p.output())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, p.output())
		case <-tick.C:
		}
	}
}

func (p *Process) output() string {
	out, _ := os.ReadFile(p.log)
	return string(out[max(0, len(out)-4096):])
}

// Run runs a command to its end and returns what it printed, both streams.
func Run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	path, err := LookPath(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), errors.Join(err, ctx.Err()))
	}
	return out.String(), nil
}

// FreePorts returns n ports of the loopback address that nobody listens on.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are open until the last is known, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// Connects is a probe: something listens there.
func Connects(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
