//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"github.com/restwarden/restwarden/internal/testkit/machine"
)

// guard is a child that ends all servers and removes their directory once this process
// has died without doing so: by an interrupt, a panic or the time limit of go test.
type guard struct {
	cmd   *exec.Cmd
	pipe  io.WriteCloser
	alive bool
}

// guardScript reads process groups until its input ends, which it does with the process
// that holds the other end. $1 is the directory.
const guardScript = `
groups=
while read -r group; do groups="$groups $group"; done
for group in $groups; do kill -TERM -- "-$group" 2>/dev/null; done
sleep 3
for group in $groups; do kill -KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
`

// startGuard starts a guard in a process group of its own, which outlives this one's.
func startGuard(dir string) (*guard, error) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", guardScript, "guard", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &guard{cmd: cmd, pipe: pipe, alive: true}, cmd.Start()
}

// dismiss ends a guard that has nothing left to do.
func (g *guard) dismiss() {
	if g == nil || !g.alive {
		return
	}
	g.alive = false
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // it was killed
	_ = g.pipe.Close()
}

// start starts a server of the set-ups, which ends with them.
func (s *stack) start(name string, args ...string) (*machine.Process, error) {
	p, err := machine.Start(s.dir, name, args...)
	if err != nil {
		return nil, err
	}
	s.children = append(s.children, p)
	_, err = fmt.Fprintln(s.guard.pipe, p.ID())
	return p, err
}
