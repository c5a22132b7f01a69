package policy

import (
	"cmp"
	"sync/atomic"
	"time"
)

// Switches are what the owner has switched on a site while the gateway runs. Each switch
// ends by itself. Many requests read the switches at once; nobody waits for a lock. The
// zero value has nothing switched on.
type Switches struct {
	Mode     Switch
	Lockdown Switch
	Opens    SwitchedLines
	Closes   SwitchedLines
	// All is the lockdown of all sites; nil if there is none.
	All *Switch
}

// Switch is on for a time, or off.
type Switch struct{ on atomic.Pointer[Switched] }

// Switched is what a switch is on for.
type Switched struct {
	Mode  Mode // of a mode switch
	Hard  bool // of a lockdown: the shop's checkout is closed as well, whatever the rules say
	Until time.Time
}

// Set replaces the state of the switch.
func (s *Switch) Set(on Switched) { s.on.Store(&on) }

// Off switches off.
func (s *Switch) Off() { s.on.Store(nil) }

// At returns the state at a time; ok tells whether the switch is on.
func (s *Switch) At(now time.Time) (on Switched, ok bool) {
	if p := s.on.Load(); p != nil && now.Before(p.Until) {
		return *p, true
	}
	return Switched{}, false
}

// InForce is what the switches of a site say about one request. The zero value says
// nothing: the configuration counts.
type InForce struct {
	Mode   Mode // "" if it is the configured one
	Locked bool
	Hard   bool // see Switched

	opens, closes []*SwitchedLine
}

// InForce returns what the switches say now. It asks for the time only if a switch is on.
func (s *Switches) InForce(now func() time.Time) (f InForce) {
	if s == nil {
		return f
	}
	f.opens, f.closes = s.Opens.at(now), s.Closes.at(now)
	if s.Mode.on.Load() == nil && s.Lockdown.on.Load() == nil && (s.All == nil || s.All.on.Load() == nil) {
		return f
	}
	t := now()
	if on, ok := s.Mode.At(t); ok {
		f.Mode = on.Mode
	}
	f.lock(&s.Lockdown, t)
	if s.All != nil {
		f.lock(s.All, t)
	}
	return f
}

func (f *InForce) lock(s *Switch, now time.Time) {
	if on, ok := s.At(now); ok {
		f.Locked, f.Hard = true, f.Hard || on.Hard
	}
}

// observes tells whether a policy only observes. A switch to observe covers every policy.
// A switch to enforce replaces the directive's mode, not the policy's own.
func (c *Chain) observes(l *link, f InForce) bool {
	switch {
	case l.always:
		return false
	case f.Mode == Observe:
		return true
	case l.settings.Mode != "":
		return l.settings.Mode == Observe
	}
	return cmp.Or(f.Mode, c.mode) == Observe
}

// observesIn tells whether a policy only observes r. Where a lockdown leaves a call open
// to those who sign it, the signature counts whatever the modes say.
func (c *Chain) observesIn(l *link, r *Request) bool {
	if l.verifies && r.MustSign {
		return false
	}
	return c.observes(l, r.InForce)
}
