package call

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestSpool_DiskFull: an error of the disk is the cause of the refusal, and the body goes on.
func TestSpool_DiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	rd, spool, _ := limited(t, 1<<30)
	b := &body{client: io.NopCloser(strings.NewReader(strings.Repeat("x", 100_000))), length: -1, spool: spool, memory: rd.site.Limits.Memory}
	b.file = &spoolFile{File: full, spool: spool}
	r := &http.Request{Header: http.Header{}}
	refusal := b.load(r, 1<<20)
	if refusal == nil || refusal.Status != 503 || refusal.Reason != "disk" || !DiskFails(refusal) || !errors.Is(refusal, syscall.ENOSPC) ||
		!strings.Contains(refusal.Error(), "no space left on device") {
		t.Errorf("%+v", refusal)
	}
	if got, err := io.ReadAll(b); len(got) != 100_000 || err != nil {
		t.Errorf("%d bytes go on, %v", len(got), err)
	}
	if spool.Bytes() != 0 {
		t.Errorf("%d bytes are counted", spool.Bytes())
	}
}

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
	if err != nil || len(found) == 0 || found[0].Code != "W14" || !strings.Contains(found[len(found)-1].Text, "4.0 EiB") {
		t.Errorf("%v, %v", found, err)
	}
	found, err = CheckSpool("/dev/shm", 0)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "/dev/shm, which is memory (tmpfs)") {
		t.Errorf("/dev/shm: %v, %v", found, err)
	}
}
