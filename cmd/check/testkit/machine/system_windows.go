package machine

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Signal ends a command that was started, whatever the signal: Windows has no other.
func Signal(cmd *exec.Cmd, _ syscall.Signal) error { return cmd.Process.Kill() }

// lockByte locks nothing: Windows lets no two servers listen on one port, so that a port
// which is not reserved is a failure to start and not a wrong answer.
func lockByte(*os.File, int64) bool { return true }
