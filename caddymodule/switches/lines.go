package switches

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// Forever is how long a line lasts that closes calls until it is taken back.
const Forever time.Duration = -1

// Line is a line that is switched on.
type Line struct {
	Line  string // "POST /acme/v1/callback", "plugin contact-form-7"
	Calls []Calls
	Set   time.Time
	Until *time.Time // nil where it does not end by itself
	By    adminapi.By
}

// LineOf returns the line for the calls of a route, and PluginLine that for those of a plugin.
func LineOf(methods []string, route string) Line {
	said := adminapi.LineSwitch{Methods: methods, Route: route}
	return Line{Line: said.Text(), Calls: []Calls{{Methods: methods, Routes: []string{route}}}}
}

// PluginLine is explained at LineOf.
func PluginLine(plugin string, calls []Calls) Line {
	said := adminapi.LineSwitch{Plugin: plugin}
	return Line{Line: said.Text(), Calls: calls}
}

// SetOpen switches on a line that opens calls of a site to anyone, for a time of up to [adminapi.MaxOpened], or takes it back if the time
// is 0, as [Board.SetMode] switches the mode.
func (b *Board) SetOpen(site string, line Line, lasts time.Duration, by adminapi.By) error {
	return b.setLine(KindOpen, site, &line, lasts, by)
}

// SetClose is SetOpen for a line that closes calls, for any time, or Forever.
func (b *Board) SetClose(site string, line Line, lasts time.Duration, by adminapi.By) error {
	return b.setLine(KindClose, site, &line, lasts, by)
}

func (b *Board) setLine(kind, site string, line *Line, lasts time.Duration, by adminapi.By) error {
	return b.set(setting{Kind: kind, Site: site, Line: line.Line, Calls: line.Calls}, lasts, by)
}

// checkLine tells why a line is not switched on, or off if it is not to last.
func (b *Board) checkLine(s *setting, lasts time.Duration) error {
	switch before, known := b.settings[s.id()]; {
	case lasts == 0 && (!known || before.Off):
		return ErrNoLine
	case lasts == 0:
		return nil
	case b.full(s):
		return ErrFull
	}
	return s.checkLine()
}

// full tells whether a site has as many lines on as it may, without the one of a setting.
func (b *Board) full(s *setting) bool {
	others := slices.DeleteFunc(b.linesOf(s.Kind, s.Site), func(other kept) bool { return other.Line == s.Line })
	return len(others) >= adminapi.MaxLines
}

// maxTakenBack bounds the lines of a site that were taken back and are still remembered, of those that open and of those that close.
const maxTakenBack = 10 * adminapi.MaxLines

// forget forgets which line was taken back first, if a site has too many of them.
func (b *Board) forget(kind, site string) {
	n, first := 0, id{}
	for name, s := range b.settings {
		if name.kind != kind || name.site != site || !s.Off {
			continue
		}
		if n++; n == 1 || s.Set < b.settings[first].Set {
			first = name
		}
	}
	if n > maxTakenBack {
		delete(b.settings, first)
	}
}

// The reasons why a line is not switched.
var (
	ErrNoLine = errors.New("no such line is switched on")
	ErrFull   = fmt.Errorf("there are %d such lines already: take some back", adminapi.MaxLines)
)

// Switched returns the line as it is judged by, as one of a kind, until a time; nil where it does not end by itself.
func (l *Line) Switched(kind string, until *time.Time) (*policy.SwitchedLine, error) {
	s := setting{Kind: kind, Line: l.Line, Calls: l.Calls}
	if until == nil {
		return s.line(time.Time{})
	}
	s.Until = until.UnixMilli()
	return s.line(*until)
}

// Opens returns the lines of a site that open calls and are on, in the order in which they were set.
func (b *Board) Opens(site string) []Line { return b.on(KindOpen, site) }

// Closes is Opens for the lines that close calls.
func (b *Board) Closes(site string) []Line { return b.on(KindClose, site) }

func (b *Board) on(kind, site string) (all []Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.linesOf(kind, site) {
		line := Line{Line: s.Line, Calls: s.Calls, Set: time.Unix(0, s.Set), By: adminapi.ParseBy(s.By)}
		if s.Until != 0 {
			until := s.until()
			line.Until = &until
		}
		all = append(all, line)
	}
	return all
}

// linesOf returns the lines of a kind of a site that are on, in the order in which they were set.
func (b *Board) linesOf(kind, site string) (all []kept) {
	now := time.Now()
	for _, s := range b.settings {
		if s.Kind == kind && s.Site == site && !s.Off && s.ends.After(now) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y kept) int { return cmp.Or(cmp.Compare(x.Set, y.Set), cmp.Compare(x.Line, y.Line)) })
	return all
}

// applyLines makes the lines of a site count.
func (b *Board) applyLines(site string) {
	own := b.sites[site]
	if own == nil {
		return
	}
	for kind, to := range map[string]*policy.SwitchedLines{KindOpen: &own.Opens, KindClose: &own.Closes} {
		var lines []*policy.SwitchedLine
		for _, s := range b.linesOf(kind, site) {
			if line, err := s.line(s.ends); err == nil { // it was checked when it came
				lines = append(lines, line)
			}
		}
		to.Set(lines)
	}
}
