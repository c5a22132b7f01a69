package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// cells are a line of the table.
type cells [4]string

// tableOf returns the table of rows, and how many were done.
func tableOf(rows []*tried, p terminal.Palette) string {
	lines := []cells{{"ATTACKS", "BARE PLATFORM", "GATEWAY", "DECIDED BY"}}
	for _, t := range rows {
		line := cells{t.what, t.bare.String(), t.guarded.String(), t.decided}
		if t.odd {
			line[3] += "  <- not as expected"
		}
		lines = append(lines, line)
	}
	var widths [3]int
	for _, line := range lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	write := func(b *strings.Builder, line cells, paint [4]func(string) string) {
		for i, cell := range line {
			if i < len(widths) {
				cell += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
			}
			b.WriteString(paint[i](cell))
		}
		b.WriteString("\n")
	}
	plain := func(text string) string { return text }
	var b strings.Builder
	write(&b, lines[0], [4]func(string) string{p.Strong, p.Strong, p.Strong, p.Strong})
	counts := map[bool][2]int{} // by attack: bare, guarded
	attacks := true
	for i, t := range rows {
		if attacks && !t.attack {
			attacks = false
			b.WriteString("\n" + p.Strong("HONEST CALLS") + "\n")
		}
		colour := func(r result) func(string) string {
			if r.done != t.attack {
				return p.Good
			}
			return p.Bad
		}
		write(&b, lines[i+1], [4]func(string) string{plain, colour(t.bare), colour(t.guarded), p.Faint})
		n := counts[t.attack]
		counts[t.attack] = [2]int{n[0] + count(t.bare.done), n[1] + count(t.guarded.done)}
	}
	a, h := counts[true], counts[false]
	fmt.Fprintf(&b, "\nattacks: %d through on the bare platform, %d behind the gateway; honest calls: %d and %d\n", a[0], a[1], h[0], h[1])
	return b.String()
}

func count(done bool) int {
	if done {
		return 1
	}
	return 0
}
