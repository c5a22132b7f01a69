package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
)

// titles are the headings of effects.
var titles = map[diff.Effect]string{
	diff.Opened: "Opened", diff.MayOpen: "May open", diff.Closed: "Closed", diff.MayClose: "May close",
}

// maxShown bounds the lists of a text.
const maxShown = 6

// Text writes the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	lines := func(list []string) {
		for _, line := range list {
			fmt.Fprintf(&b, "%s\n", line)
		}
		if len(list) > 0 {
			b.WriteString("\n")
		}
	}
	lines(r.unguarded())
	for _, effect := range []diff.Effect{diff.Opened, diff.MayOpen, diff.Closed, diff.MayClose} {
		list := r.with(effect)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", titles[effect])
		for _, c := range r.inShort(list) {
			c.text(&b)
		}
		b.WriteString("\n")
	}
	if len(r.Beside) > 0 {
		b.WriteString("Beside:\n")
		for i := range r.Beside {
			one := &r.Beside[i]
			fmt.Fprintf(&b, "  %s%s%s\n", one.Text, effectsIn(one.Effects), at(one.Sites))
		}
		b.WriteString("\n")
	}
	if r.Log != nil {
		lines(append([]string{r.Log.total()}, r.Log.groups("  ")...))
	}
	lines(r.sites())
	b.WriteString(r.ends())
	return b.String()
}

// inShort returns changes with one in place of those that come of the mode: each has whatever access refuses.
func (r *Report) inShort(list []*Change) (short []*Change) {
	for _, c := range list {
		i := slices.IndexFunc(short, func(s *Change) bool { return s.byMode && c.byMode && slices.Equal(s.Sites, c.Sites) })
		switch {
		case i >= 0:
		case c.byMode:
			one := *c
			one.Who, one.Old, one.New = nil, Line{}, Line{}
			one.Methods, one.Sets, one.Routes = nil, []Set{{Route: "that access refuses, since its mode is another (JSON has each set)"}}, nil
			short = append(short, &one)
		default:
			short = append(short, c)
		}
	}
	return short
}

// ends counts the sites, and says what --fail-on has found.
func (r *Report) ends() string {
	s := &r.Sites
	text := fmt.Sprintf("%d changed, %d unchanged\n", len(s.Changed)+len(s.Added)+len(s.Removed)+len(s.Unguarded), s.Unchanged)
	if len(r.Failed) > 0 {
		text += "--fail-on " + strings.Join(r.Failed, ", ") + ": the report has such changes\n"
	}
	return text
}

// total says how many calls of logs would be decided otherwise, and how many nobody can tell of.
func (t *Traffic) total() string {
	otherwise := t.Opened + t.Closed + t.MayOpen + t.MayClose
	text := fmt.Sprintf("Of %d calls in the logs, %d would be decided otherwise: %d opened, %d closed, %d may open, %d may close", t.Calls, otherwise, t.Opened, t.Closed, t.MayOpen, t.MayClose)
	if otherwise > 0 {
		more := map[bool]string{true: "at least "}[t.More]
		text += fmt.Sprintf("; by clients: %s%d, credentials: %d", more, t.Clients, t.Credentials)
	}
	if t.Unread > 0 {
		text += fmt.Sprintf(". The log does not tell the route of %d more", t.Unread)
	}
	if t.Twice {
		text += ". Calls that an access log and records or a journal tell of count twice"
	}
	if t.Others > 0 {
		text += fmt.Sprintf(". %d more are of sites that are not compared", t.Others)
	}
	return text + "."
}

// groups tells of the largest groups of these calls.
func (t *Traffic) groups(indent string) (lines []string) {
	for _, g := range t.Groups {
		lines = append(lines, fmt.Sprintf("%s%s: %d of %s %s by %s at %s, clients: %d", indent, strings.ToLower(titles[g.Effect]), g.Calls, g.Method, g.Route, g.Who, g.Site, g.Clients))
	}
	return lines
}

func (r *Report) with(effect diff.Effect) (list []*Change) {
	for i := range r.Changes {
		if r.Changes[i].Effect == effect {
			list = append(list, &r.Changes[i])
		}
	}
	return list
}

// Calls says of which calls the change speaks: "POST, PUT /acme/v1/callback, but not /acme/v1/callback/x".
func (c *Change) Calls() string {
	methods := "every method"
	if len(c.Methods) > 0 {
		methods = strings.Join(c.Methods, ", ")
	}
	if len(c.Routes) > 0 {
		return methods + " " + few(c.Routes, ", ")
	}
	var sets []string
	for _, s := range c.Sets {
		text := s.Route
		if len(s.Except) > 0 {
			text += ", but not " + few(s.Except, ", ")
		}
		sets = append(sets, text)
	}
	return methods + " " + few(sets, "; ")
}

