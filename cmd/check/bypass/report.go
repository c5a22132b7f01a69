package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// report is what came of a trial.
type report struct {
	Route string `json:"route"`
	Seed  uint64 `json:"seed"`
	row
	Kinds []row `json:"kinds"`
}

// row is what came of the requests of one kind, or of all.
type row struct {
	Kind    string `json:"kind,omitempty"`
	Sent    int    `json:"sent"`
	Run     int    `json:"run"`     // by the platform
	Stopped int    `json:"stopped"` // of them, by the proxy
	Past    int    `json:"past"`    // of them, the proxy
	// Example is the shortest of those that got past, and Shown the same for people.
	Example []byte `json:"example,omitempty"`
	Shown   string `json:"shown,omitempty"`
}

func (t *trial) report(outcomes []outcome) *report {
	r := &report{Route: t.route, Seed: t.seed}
	for _, kind := range kinds {
		r.Kinds = append(r.Kinds, row{Kind: kind})
	}
	for _, o := range outcomes {
		of := &r.Kinds[slices.Index(kinds, kind(o.request, t.route))]
		of.add(o)
		r.add(o)
		if wire := t.proxy.wire(o.request); o.past && (of.Example == nil || len(wire) < len(of.Example)) {
			of.Example, of.Shown = wire, shown(wire)
		}
	}
	return r
}

func (r *row) add(o outcome) {
	r.Sent++
	switch {
	case o.past:
		r.Run++
		r.Past++
	case o.run:
		r.Run++
		r.Stopped++
	}
}

// shownBytes is how much of a request is shown.
const shownBytes = 1000

// shown writes a request for people, a line for each of its lines, and what cannot be
// printed as escapes of Go.
func shown(wire []byte) string {
	var lines []string
	for line := range strings.SplitSeq(string(wire[:min(len(wire), shownBytes)]), "\r\n") {
		quoted := strconv.Quote(line)
		lines = append(lines, strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
	}
	if more := len(wire) - shownBytes; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d bytes more", more))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (r *report) write(out io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "sent\trun\tstopped\tpast\t\n") // into memory
	for _, k := range r.Kinds {
		_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  %s\n", k.Sent, k.Run, k.Stopped, k.Past, k.Kind)
	}
	_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  all\n", r.Sent, r.Run, r.Stopped, r.Past)
	_ = w.Flush()
	for _, k := range r.Kinds {
		if k.Past > 0 {
			fmt.Fprintf(&b, "\n%s: the shortest that got past\n\n    %s\n", k.Kind, strings.ReplaceAll(k.Shown, "\n", "\n    "))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
