package terminal

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"
)

// TestPipe: a file, a pipe and a buffer are no terminals, and get neither colours nor
// progress.
func TestPipe(t *testing.T) {
	t.Parallel()
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	if Is(pipe) || Is(new(bytes.Buffer)) {
		t.Error("a pipe is no terminal")
	}
	if got := PaletteOf(pipe).Bad("x"); got != "x" {
		t.Errorf("%q", got)
	}
	p := NewProgress(pipe)
	p.Step("working") // nil is fine
	p.End()
	if p != nil {
		t.Error("a pipe has no progress")
	}
}

func TestPalette(t *testing.T) {
	t.Parallel()
	p := Palette{colours: true}
	if got := p.Bad("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := p.Good(""); got != "" {
		t.Errorf("%q", got)
	}
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

// TestProgress: nothing is shown of what is fast; what takes longer shows its steps and
// removes them.
func TestProgress(t *testing.T) {
	t.Parallel()
	var fast, slow screen
	p := after(&fast, time.Hour)
	p.Step("1 of 2")
	p.End()
	if got := fast.String(); got != "" {
		t.Errorf("%q", got)
	}
	p = after(&slow, 0)
	p.Step("1 of 2")
	for slow.String() == "" {
		time.Sleep(time.Millisecond)
	}
	p.Step("2 of 2")
	p.End()
	if got, want := slow.String(), "\r\x1b[K1 of 2\r\x1b[K2 of 2\r\x1b[K"; got != want && got != "\r\x1b[K"+want {
		t.Errorf("%q", got)
	}
}

// screen is a buffer for several goroutines.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
