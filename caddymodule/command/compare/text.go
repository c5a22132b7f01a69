package compare

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/diff"
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
	for _, effect := range []diff.Effect{diff.Opened, diff.MayOpen, diff.Closed, diff.MayClose} {
		list := r.with(effect)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", titles[effect])
		for _, c := range list {
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
		r.Log.text(&b)
	}
	r.sites(&b)
	return b.String()
}

// text says how many calls of logs would be decided otherwise.
func (t *Traffic) text(b *strings.Builder) {
	otherwise := t.Opened + t.Closed + t.MayOpen + t.MayClose
	fmt.Fprintf(b, "Of %d calls in the logs, %d would be decided otherwise: %d opened, %d closed, %d may open, %d may close", t.Calls, otherwise, t.Opened, t.Closed, t.MayOpen, t.MayClose)
	if otherwise > 0 {
		more := map[bool]string{true: "at least "}[t.More]
		fmt.Fprintf(b, "; by %s%d clients and %d credentials", more, t.Clients, t.Credentials)
	}
	b.WriteString("\n")
	for _, g := range t.Groups {
		fmt.Fprintf(b, "  %s: %d of %s %s by %s at %s, from %d clients\n", strings.ToLower(titles[g.Effect]), g.Calls, g.Method, g.Route, g.Who, g.Site, g.Clients)
	}
	b.WriteString("\n")
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
	case c.Old.Line != "" && c.New.Line != "":
		return fmt.Sprintf("%s, now %s", c.Old.text(line), c.New.text(line))
	case c.New.Line != "":
		return "the new line " + c.New.text(line)
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
	fmt.Fprintf(b, "  %s\n    for %s\n", c.Calls(), few(c.Who, ", "))
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

// sites says what becomes of the sites.
func (r *Report) sites(b *strings.Builder) {
	s := &r.Sites
	for _, one := range s.Removed {
		if one.Answers == "" {
			fmt.Fprintf(b, "%s is gone.\n", one.Site)
		} else {
			fmt.Fprintf(b, "%s is not guarded any more: %s answers.\n", one.Site, one.Answers)
		}
	}
	for _, one := range s.Renamed {
		fmt.Fprintf(b, "%s is called %s: what was counted and kept for it begins anew.\n", one.Old, one.New)
	}
	for _, one := range r.Switches {
		text := map[bool]string{true: "stays in force, whatever the configurations say", false: "ends with the change"}[one.Stays]
		fmt.Fprintf(b, "%s: the switch %s, which is on until %s, %s%s.\n", cmp.Or(one.Site, "all sites"), one.Switch, one.Until.UTC().Format(time.RFC3339), text, effectsIn(one.effects()))
	}
	for _, one := range s.Added {
		if one.Answered == "" {
			fmt.Fprintf(b, "%s is new.\n", one.Site)
		} else {
			fmt.Fprintf(b, "%s is guarded now: before, %s answered.\n", one.Site, one.Answered)
		}
	}
	for _, one := range s.NotCompared {
		fmt.Fprintf(b, "%s could not be compared: %s.\n", one.Site, one.Why)
	}
	fmt.Fprintf(b, "%d changed, %d unchanged\n", len(s.Changed)+len(s.Added)+len(s.Removed), s.Unchanged)
}
