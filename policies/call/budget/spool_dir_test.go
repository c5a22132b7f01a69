package budget

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCheckSpool: a directory in which no file can be made is an error that names it; one
// without enough room is a finding.
func TestCheckSpool(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "missing"): fs.ErrNotExist, file: syscall.ENOTDIR, dir: nil,
	} {
		_, err := CheckSpool(path, 1)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "restwarden-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
