package terminal

import (
	"os"
	"testing"
)

// openTerminal returns a terminal that nobody reads.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no /dev/ptmx")
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