// Cause says which lines decide, each as written by line.
func (c *Change) Cause(line func(string) string) string {
	switch {
	case c.Old.Line != "" && c.Old.Line == c.New.Line:
		return fmt.Sprintf("%s, which says something else in its block at %s", c.Old.text(line), c.New.At)
	case c.Old.Line != "" && c.New.Line != "":
		return fmt.Sprintf("%s, now %s", c.Old.text(line), c.New.text(line))
	case c.New.Line != "" && c.New.Stays:
		return c.New.text(line)
	case c.New.Line != "":
		return "the new line " + c.New.text(line)
	case c.Old.Line != "" && c.Old.Stays:
		return "no longer " + c.Old.text(line)
	case c.Old.Line != "":
		return "the line that is gone, " + c.Old.text(line)
	}
	return ""
}

func (l *Line) text(line func(string) string) string {
	if l.At == "" {
		return line(l.Line)
	}
	return fmt.Sprintf("%s (%s)", line(l.Line), l.At)
}

func (c *Change) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s\n", c.Calls())
	if len(c.Who) > 0 {
		fmt.Fprintf(b, "    for %s\n", few(c.Who, ", "))
	}
	if cause := c.Cause(strings.Clone); cause != "" {
		fmt.Fprintf(b, "    by %s\n", cause)
	}
	if e := c.Example; e != nil {
		fmt.Fprintf(b, "    %s as %s\n      before: %s\n      after:  %s\n", e.Request, e.As, e.Old, e.New)
	}
	if c.Why != "" {
		fmt.Fprintf(b, "    %s\n", c.Why)
	}
	fmt.Fprintf(b, "   %s\n", at(c.Sites))
}

// at says at which sites.
func at(sites []string) string {
	switch len(sites) {
	case 0:
		return ""
	case 1:
		return " at " + sites[0]
	}
	return fmt.Sprintf(" at %d sites: %s", len(sites), few(sites, ", "))
}

func effectsIn(effects []diff.Effect) string {
	if len(effects) == 0 {
		return ""
	}
	var words []string
	for _, e := range effects {
		words = append(words, strings.ToLower(titles[e]))
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// few joins a list, and counts what is beyond its beginning.
func few(list []string, by string) string {
	if len(list) <= maxShown {
		return strings.Join(list, by)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxShown], by), len(list)-maxShown)
}

// unguarded tells of the hosts whose calls nobody judges any more, or yet.
func (r *Report) unguarded() (lines []string) {
	for _, one := range r.Sites.Removed {
		if one.effect() == diff.Opened {
			lines = append(lines, fmt.Sprintf("%s is not guarded any more: %s answers (opened).", one.Site, one.Answers))
		}
	}
	for _, one := range r.Sites.Unguarded {
		lines = append(lines, fmt.Sprintf("%s is new, and not guarded: %s answers (opened).", one.Site, one.Answers))
	}
	return lines
}

// sites says what else becomes of the sites.
func (r *Report) sites() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	s := &r.Sites
	for _, one := range s.Removed {
		switch {
		case one.effect() == diff.Opened:
		case one.Answers == "":
			add("%s is gone (closed).", one.Site)
		default:
			add("%s is gone: %s answers (closed).", one.Site, one.Answers)
		}
	}
	for _, one := range s.Renamed {
		add("%s is called %s: what was counted and kept for it begins anew.", one.Old, one.New)
	}
	for _, one := range r.Switches {
		text := map[bool]string{true: "stays in force, whatever the configurations say", false: "ends with the change"}[one.Stays]
		until := "it is taken back"
		if !one.Until.IsZero() {
			until = one.Until.UTC().Format(time.RFC3339)
		}
		add("%s: the switch %s, which is on until %s, %s%s.", cmp.Or(one.Site, "all sites"), one.Switch+policy.Prefixed(" ", one.Line), until, text, effectsIn(one.effects()))
	}
	for _, one := range s.Added {
		switch {
		case one.Answered == "":
			add("%s is new.", one.Site)
		case dryrun.Leads(one.Answered):
			add("%s is guarded now: before, %s answered (closed).", one.Site, one.Answered)
		default:
			add("%s is guarded now: before, %s answered.", one.Site, one.Answered)
		}
	}
	for _, one := range s.NotCompared {
		add("%s could not be compared: %s.", one.Site, one.Why)
	}
	return lines
}
