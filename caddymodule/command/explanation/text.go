// Package explanation writes the result of a dry run for people: the answer, what decided it, and what would change it.
package explanation

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/policy"
)

// Explanation writes a result for people: the answer first, then what decided it, then how
// the request was read and judged, and at the end what would change the answer.
type Explanation struct {
	*dryrun.Result
	Palette terminal.Palette
	Verbose bool // also what did not matter
}

// Text is all of it.
func (e Explanation) Text() string {
	var b strings.Builder
	b.WriteString(e.Headline() + "\n")
	if why := e.why(); why != "" {
		b.WriteString(why + "\n")
	}
	e.Section(&b, "", e.summary())
	e.List(&b, "Missing", e.Missing)
	e.Section(&b, "How the request is read", e.reading())
	e.policies(&b)
	e.Section(&b, "Questions to the site", e.questions())
	e.List(&b, "Taken for granted", e.Assumed)
	e.change(&b)
	return b.String()
}

// Headline is the answer in one line.
func (e Explanation) Headline() string {
	p := e.Palette
	switch e.Answer {
	case dryrun.Pass:
		return p.Good("passes")
	case dryrun.Page:
		return p.Good("passes") + ": the request is a page, no REST call"
	case dryrun.Refused:
		return p.Bad("refused") + ": " + e.refusal()
	case dryrun.WouldRefuse:
		return p.Odd("passes, but would be refused") + ": " + e.refusal()
	case dryrun.NotReached:
		return p.Bad("not reached") + ": " + e.missed()
	case dryrun.Unknown:
	}
	return p.Odd("cannot be known")
}

func (e Explanation) refusal() string {
	if e.Decision == nil {
		return "by a policy"
	}
	return fmt.Sprintf("%d %s", e.Decision.Status, e.Decision.Code)
}

func (e Explanation) missed() string {
	switch m := e.Missed; {
	case m == nil:
		return "the gateway is not on the request's way"
	case m.Matcher != "":
		return fmt.Sprintf("the matcher %q leaves the request out", m.Matcher)
	default:
		return strings.TrimSpace(m.Answered + " answers before the gateway " + onlyStatus(m.Status))
	}
}

// why is one sentence on the answer.
func (e Explanation) why() string {
	switch {
	case e.Answer == dryrun.Unknown:
		return "The answer depends on what nobody said."
	case e.Answer == dryrun.WouldRefuse && e.Decision != nil:
		return "The gateway only observes here, so the call passes. " + e.Decision.Why
	case e.Decision != nil:
		return e.Decision.Why
	case e.Answer == dryrun.NotReached:
		return "The gateway does not see the request. What it guards elsewhere is open on this way if the platform answers there."
	}
	return ""
}

// summary is what decided, where, on what and for whom.
func (e Explanation) summary() (rows [][]string) {
	add := func(name, text, at string) {
		if text != "" {
			rows = append(rows, []string{e.Palette.Faint(name), text, e.Palette.Faint(at)})
		}
	}
	if d := e.Decision; d != nil && e.Answer != dryrun.Unknown {
		add("policy", d.Policy, "")
		if d.Rule != d.Policy {
			add("rule", e.row(d.Rule, d.At), routing.Place(d.At, d.Imported))
		}
		if d.Policy != "call" { // there the rule is the error
			add("error", d.Error, "")
		}
	}
	if d := e.Decided; d != nil && e.Decision == nil {
		add("rule", e.row(d.Rule, d.At), routing.Place(d.At, d.Imported))
	}
	if m := e.Missed; m != nil {
		if m.Matcher != "" {
			add("answers", m.Answered, onlyStatus(m.Status))
		}
		if m.At != "" {
			add("guard", "restwarden", routing.Place(m.At, m.Imported))
		}
	}
	add("site", e.Site, routing.Place(e.At, e.Imported))
	add("request", e.Request, "")
	if r := e.Reading; r != nil && r.Kind != "page" {
		text := strings.TrimSpace(r.Method + " " + cmp.Or(r.Pattern, r.Route))
		add("call", text, OnlyForm(r.Form))
	}
	who := e.As
	if e.Caller != "" && e.Caller != e.As {
		who += " (for the gateway: " + e.Caller + ")"
	}
	add("caller", who, "")
	return rows
}

