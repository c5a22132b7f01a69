package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/admin"
	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/typo"
)

// SwitchOpen implements admin.Gateways.
func (e endpoint) SwitchOpen(name string, b adminapi.LineSwitch, lasts time.Duration, by adminapi.By) (adminapi.LineSwitched, error) {
	line, err := newLine(&b, e.named(name).Platform)
	if err != nil {
		return adminapi.LineSwitched{}, err
	}
	var stops []adminapi.Stop
	if lasts > 0 {
		if stops, err = e.opens(name, line, time.Now().Add(lasts)); err != nil {
			return adminapi.LineSwitched{}, err
		}
	}
	board := e.app.running.board
	return e.switchLine(name, line, lasts, stops, board.Opens, func() error { return board.SetOpen(name, *line, lasts, by) })
}

// SwitchClose implements admin.Gateways.
func (e endpoint) SwitchClose(name string, b adminapi.LineSwitch, lasts time.Duration, by adminapi.By) (adminapi.LineSwitched, error) {
	line, err := newLine(&b, e.named(name).Platform)
	if err != nil {
		return adminapi.LineSwitched{}, err
	}
	board := e.app.running.board
	return e.switchLine(name, line, lasts, nil, board.Closes, func() error { return board.SetClose(name, *line, lasts, by) })
}

// switchLine switches a line by set, and says what counts then.
func (e endpoint) switchLine(name string, line *switches.Line, lasts time.Duration, stops []adminapi.Stop, on func(string) []switches.Line, set func() error) (adminapi.LineSwitched, error) {
	err := set()
	if errors.Is(err, switches.ErrNoLine) {
		return adminapi.LineSwitched{}, &admin.RefusedError{Status: http.StatusNotFound, Why: noLine(name, line, on(name))}
	}
	if errors.Is(err, switches.ErrFull) {
		return adminapi.LineSwitched{}, &admin.RefusedError{Status: http.StatusConflict, Why: err.Error()}
	}
	if err != nil && !errors.Is(err, switches.ErrUntold) && !errors.Is(err, switches.ErrUnkept) {
		return adminapi.LineSwitched{}, err
	}
	var told adminapi.Switched
	e.app.tell(&told, err)
	answer := adminapi.LineSwitched{Site: name, Line: line.Line, On: lasts != 0, Stops: stops, Gateways: told.Gateways, Error: told.Error}
	if answer.On {
		answer.Note = e.unlisted(name, line)
	}
	for _, l := range on(name) {
		if l.Line == line.Line {
			answer.Until = l.Until
		}
	}
	return answer, nil
}

