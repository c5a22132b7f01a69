package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// patience is how long a command may take before it shows its progress.
const patience = time.Second

// Progress is a line that tells how far a command is, if the command takes longer than a
// second and writes to a terminal. Its methods may be called on nil.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	timer *time.Timer
	text  string
	shown bool
}

// NewProgress returns the progress of what begins now. It is nil if w is no terminal. The
// caller must end it before anything else is written to the terminal.
func NewProgress(w io.Writer) *Progress {
	if !Is(w) {
		return nil
	}
	return after(w, patience)
}

func after(w io.Writer, wait time.Duration) *Progress {
	p := &Progress{w: w}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(wait, p.show)
	return p
}

// Step says what the command does now.
func (p *Progress) Step(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = fmt.Sprintf(format, args...)
	if p.shown {
		p.write()
	}
}

// End removes the line.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.timer = nil
	if p.shown {
		p.text, p.shown = "", false
		p.write()
	}
}

func (p *Progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.shown = true
		p.write()
	}
}

// write replaces the line. A terminal that cannot be written to has no reader.
func (p *Progress) write() { _, _ = io.WriteString(p.w, "\r\x1b[K"+p.text) }
