package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// maxSwitched is the longest time for which a switch may be on. What should last longer
// belongs in the configuration.
const maxSwitched = 30 * 24 * time.Hour

// The kinds of switches.
const (
	switchMode     = "mode"
	switchLockdown = "lockdown"
)

// switchName names a switch: its kind, and the site or "" for all sites.
type switchName struct{ kind, site string }

// setting is the state of a switch, as gateways tell it to each other. Of two settings of
// one switch the later counts.
type setting struct {
	Kind string      `json:"kind"`
	Site string      `json:"site,omitempty"`
	Mode policy.Mode `json:"mode,omitempty"`
	Hard bool        `json:"hard,omitempty"`
	// Off ends what was switched on before. It is kept until that would have ended.
	Off   bool  `json:"off,omitempty"`
	Until int64 `json:"until"` // UNIX milliseconds
	Set   int64 `json:"set"`   // UNIX nanoseconds, when it was set
}

func (s *setting) name() switchName { return switchName{s.Kind, s.Site} }
func (s *setting) until() time.Time { return time.UnixMilli(s.Until) }
func (s *setting) switched() policy.Switched {
	return policy.Switched{Mode: s.Mode, Hard: s.Hard, Until: s.until()}
}

// switchboard has the switches of all sites. It outlives reloads, and a configuration
// without a site does not lose what is switched on for that site. With a shared store it
// tells other gateways what is switched, and learns what they have switched.
type switchboard struct {
	all    policy.Switch // the lockdown of all sites
	events events

	mu       sync.Mutex
	settings map[switchName]setting // until they end
	sites    map[string]*siteState  // those that are guarded
	timer    *time.Timer            // for the next setting that ends; nil without one
	apps     []*App                 // that run; two during a reload
	link     *storeLink             // to the store of the last of them; nil without a shared one
}

type switchboardKey struct{}

// current is the app that runs, or nil.
var current atomic.Pointer[App]

func newSwitchboard() (*switchboard, error) {
	return &switchboard{settings: map[switchName]setting{}, sites: map[string]*siteState{}}, nil
}

// Close stops the timer.
func (b *switchboard) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	return nil
}

// start is called when an app starts, with the store that it shares with other gateways,
// or nil. It reads what they have switched.
func (b *switchboard) start(a *App) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apps = append(b.apps, a)
	current.Store(a)
	b.connect(a.shared)
}

// stop is called when an app stops. The events end with the last app.
func (b *switchboard) stop(a *App) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.Index(b.apps, a); at >= 0 {
		b.apps = slices.Delete(b.apps, at, at+1)
	}
	if len(b.apps) == 0 {
		current.Store(nil)
		b.events.end()
		b.connect(nil)
		return
	}
	last := b.apps[len(b.apps)-1]
	current.Store(last)
	b.connect(last.shared)
}

// connect links the board to a store, or to none.
func (b *switchboard) connect(shared store.Store) {
	if b.link != nil && b.link.store != shared {
		b.link.stop()
		b.link = nil
	}
	if shared == nil {
		return
	}
	if b.link == nil {
		b.link = newStoreLink(b, shared)
	}
	b.link.read() // also the switches of sites that are new
}

// join gives a site the switches that are on.
func (b *switchboard) join(s *siteState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sites[s.name] = s
	for _, kind := range []string{switchMode, switchLockdown} {
		if on, ok := b.settings[switchName{kind, s.name}]; ok {
			b.apply(&on)
		}
	}
}

func (b *switchboard) leave(s *siteState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sites[s.name] == s {
		delete(b.sites, s.name)
	}
}

