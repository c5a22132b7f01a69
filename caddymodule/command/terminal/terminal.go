// Package terminal says what a command may write to a terminal, and to anything else.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is tells whether a reader or a writer is a terminal.
func Is(w any) bool {
	for {
		wrapped, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = wrapped.Unwrap()
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Palette colours text. The zero Palette leaves text as it is.
type Palette struct{ colours bool }

// PaletteOf returns the palette for w: with colours if w is a terminal that knows them and
// the environment has no NO_COLOR (https://no-color.org).
func PaletteOf(w io.Writer) Palette {
	return Palette{Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Good is for what is as it should be.
func (p Palette) Good(text string) string { return p.paint("32", text) }

// Bad is for what is not as it should be.
func (p Palette) Bad(text string) string { return p.paint("31", text) }

// Odd is for what somebody should look at.
func (p Palette) Odd(text string) string { return p.paint("33", text) }

// Faint is for what matters less, such as places.
func (p Palette) Faint(text string) string { return p.paint("2", text) }

// Strong is for headings.
func (p Palette) Strong(text string) string { return p.paint("1", text) }

func (p Palette) paint(code, text string) string {
	if !p.colours || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
