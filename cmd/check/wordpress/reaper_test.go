//go:build wordpress

package wordpress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
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
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 3
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
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
	return s.startServer(machine.Server{Dir: s.dir, Name: name, Args: args})
}

// startServer is start for a server with an environment of its own.
func (s *stack) startServer(server machine.Server) (*machine.Process, error) {
	p, err := server.Start()
	if err != nil {
		return nil, err
	}
	s.children = append(s.children, p)
	_, err = fmt.Fprintln(s.reaper.pipe, p.PID())
	return p, err
}

// TestReaper: servers end with the process that started them, and with what they have
// started; their directory is removed.
func TestReaper(t *testing.T) {
	s := &stack{dir: filepath.Join(t.TempDir(), "servers")}
	err := os.Mkdir(s.dir, 0o700)
	if err == nil {
		s.reaper, err = startReaper(s.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.start("sh", "-c", "sleep 60; true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	if err := errors.Join(s.reaper.pipe.Close(), s.reaper.cmd.Wait()); err != nil { // as if this process had died
		t.Fatal(err)
	}
	for range 100 { // until what has ended is no process any more
		if err = syscall.Kill(-p.PID(), 0); err != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the server is still there: %v", err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory is still there: %v", err)
	}
}
