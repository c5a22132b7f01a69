package budget

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestCheckSpool_Unwritable: a directory in which this user may make no file is an error,
// whoever runs the test.
func TestCheckSpool_Unwritable(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the user of files is one thread's
	defer runtime.UnlockOSThread()
	if os.Getuid() == 0 {
		const nobody = 65534
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	for path, want := range map[string]error{closed: fs.ErrPermission, "/proc": fs.ErrNotExist} {
		if _, err := CheckSpool(path, 1); !errors.Is(err, want) && !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// TestCheckSpool_Room: too little room, and a directory in memory, are findings.
func TestCheckSpool_Room(t *testing.T) {
	found, err := CheckSpool(t.TempDir(), 1<<62)
	if err != nil || len(found) == 0 || !strings.Contains(found[len(found)-1], "4.0 EiB") {
		t.Errorf("%v, %v", found, err)
	}
	found, err = CheckSpool("/dev/shm", 0)
	if err != nil || len(found) != 1 || !strings.Contains(found[0], "/dev/shm, which is memory (tmpfs)") {
		t.Errorf("/dev/shm: %v, %v", found, err)
	}
}
