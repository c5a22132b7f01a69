package policy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// SwitchedLine is a line that the owner has switched on while the gateway runs: `open` opens calls to anyone, and `close` closes
// them to callers whom the platform has not verified.
type SwitchedLine struct {
	rules  []Rule
	routes []routes.Pattern // of all rules
	until  time.Time        // zero where it ends when it is taken back
}

// NewSwitchedLine returns a line of this name, "open POST /acme/v1/callback", for the calls of rules, which are compiled. A zero
// until means that it does not end by itself.
func NewSwitchedLine(name string, rules []Rule, until time.Time) *SwitchedLine {
	l := &SwitchedLine{rules: slices.Clone(rules), until: until}
	for i := range l.rules {
		l.rules[i].As(OriginSwitch, name)
		l.routes = append(l.routes, l.rules[i].target.Routes()...)
	}
	return l
}

// Until is when the line ends; zero where it ends when it is taken back.
func (l *SwitchedLine) Until() time.Time { return l.until }

// SwitchedLines are lines that are switched on together. Many requests read them at once.
type SwitchedLines struct {
	on atomic.Pointer[[]*SwitchedLine]
}

// Set replaces the lines.
func (s *SwitchedLines) Set(lines []*SwitchedLine) {
	if len(lines) == 0 {
		s.on.Store(nil)
		return
	}
	s.on.Store(&lines)
}

// Len returns how many lines are on at a time.
func (s *SwitchedLines) Len(now func() time.Time) int { return len(s.at(now)) }

// at returns the lines that are on at a time.
func (s *SwitchedLines) at(now func() time.Time) []*SwitchedLine {
	on := s.on.Load()
	if on == nil {
		return nil
	}
	lines, t := *on, time.Time{}
	ended := func(l *SwitchedLine) bool {
		if l.until.IsZero() {
			return false
		}
		if t.IsZero() {
			t = now()
		}
		return !t.Before(l.until)
	}
	if slices.ContainsFunc(lines, ended) {
		lines = slices.DeleteFunc(slices.Clone(lines), ended)
	}
	return lines
}

// matching returns the rule of the first of some lines that matches a call.
func matching(lines []*SwitchedLine, c *call.Call) (m Match, ok bool) {
	for _, l := range lines {
		for i := range l.rules {
			if m, ok := l.rules[i].Match(c); ok {
				return m, true
			}
		}
	}
	return m, false
}

// Opened returns the line `open` that opens a call.
func (f *InForce) Opened(c *call.Call) (Match, bool) { return matching(f.opens, c) }

// Closed returns the line `close` that closes a call.
func (f *InForce) Closed(c *call.Call) (Match, bool) { return matching(f.closes, c) }

// Lines returns f with other lines in force.
func (f InForce) Lines(opens, closes []*SwitchedLine) InForce {
	f.opens, f.closes = opens, closes
	return f
}

// Routes returns the routes of all lines in force.
func (f *InForce) Routes() (all []routes.Pattern) {
	for _, l := range slices.Concat(f.opens, f.closes) {
		all = append(all, l.routes...)
	}
	return all
}

// ClosedUntil returns the lines in force that close calls at least until a time.
func (f *InForce) ClosedUntil(t time.Time) (closes []*SwitchedLine) {
	for _, l := range f.closes {
		if l.until.IsZero() || !l.until.Before(t) {
			closes = append(closes, l)
		}
	}
	return closes
}

// Rules are those of the line. They say "allow anyone" whatever the line does.
func (l *SwitchedLine) Rules() []Rule { return l.rules }

// Enforces tells whether a switch closes calls, whatever the modes say: then a request without a certain reading is refused.
func (f *InForce) Enforces() bool { return f.Locked || len(f.closes) > 0 }

// Closes returns the lines that close calls.
func (f *InForce) Closes() []*SwitchedLine { return f.closes }

// opened is a call that passes by a line which opens it.
type opened struct {
	call *call.Call
	line *Rule
}

// PassesBy notes the line that opens the call.
func (r *Request) PassesBy(line *Rule) {
	if r.opened != nil {
		*r.opened = append(*r.opened, opened{r.Call, line})
	}
}

// OpenedBy returns the line that opens a call, which is that of the request or a part of it; nil where it passes without one.
func (r *Request) OpenedBy(c *call.Call) *Rule {
	if r.opened == nil {
		return nil
	}
	for _, o := range *r.opened {
		if o.call == c {
			return o.line
		}
	}
	return nil
}

// CheckClosed refuses a call that the platform may run as one that a line closes: with another byte in place of a dot, or with a
// parameter in place of a word of the route.
func (r *Request) CheckClosed() error {
	closes := r.InForce.closes
	for _, l := range closes {
		if r.Call.Bent(l.routes) {
			return errRouteDot
		}
	}
	switch {
	case len(closes) == 0 || r.bare():
		return nil
	case len(closes) == 1:
		return r.checkWords(closes[0].routes)
	}
	var all []routes.Pattern // looked for at once: to find the groups of a route takes longer than all else
	for _, l := range closes {
		all = append(all, l.routes...)
	}
	return r.checkWords(all)
}

// CheckOpened is CheckClosed for the route of a line that opens a call.
func (r *Request) CheckOpened(route *routes.Pattern) error {
	return r.checkWords([]routes.Pattern{*route})
}
