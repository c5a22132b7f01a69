// Package switches has what operators switch while the gateway runs: the mode of a site, lockdowns, and lines that open or close
// calls. It survives reloads and restarts, and tells the other gateways of a store.
package switches

import (
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// Board has the switches of all sites. It outlives reloads, and a configuration without a
// site does not lose what is switched on for that site. With a shared store it tells other
// gateways what is switched, and learns what they have switched.
type Board struct {
	logger func() *zap.Logger
	all    policy.Switch // the lockdown of all sites

	mu       sync.Mutex
	file     *file                       // nil before Connect
	settings map[id]kept                 // until they end
	sites    map[string]*policy.Switches // of those that are guarded
	timer    *time.Timer                 // for the next setting that ends; nil without one
	link     *link                       // nil without a shared store
}

// kept is a setting until it ends.
type kept struct {
	setting
	ends time.Time // by the clock that runs on whatever the time is set to
}

// New returns a board on which nothing is switched on. It logs to the logger that logger
// returns at the time.
func New(logger func() *zap.Logger) *Board {
	return &Board{logger: logger, settings: map[id]kept{}, sites: map[string]*policy.Switches{}}
}

// Close stops the timer.
func (b *Board) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	return nil
}

// Connect links the board to the store that the gateway shares with others, or to none if
// shared is nil. It reads what they have switched, in the background, and first what was switched on before a restart, from a
// file, where all is kept from then on.
func (b *Board) Connect(shared store.Store, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if path != "" && (b.file == nil || b.file.path != path) {
		b.open(path)
	}
	if b.link != nil && b.link.store != shared {
		b.link.stop()
		b.link = nil
	}
	if shared == nil {
		return
	}
	if b.link == nil {
		b.link = newLink(b, shared)
	}
	b.link.read() // also the switches of sites that are new
}

// Read reads what other gateways have switched, and returns once that is known, or cannot be read.
func (b *Board) Read() {
	b.mu.Lock()
	l := b.link
	b.mu.Unlock()
	if l != nil && l.reconcile() != nil {
		l.read() // again
	}
}

// Join lets the switches of a site be those of the board: what is on counts at once.
func (b *Board) Join(site string, own *policy.Switches) {
	own.All = &b.all
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sites[site] = own
	for _, kind := range []string{kindMode, kindLockdown} {
		if on, ok := b.settings[id{kind: kind, site: site}]; ok {
			b.apply(&on.setting)
		}
	}
	b.applyLines(site)
}

// Leave undoes Join. The board remembers what is switched on.
func (b *Board) Leave(site string, own *policy.Switches) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sites[site] == own {
		delete(b.sites, site)
	}
}

// SetMode switches the mode of a site for a time of up to [adminapi.MaxSwitched], or back if the time is 0,
// here and on all gateways of the store. The log says by whom. The error says why other gateways
// do not know.
func (b *Board) SetMode(site string, mode policy.Mode, lasts time.Duration, by adminapi.By) error {
	return b.set(setting{Kind: kindMode, Site: site, Mode: mode}, lasts, by)
}

// SetLockdown locks a site, or all sites if site is "", as [Board.SetMode] switches the mode.
func (b *Board) SetLockdown(site string, hard bool, lasts time.Duration, by adminapi.By) error {
	return b.set(setting{Kind: kindLockdown, Site: site, Hard: hard}, lasts, by)
}

// AllLocked returns the lockdown of all sites, if there is one.
func (b *Board) AllLocked(now time.Time) (on policy.Switched, ok bool) { return b.all.At(now) }

// ErrUntold says that a switch counts here, and that other gateways do not know.
var ErrUntold = errors.New("the other gateways could not be told, and will be once the store answers")

func (b *Board) set(s setting, lasts time.Duration, by adminapi.By) error {
	b.mu.Lock()
	if s.isLine() {
		if err := b.checkLine(&s, lasts); err != nil {
			b.mu.Unlock()
			return err
		}
	}
	now := time.Now()
	before, known := b.settings[s.id()]
	s.Set, s.By = max(now.UnixNano(), before.Set+1), by.Text()
	at := time.Unix(0, s.Set) // later than now where the clock was set back
	s.Until = at.Add(lasts).UnixMilli()
	if s.Off = lasts == 0; s.Off {
		s.Calls, s.Until = nil, at.Add(time.Minute).UnixMilli()
		if known {
			s.Until = max(s.Until, min(before.until().UnixMilli(), at.Add(adminapi.MaxSwitched).UnixMilli()))
		}
	}
	if lasts == Forever {
		s.Until = 0
	}
	b.merge(s, by.Address)
	unkept, link := b.save(), b.link
	b.mu.Unlock()
	if link == nil {
		return unkept
	}
	err := link.share(s)
	if err != nil {
		link.read() // shares it as soon as the store answers
		err = errors.Join(ErrUntold, err)
	}
	return errors.Join(unkept, err)
}

// merge takes over a setting if it is later than the known one. The log says that it has come from somewhere, and who has set it.
func (b *Board) merge(s setting, by string) {
	before, known := b.settings[s.id()]
	now := time.Now()
	left := s.left(now)
	if known && before.Set >= s.Set || left <= 0 || s.isLine() && !s.Off && b.full(&s) {
		return
	}
	b.settings[s.id()] = kept{s, now.Add(left)}
	b.forget(s.Kind, s.Site)
	b.apply(&s)
	b.wind()
	told := adminapi.ParseBy(s.By)
	told.Address = by
	if !s.Off {
		b.logger().Warn("switched on", s.fields(append(s.how(), zap.Inline(told))...)...)
	} else if known && !before.Off {
		b.logger().Warn("switched off", s.fields(zap.Inline(told))...)
	}
}

// apply makes a setting count.
func (b *Board) apply(s *setting) {
	if s.isLine() {
		b.applyLines(s.Site)
		return
	}
	to := b.of(s.id())
	switch {
	case to == nil:
	case s.Off:
		to.Off()
	default:
		to.Set(s.switched())
	}
}

// of returns the switch of that name, or nil if the site is not guarded.
func (b *Board) of(name id) *policy.Switch {
	site := b.sites[name.site]
	switch {
	case name.kind == kindLockdown && name.site == "":
		return &b.all
	case site == nil:
		return nil
	case name.kind == kindMode:
		return &site.Mode
	}
	return &site.Lockdown
}

// wind sets the timer to the next setting that ends.
func (b *Board) wind() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	var next time.Time
	for _, s := range b.settings {
		if next.IsZero() || s.ends.Before(next) {
			next = s.ends
		}
	}
	if !next.IsZero() {
		b.timer = time.AfterFunc(time.Until(next), b.expire)
	}
}

// WarnOrphans logs the switches of sites that are not among the guarded ones: such a site may
// have a new name, since another host stands first.
func (b *Board) WarnOrphans(guarded []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.settings {
		if !s.Off && s.Site != "" && !slices.Contains(guarded, s.Site) {
			b.logger().Warn("a switch is on for a site that is not guarded: has its first host changed?", s.fields(s.how()...)...)
		}
	}
}

// expire forgets what has ended. Requests do not depend on it: they compare the time.
func (b *Board) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for name, s := range b.settings {
		if s.ends.After(now) {
			continue
		}
		delete(b.settings, name)
		if s.isLine() {
			b.applyLines(s.Site)
		} else if to := b.of(name); to != nil {
			to.Off()
		}
		if !s.Off {
			b.logger().Warn("switched off", s.fields(zap.String("by", "time"))...)
		}
	}
	b.wind()
}