// unlisted says that no REST root of a site lists the route of a line, where one has been read and the route is a literal one.
func (e endpoint) unlisted(name string, line *switches.Line) string {
	route := (&adminapi.Line{Line: line.Line}).Switch().Route
	pattern, err := routes.ParsePattern(route)
	if err != nil || !pattern.Literal() {
		return ""
	}
	var names []string
	for _, s := range e.app.sitesWith(func(s *site) bool { return s.Name == name }) {
		for _, x := range discover.Of(&s.Site).Indexes() {
			if _, listed := x.Pattern(route); listed {
				return ""
			}
			names = append(names, x.Names()...)
		}
	}
	if names == nil {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("no REST root of %s lists %s%s", name, route, policy.Prefixed(": ", typo.Hint(route, slices.Compact(names)...)))
}

// noLine says that a line is not on, and which ones are.
func noLine(site string, line *switches.Line, on []switches.Line) string {
	if len(on) == 0 {
		return fmt.Sprintf("%s has no line that is switched on", site)
	}
	var texts []string
	for _, l := range on {
		texts = append(texts, l.Line)
	}
	return fmt.Sprintf("%s has no line %q that is switched on; these are: %s", site, line.Line, strings.Join(texts, "; "))
}

// newLine returns the line that a body names, in one spelling.
func newLine(b *adminapi.LineSwitch, platform platforms.Platform) (*switches.Line, error) {
	if b.Plugin != "" {
		return pluginLine(b.Plugin, platform)
	}
	methods := slices.Clone(b.Methods)
	slices.Sort(methods)
	methods = slices.Compact(methods)
	target, err := policy.NewTarget(methods, []string{b.Route})
	if err != nil {
		return nil, err
	}
	line := switches.LineOf(methods, target.Routes()[0].Spelling())
	return &line, nil
}

// pluginLine returns the line for the calls of a plugin that `allow plugin` opens to anyone.
func pluginLine(plugin string, platform platforms.Platform) (*switches.Line, error) {
	options, err := access.ExpandLine(plugins.AllowText(plugin), platform)
	if err != nil {
		return nil, err
	}
	var calls []switches.Calls
	for _, o := range options {
		if o.Name != "allow" || o.Args[0] != "anyone" {
			continue
		}
		r, err := policy.RuleOption(o)
		if err != nil {
			return nil, err
		}
		calls = append(calls, switches.Calls{Methods: r.Methods, Routes: r.Routes})
		if !strings.EqualFold(o.From, plugin) {
			return nil, fmt.Errorf("plugin: %q is more than the name of %s", plugin, o.From)
		}
		plugin = o.From
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("the catalogue knows no call of %s that visitors need", plugin)
	}
	line := switches.PluginLine(plugin, calls)
	return &line, nil
}

// opens returns what refuses some calls that a line opens. The error says that the line lets nobody pass.
func (e endpoint) opens(name string, line *switches.Line, until time.Time) (stops []adminapi.Stop, err error) {
	switched, err := line.Switched(switches.KindOpen, &until)
	if err != nil {
		return nil, err
	}
	var all opening
	for _, s := range e.app.directives(func(s *site) bool { return s.Name == name }) {
		if err := s.open(switched, until, &all); err != nil {
			return nil, err
		}
	}
	if !all.passes {
		return nil, &admin.RefusedError{Status: http.StatusConflict, Why: whyNobody(all.stops, all.without)}
	}
	return all.stops, nil
}

// opening is what a line does that opens calls.
type opening struct {
	passes  bool            // some call that does not pass without it
	stops   []adminapi.Stop // what refuses some of its calls
	without []adminapi.Stop // by what some of its calls pass without it
}

// open adds to all what a line does until a time at a directive of a site.
func (s *site) open(line *policy.SwitchedLine, until time.Time, all *opening) error {
	now := s.Switches.InForce(time.Now)
	force := policy.InForce{Mode: now.Mode}
	if now.Mode == policy.Observe { // what passes for a while without the line
		force.Mode = ""
	}
	lasting, err := review.Open(s.chain, line, force.Lines(nil, now.ClosedUntil(until)))
	if err != nil {
		return err
	}
	found, err := review.Open(s.chain, line, force.Lines(nil, now.Closes()))
	if err != nil {
		return err
	}
	on := s.state.lockdown(time.Now())
	all.passes = all.passes || lasting.Passes && (on == nil || on.Until.Before(until) || lasting.Checkout && !on.Hard)
	if on != nil && (on.Hard || found.Beside != "") {
		all.stops = withStop(all.stops, adminapi.Stop{Line: "lockdown until " + on.Until.Format(time.RFC3339), Call: found.Beside})
	}
	for _, stop := range lasting.Without {
		all.without = append(all.without, s.stopped(stop, "no line that is enforced asks for a login"))
	}
	for _, stop := range found.Stops {
		all.stops = withStop(all.stops, s.stopped(stop, ""))
	}
	return nil
}

// withStop returns some stops with another one, if none of the same line is among them.
func withStop(all []adminapi.Stop, stop adminapi.Stop) []adminapi.Stop {
	if slices.ContainsFunc(all, func(known adminapi.Stop) bool { return known.Line == stop.Line && known.At == stop.At }) {
		return all
	}
	return append(all, stop)
}

// stopped returns what stops calls; none says what does without a line.
func (s *site) stopped(stop review.Stop, none string) adminapi.Stop {
	if stop.By == nil {
		return adminapi.Stop{Line: none, Call: stop.Call}
	}
	return adminapi.Stop{Line: stop.By.String(), At: s.g.Lines.In(stop.By.At), Call: stop.Call}
}

// whyNobody says why a line would let nobody pass.
func whyNobody(stops, without []adminapi.Stop) string {
	var reasons []string
	for _, s := range stops {
		reasons = append(reasons, fmt.Sprintf("it cannot pass %s%s", s.Line, policy.Prefixed(" at ", s.At)))
	}
	for _, s := range without {
		reasons = append(reasons, fmt.Sprintf("%s passes without it: %s%s", s.Call, s.Line, policy.Prefixed(" at ", s.At)))
	}
	slices.Sort(reasons)
	if len(stops) == 0 {
		return "it would change nothing, and is not switched on: " + strings.Join(slices.Compact(reasons), "; ")
	}
	return "it would let nobody pass, and is not switched on: " + strings.Join(slices.Compact(reasons), "; ")
}
