package terminal

import (
	"slices"
	"strings"
)

// Aligned writes rows in columns. Colours take no width.
func Aligned(indent string, rows [][]string) string {
	var widths []int
	rows = bounded(rows)
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = min(max(widths[i], width(cell)), widest)
		}
	}
	var b strings.Builder
	for _, row := range rows {
		last := len(row) - 1
		for last > 0 && width(row[last]) == 0 {
			last--
		}
		b.WriteString(indent)
		for i, cell := range row[:last+1] {
			b.WriteString(cell)
			if i < last {
				b.WriteString(strings.Repeat(" ", max(widths[i]-width(cell), 0)+gap(widths[i])))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// gap is the space behind a column; one that is empty in all rows takes none.
func gap(width int) int {
	if width == 0 {
		return 0
	}
	return 2
}

// widest is the width from which a cell pushes the next one aside.
const widest = 76

// width is the number of characters that a terminal shows.
func width(text string) int {
	n, hidden := 0, false
	for _, c := range text {
		switch {
		case c == '\x1b':
			hidden = true
		case hidden:
			hidden = c != 'm'
		default:
			n++
		}
	}
	return n
}

// longest is the most of a cell that a table shows: a site may give its routes long names.
const longest = 500

// bounded returns rows with cells of at most longest characters. A cell with a colour stays:
// the program has written it.
func bounded(rows [][]string) [][]string {
	list := make([][]string, len(rows))
	for i, row := range rows {
		list[i] = slices.Clone(row)
		for j, cell := range row {
			if runes := []rune(cell); len(runes) > longest && !strings.Contains(cell, "\x1b") {
				list[i][j] = string(runes[:longest-1]) + "…"
			}
		}
	}
	return list
}