// set switches s on for a time, or off if the time is 0, here and on all gateways of the
// store. It says by whom in the log. The error says why other gateways do not know.
func (b *switchboard) set(s setting, lasts time.Duration, by string) error {
	b.mu.Lock()
	now := time.Now()
	before, known := b.settings[s.name()]
	s.Set = max(now.UnixNano(), before.Set+1)
	s.Until = now.Add(lasts).UnixMilli()
	if s.Off = lasts == 0; s.Off {
		s.Until = now.Add(time.Minute).UnixMilli()
		if known {
			s.Until = max(s.Until, before.Until)
		}
	}
	b.merge(s, by)
	link := b.link
	b.mu.Unlock()
	if link == nil {
		return nil
	}
	err := link.share(s)
	if err != nil {
		link.read() // shares it as soon as the store answers
	}
	return err
}

// merge takes over a setting if it is later than the known one.
func (b *switchboard) merge(s setting, by string) {
	before, known := b.settings[s.name()]
	if known && before.Set >= s.Set || !s.until().After(time.Now()) {
		return
	}
	b.settings[s.name()] = s
	b.apply(&s)
	b.wind()
	if !s.Off {
		how := zap.String("mode", string(s.Mode))
		if s.Kind == switchLockdown {
			how = zap.Bool("hard", s.Hard)
		}
		switchLogger().Warn("switched on", s.fields(how, zap.Time("until", s.until()), zap.String("by", by))...)
	} else if known && !before.Off {
		switchLogger().Warn("switched off", s.fields(zap.String("by", by))...)
	}
}

// apply makes a setting count.
func (b *switchboard) apply(s *setting) {
	to := b.of(s.name())
	switch {
	case to == nil:
	case s.Off:
		to.Off()
	default:
		to.Set(s.switched())
	}
}

// of returns the switch of that name, or nil if the site is not guarded.
func (b *switchboard) of(name switchName) *policy.Switch {
	site := b.sites[name.site]
	switch {
	case name.kind == switchLockdown && name.site == "":
		return &b.all
	case site == nil:
		return nil
	case name.kind == switchMode:
		return &site.switches.Mode
	}
	return &site.switches.Lockdown
}

// wind sets the timer to the next setting that ends.
func (b *switchboard) wind() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	var next int64
	for _, s := range b.settings {
		if next == 0 || s.Until < next {
			next = s.Until
		}
	}
	if next > 0 {
		b.timer = time.AfterFunc(time.Until(time.UnixMilli(next)), b.expire)
	}
}

// orphans logs the switches of sites that a does not guard: such a site may have a new
// name, since another host stands first.
func (b *switchboard) orphans(a *App) {
	guarded := map[string]bool{"": true}
	for _, s := range a.sites() {
		guarded[s.Name] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.settings {
		if !s.Off && !guarded[s.Site] {
			switchLogger().Warn("a switch is on for a site that is not guarded: has its first host changed?", s.fields(zap.Time("until", s.until()))...)
		}
	}
}

// expire forgets what has ended. Requests do not depend on it: they compare the time.
func (b *switchboard) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for name, s := range b.settings {
		if s.until().After(now) {
			continue
		}
		delete(b.settings, name)
		if to := b.of(name); to != nil {
			to.Off()
		}
		if !s.Off {
			switchLogger().Warn("switched off", s.fields(zap.String("by", "time"))...)
		}
	}
	b.wind()
}

// switchLogger returns the logger of the running configuration.
func switchLogger() *zap.Logger { return currentLogger().Named("switch") }

// storeLogger returns the logger of the Redis. It is that of the running configuration.
func storeLogger() *zap.Logger { return currentLogger().Named("store") }

// currentLogger returns the gateways' logger of the running configuration. Unlike Caddy's
// default log, it writes to every log that includes the gateways.
func currentLogger() *zap.Logger {
	if app := current.Load(); app != nil && app.logger != nil {
		return app.logger
	}
	return caddy.Log().Named("http.handlers.restwarden")
}

// fields are those of a line of the log.
func (s *setting) fields(more ...zap.Field) []zap.Field {
	site := s.Site
	if site == "" {
		site = allSites
	}
	return append([]zap.Field{zap.String("switch", s.Kind), zap.String("site", site)}, more...)
}

// allSites stands in the log for the lockdown of all sites.
const allSites = "all"
