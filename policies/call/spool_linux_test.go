package call

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/restwarden/restwarden/policies/call/budget"
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
	if b.file, err = spool.Create(budget.Holder{}); err != nil {
		t.Fatal(err)
	}
	defer func(file *os.File) { _ = file.Close() }(b.file.File)
	b.file.File = full
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
