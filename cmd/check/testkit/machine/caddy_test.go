package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCaddy_Given: tests run the program that the check has built, and build none.
func TestCaddy_Given(t *testing.T) {
	dir, given := t.TempDir(), filepath.Join(t.TempDir(), "given")
	t.Setenv(CaddyVariable, given)
	path, err := Caddy(t.Context(), dir)
	if built, _ := os.ReadDir(dir); path != given || err != nil || len(built) > 0 {
		t.Errorf("%s, %v, %d files, want %s", path, err, len(built), given)
	}
}