func onlyStatus(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf("(%d)", status)
}

// OnlyForm writes the form of a call behind it, "" for none.
func OnlyForm(form string) string {
	if form == "" {
		return ""
	}
	return form + " form"
}

// reading is what named the route, the method and the id, and what says something else.
// What says the same or nothing is shown with --verbose.
func (e Explanation) reading() (rows [][]string) {
	r := e.Reading
	if r == nil || r.Kind == "page" && !e.Verbose {
		return nil
	}
	add := func(cells ...string) { rows = append(rows, cells) }
	if r.Reason != "" {
		add("refused", r.Reason)
	}
	if r.Pattern != "" && r.Pattern != r.Route {
		add("pattern", r.Pattern)
	}
	named := map[string]string{"route": r.Route, "method": r.Method, "id": r.ID}
	shown := map[dryrun.Source]bool{}
	for _, s := range r.Sources {
		same := dryrun.Source{Of: s.Of, Value: s.Value} // the path before and after a rewrite, say
		switch {
		case s.Named:
			add(s.Of, s.Value, "from "+e.placeOf(s))
		case shown[same] && !e.Verbose:
		case e.Verbose || s.Value != "" && s.Value != named[s.Of]:
			add(e.Palette.Faint("not"), e.Palette.Faint(s.Value), e.Palette.Faint(strings.TrimSuffix("from "+e.placeOf(s)+": "+s.Why, ": ")))
			shown[same] = true
		}
	}
	if len(r.Sources) == 0 {
		for _, of := range []string{"route", "method", "id"} {
			if named[of] != "" {
				add(of, named[of])
			}
		}
	}
	rows = append(rows, e.message()...)
	for i, p := range r.Parts {
		add(fmt.Sprintf("part %d", i+1), strings.TrimSpace(p.Method+" "+p.Route), policy.Prefixed("id ", p.ID))
	}
	return rows
}

// message is how the body was read as a message of an AI agent.
func (e Explanation) message() (rows [][]string) {
	m := e.Reading.Message
	if m == nil {
		return nil
	}
	where := "to a server of tools"
	if !m.Door {
		where = "on a route that is no known server of tools"
	}
	if m.Ambiguous != "" {
		return [][]string{{"message", "ambiguous: " + m.Ambiguous, where}}
	}
	rows = append(rows, []string{"message", m.Method, where})
	for _, named := range [][2]string{{"tool", m.Tool}, {"ability", m.Ability}, {"resource", m.Resource}} {
		if named[1] != "" {
			rows = append(rows, []string{named[0], named[1], "from the message"})
		}
	}
	return rows
}

// placeOf is the place of a source. Where no rewrite has changed the path there is one path.
func (e Explanation) placeOf(s dryrun.Source) string {
	const path = "path "
	if e.Verbose || !strings.HasPrefix(s.In, path) {
		return s.In
	}
	for _, other := range e.Reading.Sources {
		if other.Of == s.Of && other.In != s.In && strings.HasPrefix(other.In, path) && other.Value == s.Value {
			return strings.TrimSpace(path)
		}
	}
	return s.In
}

func (e Explanation) questions() (rows [][]string) {
	for _, q := range e.Questions {
		answer := q.Error
		if answer == "" && q.Status != 0 {
			answer = fmt.Sprint(q.Status)
		}
		rows = append(rows, []string{q.Kind, q.Method + " " + q.Route, answer})
	}
	return rows
}

// List writes items below a heading, each on a line.
func (e Explanation) List(b *strings.Builder, heading string, items []string) {
	var rows [][]string
	for _, item := range items {
		rows = append(rows, []string{item})
	}
	e.Section(b, heading, rows)
}

// Section writes rows with aligned columns below a heading.
func (e Explanation) Section(b *strings.Builder, heading string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n")
	indent := ""
	if heading != "" {
		b.WriteString(e.Palette.Strong(heading) + "\n")
		indent = "  "
	}
	b.WriteString(terminal.Aligned(indent, rows))
}
