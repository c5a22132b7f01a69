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
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestTerminal: on a terminal, NO_COLOR and a dumb terminal switch colours off.
func TestTerminal(t *testing.T) {
	pty := openTerminal(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if !PaletteOf(pty).colours {
		t.Error("a terminal has colours")
	}
	t.Setenv("NO_COLOR", "1")
	if PaletteOf(pty).colours {
		t.Error("colours in spite of NO_COLOR")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if PaletteOf(pty).colours {
		t.Error("colours on a dumb terminal")
	}
	p := NewProgress(pty)
	if p == nil {
		t.Fatal("a terminal has progress")
	}
	p.End()
}
