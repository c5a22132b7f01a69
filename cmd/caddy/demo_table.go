package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// cells are a line of the table; widths are those of all columns but the last.
type (
	cells  [4]string
	widths [3]int
	paint  func(string) string
)

// tableOf returns the table of rows, attacks first, and how many were done.
func tableOf(rows []*tried, p terminal.Palette) string {
	head := cells{"ATTACKS", "BARE PLATFORM", "GATEWAY", "DECIDED BY"}
	var w widths
	w.fit(head)
	for _, t := range rows {
		w.fit(t.cells())
	}
	attacks := slices.IndexFunc(rows, func(t *tried) bool { return !t.attack })
	var b strings.Builder
	b.WriteString(w.line(head, p.Strong, p.Strong, p.Strong, p.Strong))
	for i, t := range rows {
		if i == attacks {
			b.WriteString("\n" + p.Strong("HONEST CALLS") + "\n")
		}
		b.WriteString(w.line(t.cells(), nil, t.colour(p, t.bare), t.colour(p, t.guarded), p.Faint))
	}
	bare, guarded := done(rows[:attacks])
	honestBare, honestGuarded := done(rows[attacks:])
	fmt.Fprintf(&b, "\nattacks: %d through on the bare platform, %d behind the gateway; honest calls: %d and %d\n", bare, guarded, honestBare, honestGuarded)
	return b.String()
}

// done counts the rows that were done, bare and behind the gateway.
func done(rows []*tried) (bare, guarded int) {
	for _, t := range rows {
		if t.bare.done {
			bare++
		}
		if t.guarded.done {
			guarded++
		}
	}
	return bare, guarded
}

func (t *tried) cells() cells {
	line := cells{t.what, t.bare.String(), t.guarded.String(), t.decided}
	if t.odd {
		line[3] += "  <- not as expected"
	}
	return line
}

// colour is good where an attack is not done, and an honest call is.
func (t *tried) colour(p terminal.Palette, r result) paint {
	if r.done != t.attack {
		return p.Good
	}
	return p.Bad
}

func (w *widths) fit(line cells) {
	for i := range w {
		w[i] = max(w[i], utf8.RuneCountInString(line[i]))
	}
}

// line writes a line in columns.
func (w *widths) line(line cells, colours ...paint) string {
	var b strings.Builder
	for i, cell := range line {
		if i < len(w) {
			cell += strings.Repeat(" ", w[i]-utf8.RuneCountInString(cell)+2)
		}
		if colours[i] != nil {
			cell = colours[i](cell)
		}
		b.WriteString(cell)
	}
	return b.String() + "\n"
}

// String is the cell of a result: "200, 5 user names" or "401 rest_not_logged_in".
func (r result) String() string {
	if r.got != "" {
		return fmt.Sprintf("%d, %s", r.answer.status, r.got)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.answer.status, r.answer.code()))
}
