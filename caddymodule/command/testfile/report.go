package testfile

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// Report is what became of all tests. It is the JSON of "caddy restwarden test".
type Report struct {
	Version int       `json:"v"` // 1
	Passed  int       `json:"passed"`
	Failed  int       `json:"failed"`
	Tests   []Outcome `json:"tests"`
	// Untested are rules of the owner's that no test has been decided by.
	Untested []dryrun.Rule `json:"-"`
}

// NewReport counts outcomes.
func NewReport(outcomes []Outcome, untested []dryrun.Rule) *Report {
	r := &Report{Version: 1, Tests: outcomes, Untested: untested}
	for _, o := range outcomes {
		if o.Status == Passed {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	return r
}

// Status is the exit status: 1 if a test has failed, 3 if one cannot be known, else 0.
func (r *Report) Status() int {
	status := 0
	for _, o := range r.Tests {
		switch o.Status {
		case Failed:
			return 1
		case Unknown:
			status = 3
		case Passed:
		}
	}
	return status
}

// untested is a rule in the JSON of a report.
type untested struct {
	Rule     string `json:"rule"`
	At       string `json:"at,omitempty"`
	Imported string `json:"imported,omitempty"`
}

// JSON writes r as JSON.
func (r *Report) JSON(w io.Writer) error {
	rules := make([]untested, len(r.Untested))
	for i, rule := range r.Untested {
		rules[i] = untested{rule.Rule, rule.At, rule.Imported}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	return e.Encode(struct {
		*Report
		Untested []untested `json:"untested"`
	}{r, rules})
}

// Text writes a line for each test that has not passed, with the request that shows it,
// then the rules that no test was decided by. The last line is "2 passed, 1 failed".
// verbose lists the tests that have passed, too.
func (r *Report) Text(w io.Writer, p terminal.Palette, verbose bool) error {
	var b strings.Builder
	for i := range r.Tests {
		o := &r.Tests[i]
		switch {
		case o.Status != Passed:
			fmt.Fprintf(&b, "%s: %s: %s\n", o.Position, p.Strong(oneLine(o.Name)), p.Bad(o.Message()))
			o.hints(&b, p)
		case verbose:
			fmt.Fprintf(&b, "%s: %s: %s%s\n", o.Position, oneLine(o.Name), p.Good(oneLine(o.Got)), p.Faint(o.rule()))
		}
	}
	if len(r.Untested) > 0 {
		fmt.Fprintf(&b, "%s\n", p.Odd("No test was decided by:"))
	}
	for _, rule := range r.Untested {
		fmt.Fprintf(&b, "  %s\n", place(rule.Rule, rule.At, rule.Imported))
	}
	last := p.Good
	if r.Failed > 0 {
		last = p.Bad
	}
	fmt.Fprintf(&b, "%s\n", last(fmt.Sprintf("%d passed, %d failed", r.Passed, r.Failed)))
	_, err := io.WriteString(w, b.String())
	return err
}

// Message says in one line what was expected and what came.
func (o *Outcome) Message() string {
	text := fmt.Sprintf("expected %s, got %s%s", o.Expected, o.Got, o.rule())
	if o.Spelling != "" {
		text += ", in the spelling " + o.Spelling
	}
	if o.Why != "" {
		text += ": " + o.Why
	}
	return oneLine(text)
}

// hints writes how to see a failure oneself.
func (o *Outcome) hints(b *strings.Builder, p terminal.Palette) {
	for _, line := range o.lines() {
		fmt.Fprintf(b, "    %s\n", p.Faint(oneLine(line)))
	}
}

func (o *Outcome) lines() []string {
	lines := []string{o.Curl, o.Explain}
	for _, request := range o.Also {
		lines = append(lines, "also "+request)
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// rule is the rule that decided, with its place.
func (o *Outcome) rule() string {
	if o.Rule == "" {
		return ""
	}
	return " (" + oneLine(place(o.Rule, o.At, o.Imported)) + ")"
}

func place(rule, at, imported string) string {
	if at != "" {
		rule += " at "
	}
	return rule + routing.Place(at, imported)
}

// oneLine keeps what a file or a configuration says from breaking lines, and from telling
// the terminal anything.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, text)
}
