package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// result is what one kind of configuration takes.
type result struct {
	kind
	start, reload, again, used state // again is a reload of what the admin endpoint tells, as JSON
	json                       int   // bytes that the Caddyfile is adapted to
	indexes                    int   // how many sites' indexes were read
}

type results []result

// phases are what each kind goes through.
var phases = []struct {
	name string
	of   func(result) state
}{
	{"start", func(r result) state { return r.start }},
	{"reload", func(r result) state { return r.reload }},
	{"reload of JSON", func(r result) state { return r.again }},
	{"three requests each", func(r result) state { return r.used }},
}

// String writes the results as a table, with ratios to the first.
func (rs results) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	cells := []string{""}
	for i, r := range rs {
		cells = append(cells, r.title)
		if i > 0 {
			cells = append(cells, "ratio")
		}
	}
	row(w, cells)
	for _, phase := range phases {
		rs.line(w, phase.name+": CPU", "%.2f s", func(r result) float64 { return phase.of(r).cpu.Seconds() })
		rs.line(w, "memory", "%.0f MiB", func(r result) float64 { return float64(phase.of(r).resident) / (1 << 20) })
		rs.line(w, "live objects", "%.0f MiB", func(r result) float64 { return float64(phase.of(r).heap) / (1 << 20) })
	}
	rs.line(w, "adapted JSON", "%.0f KiB", func(r result) float64 { return float64(r.json) / (1 << 10) })
	rs.line(w, "indexes read", "%.0f", func(r result) float64 { return float64(r.indexes) })
	_ = w.Flush() // a Builder takes everything
	return b.String()
}

// The gateway takes at most as much as Caddy does without it, and what it has by itself.
const (
	mostRatio   = 2
	ownResident = 40 << 20
	ownHeap     = 8 << 20
	ownJSON     = 16 << 10 // of each different directive once
)

// judge returns an error where the gateway keeps more memory than it may, or makes more JSON.
func (rs results) judge() error {
	var errs []error
	bare := rs[0]
	for _, r := range rs[1:] {
		exceeds := func(what string, got, bare, own int64) {
			if most := mostRatio*bare + own; got > most {
				errs = append(errs, fmt.Errorf("%s: %s: %d KiB, more than %d KiB (%d times %d KiB, and %d KiB)",
					r.title, what, got>>10, most>>10, mostRatio, bare>>10, own>>10))
			}
		}
		for _, phase := range phases {
			exceeds(phase.name+": memory", phase.of(r).resident, phase.of(bare).resident, ownResident)
			exceeds(phase.name+": live objects", phase.of(r).heap, phase.of(bare).heap, ownHeap)
		}
		exceeds("adapted JSON", int64(r.json), int64(bare.json), ownJSON)
	}
	return errors.Join(errs...)
}

// line writes one quantity of all results.
func (rs results) line(w io.Writer, name, format string, of func(result) float64) {
	cells := []string{name}
	for i, r := range rs {
		cells = append(cells, fmt.Sprintf(format, of(r)))
		switch base := of(rs[0]); {
		case i > 0 && base > 0:
			cells = append(cells, fmt.Sprintf("%.1f", of(r)/base))
		case i > 0:
			cells = append(cells, "")
		}
	}
	row(w, cells)
}

// row writes to a writer of memory, which takes everything.
func row(w io.Writer, cells []string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
}
