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

// reaper is a child that ends all servers and removes their directory once this process
// has died without doing so: by an interrupt, a panic or the time limit of go test.
type reaper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// reaperScript reads process groups until its input ends, which it does with the process
// that holds the other end. $1 is the directory.
const reaperScript = `
groups=
while read -r group; do groups="$groups $group"; done
for group in $groups; do kill -TERM -- "-$group" 2>/dev/null; done
sleep 3
for group in $groups; do kill -KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
`

// startReaper starts a reaper in a process group of its own, which outlives this one's.
func startReaper(dir string) (*reaper, error) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", reaperScript, "reaper", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &reaper{cmd: cmd, pipe: pipe}, nil
}

// dismiss ends a reaper that has nothing left to do.
func (r *reaper) dismiss() {
	if r == nil {
		return
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was killed
	_ = r.pipe.Close()
}

// start starts a server of the set-ups, which ends with them.
func (s *stack) start(name string, args ...string) (*machine.Process, error) {
	p, err := machine.Start(s.dir, name, args...)
	if err != nil {
		return nil, err
	}
	s.children = append(s.children, p)
	_, err = fmt.Fprintln(s.reaper.pipe, p.ID())
	return p, err
}
