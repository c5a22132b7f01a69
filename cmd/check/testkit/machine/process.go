package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a server that runs until it is stopped, in a process group of its own.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// Server says how a server is started.
type Server struct {
	Name  string // the command
	Args  []string
	Dir   string     // the working directory, and the place of the output file
	Env   []string   // added to the environment of this process
	Files []*os.File // open files for the server, from number 3 on
}

// Start starts a server, with its output in a file in dir.
func Start(dir, name string, args ...string) (*Process, error) {
	return Server{Dir: dir, Name: name, Args: args}.Start()
}

// Start starts the server; it does not wait until the server is ready. The error says
// that there is no such command, or that it cannot run.
func (s Server) Start() (*Process, error) {
	cmd, err := Command(context.Background(), s.Dir, s.Name, s.Args...)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(cmd.Path)
	out, err := os.Create(filepath.Join(s.Dir, base+".out"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the child has its own
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), s.Env...)
	cmd.ExtraFiles = s.Files
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	p := &Process{name: base, cmd: cmd, log: out.Name(), done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // Ready reports how a server ended early
		close(p.done)
	}()
	return p, nil
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop ends the process and its children, by a signal first.
func (p *Process) Stop() { _ = p.End(10 * time.Second) }

// ErrKilled is returned for a process that did not end when it was asked to.
var ErrKilled = errors.New("it did not end, and was killed")

// End asks the process to end, by a signal. After limit it kills the process and its
// children, and returns ErrKilled.
func (p *Process) End(limit time.Duration) error {
	if !p.signal(syscall.SIGTERM) {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(limit):
		p.Kill()
		return fmt.Errorf("%s: %w", p.name, ErrKilled)
	}
}

// Kill ends the process and its children at once, as a crash would.
func (p *Process) Kill() {
	if p.signal(syscall.SIGKILL) {
		<-p.done
	}
}

// signal sends a signal to the process and its children. It tells whether there is
// anything to wait for.
func (p *Process) signal(s syscall.Signal) bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done: // the number may belong to another process by now
		return false
	default:
	}
	_ = Signal(p.cmd, s) // fails only if the process has ended
	return true
}

// Ready waits until probe succeeds; it fails at once when the process ends.
func (p *Process) Ready(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	go func() { // a probe may wait for an answer that never comes
		select {
		case <-p.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
		case <-ctx.Done():
		case <-tick.C:
		}
		switch {
		case p.ended():
			return fmt.Errorf("%s ended: %w\n%s", p.name, err, p.output())
		case ctx.Err() != nil:
			return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, p.output())
		}
	}
}

// ended tells whether the process has ended.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *Process) output() string {
	out, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(out[max(0, len(out)-4096):])
}
