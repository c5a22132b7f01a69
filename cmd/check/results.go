package main

import (
	"fmt"
	"io"
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
}

type failure struct{ step, name, output string }

// maxOutput is how many bytes of a failure's output are printed: enough for a stack
// trace, not for a runaway log. The end is kept, which mostly has the reason.
const maxOutput = 16 << 10

func (r *results) begin(s step) {
	r.step = s.name
	r.progress("== %s: %s", s.name, s.what)
}

func (r *results) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *results) pass(n int) { r.passed += n }

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
	r.progress("   ok   %s (%s)", name, took.Round(100*time.Millisecond))
}

// report prints the failures and the last line, and tells whether all is well.
func (r *results) report() bool {
	for _, f := range r.failures {
		r.progress("\n--- FAIL %s: %s\n%s", f.step, f.name, indent(tail(f.output)))
	}
	r.progress("\n%d passed, %d failed", r.passed, len(r.failures))
	return len(r.failures) == 0 && r.passed > 0
}

func tail(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return "[…]" + s[len(s)-maxOutput:]
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
