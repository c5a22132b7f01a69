package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// results counts what passed, and keeps failures until the end, where they are found
// without scrolling.
type results struct {
	out      io.Writer
	step     string
	passed   int
	failures []failure
	took     []stepTime
	left     []string // what a selection leaves out
	checks   []counted
}

// counted is how much a test has checked, or a whole step where test is empty.
type counted struct {
	step, test string
	n          int
}

// stepTime is how long a step took.
type stepTime struct {
	step string
	took time.Duration
}

type failure struct{ step, name, output string }

// maxOutput is how many bytes of a failure's output are printed: enough for a stack
// trace, not for a runaway log. The end is kept, which mostly has the reason.
const maxOutput = 16 << 10

func (r *results) begin(s step) {
	r.step = s.name
	r.progress("== %s: %s", s.name, s.what)
}

// end ends a step.
func (r *results) end(took time.Duration) {
	r.took = append(r.took, stepTime{r.step, took})
	r.progress("   %s took %s", r.step, rounded(took))
}

// leave notes what a selection leaves out: the report says it, and nobody takes it for passed.
func (r *results) leave(what string) { r.left = append(r.left, what) }

func (r *results) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *results) pass(n int) { r.passed += n }

// count notes how much a test of this step has checked.
func (r *results) count(test string, n int) {
	r.checks = append(r.checks, counted{r.step, test, n})
}

// counted is how much this run has done of a figure.
func (r *results) counted(f figure) (n int) {
	for _, c := range r.checks {
		switch {
		case c.step != f.step || c.test != f.test && (f.test == "" || !strings.HasPrefix(c.test, f.test+"/")):
		case f.tests && c.test == f.test: // the test itself is none of its sub-tests
		case f.tests:
			n++
		default:
			n += c.n
		}
	}
	return n
}

// ran tells whether a step has ended.
func (r *results) ran(step string) bool {
	return slices.ContainsFunc(r.took, func(t stepTime) bool { return t.step == step })
}

func (r *results) fail(name, output string) {
	r.progress("   FAIL %s", name)
	r.failures = append(r.failures, failure{r.step, name, output})
}

// verdict counts one thing that either worked or did not.
func (r *results) verdict(name string, took time.Duration, output string, err error) {
	if err != nil {
		r.fail(name, strings.TrimSpace(output+"\n"+err.Error()))
		return
	}
	r.pass(1)
	r.progress("   ok   %s (%s)", name, rounded(took))
}

// report prints the failures, what each step took and the last line, and tells whether all
// is well.
func (r *results) report() bool {
	for _, f := range r.failures {
		r.progress("\n--- FAIL %s: %s\n%s", f.step, f.name, indent(tail(f.output)))
	}
	r.times()
	if len(r.left) > 0 {
		r.progress("\nleft out: %s", strings.Join(r.left, "; "))
	}
	r.progress("\n%d passed, %d failed", r.passed, len(r.failures))
	return len(r.failures) == 0 && r.passed > 0
}

// times prints what each step took, the longest first.
func (r *results) times() {
	if len(r.took) == 0 {
		return
	}
	longest := slices.SortedStableFunc(slices.Values(r.took), func(a, b stepTime) int { return cmp.Compare(b.took, a.took) })
	r.progress("\n%-12s %10s", "step", "took")
	sum := time.Duration(0)
	for _, t := range longest {
		sum += t.took
		r.progress("%-12s %10s", t.step, rounded(t.took))
	}
	r.progress("%-12s %10s", "all", rounded(sum))
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

func tail(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return "[…]" + s[len(s)-maxOutput:]
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
