//go:build unix

package machine

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Signal sends s to a command that was started and to all that it has started. It
// must be called before Wait returns, while the number is certainly the command's.
func Signal(cmd *exec.Cmd, s syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, s)
}

// lockByte tells whether no other process has locked the byte of f at this offset, and
// locks it until this process ends.
func lockByte(f *os.File, offset int64) bool {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: offset, Len: 1}
	return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock) == nil
}
