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
	indexes                    int   // how many sites' indexes were read
}

type results []result

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
	for _, phase := range []struct {
		name string
		of   func(result) state
	}{
		{"start", func(r result) state { return r.start }},
		{"reload", func(r result) state { return r.reload }},
		{"reload of JSON", func(r result) state { return r.again }},
		{"three requests each", func(r result) state { return r.used }},
	} {
		rs.line(w, phase.name+": CPU", "%.2f s", func(r result) float64 { return phase.of(r).cpu.Seconds() })
		rs.line(w, "memory", "%.0f MiB", func(r result) float64 { return float64(phase.of(r).resident) / (1 << 20) })
		rs.line(w, "live objects", "%.0f MiB", func(r result) float64 { return float64(phase.of(r).heap) / (1 << 20) })
	}
	rs.line(w, "indexes read", "%.0f", func(r result) float64 { return float64(r.indexes) })
	_ = w.Flush() // a Builder takes everything
	return b.String()
}

// Bounds of the live objects after the requests: a multiple of those without the directive,
// and what the gateway has by itself.
const (
	heapRatio = 2.5
	heapOwn   = 20 << 20
)

// judge returns an error where the gateway keeps more memory than it may: what it has read of
// the sites must not stay.
func (rs results) judge() error {
	var errs []error
	for _, r := range rs[1:] {
		if most := heapRatio*float64(rs[0].used.heap) + heapOwn; float64(r.used.heap) > most {
			errs = append(errs, fmt.Errorf("%s: %d MiB are live after the requests, more than %.0f MiB (%.1f times %d MiB, and %d MiB)",
				r.title, r.used.heap>>20, most/(1<<20), heapRatio, rs[0].used.heap>>20, heapOwn>>20))
		}
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
