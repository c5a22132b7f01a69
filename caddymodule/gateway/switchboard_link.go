package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

const (
	// switchWord begins the messages about switches. The messages of callers begin with
	// a hash.
	switchWord = "switch "
	// switchMark is a key that changes with every message.
	switchMark = "switch-mark"
	// readAtOnce is how many switches are read in one round trip.
	readAtOnce = 500
	// readAgain is the pause before the store is read again if that has failed.
	readAgain = time.Second
	// heardAtOnce is how many messages may wait. If more come, the store is read.
	heardAtOnce = 64
)

// storeLink connects a switchboard to the gateways of a store. Each setting is a value of
// the store for as long as it lasts, for gateways that come later, and a message, for
// those that run.
type storeLink struct {
	board *switchboard
	store store.Store
	end   func() // of the listener

	ctx    context.Context
	cancel context.CancelFunc
	wanted chan struct{} // a reading is to begin
	heard  chan string
}

// newStoreLink connects in the background.
func newStoreLink(b *switchboard, shared store.Store) *storeLink {
	l := &storeLink{board: b, store: shared, wanted: make(chan struct{}, 1), heard: make(chan string, heardAtOnce)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.end = shared.Listen(l.hear)
	shared.Secret() // makes the store connect
	go l.run()
	return l
}

// stop ends the link. It does not wait for what goes on, which may need the board.
func (l *storeLink) stop() {
	l.cancel()
	l.end()
}

// read reads the store in the background.
func (l *storeLink) read() {
	select {
	case l.wanted <- struct{}{}:
	default: // one waits already
	}
}

func (l *storeLink) run() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case text := <-l.heard:
			if s, err := parseSetting(text, time.Now()); err == nil {
				l.take(s)
			}
		case <-l.wanted:
			if l.reconcile() != nil {
				time.AfterFunc(readAgain, l.read)
			}
		}
	}
}

// hear passes a message of the store on. It does not wait: the store tells all its
// listeners one after the other.
func (l *storeLink) hear(message string) {
	if message == "" { // messages may have been missed
		l.read()
		return
	}
	text, ours := strings.CutPrefix(message, switchWord)
	if !ours {
		return
	}
	select {
	case l.heard <- text:
	default:
		l.read()
	}
}

// take takes over a setting of another gateway, if it is for a site that is guarded here.
func (l *storeLink) take(s setting) {
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.ctx.Err() == nil && (s.Site == "" || b.sites[s.Site] != nil) {
		b.merge(s, "another gateway")
	}
}

// share stores a setting and sends it to the other gateways.
func (l *storeLink) share(s setting) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	ttl := time.Until(s.until())
	if ttl <= 0 {
		return nil
	}
	if err := l.store.Set(l.ctx, s.key(), string(text), ttl); err != nil {
		return err
	}
	return l.store.Announce(l.ctx, switchMark, switchWord+string(text), ttl)
}

// reconcile takes over the settings of the store that are later than those known here,
// and shares those that are not.
func (l *storeLink) reconcile() error {
	names, own := l.known()
	stored := map[switchName]setting{}
	for some := range slices.Chunk(names, readAtOnce) {
		keys := make([]string, len(some))
		for i, name := range some {
			keys[i] = (&setting{Kind: name.kind, Site: name.site}).key()
		}
		values, err := l.store.GetAll(l.ctx, keys...)
		if err != nil {
			return err
		}
		for i, name := range some {
			if s, err := parseSetting(values[keys[i]], time.Now()); err == nil && s.name() == name {
				stored[name] = s
				l.take(s)
			}
		}
	}
	for name, s := range own {
		if s.Set > stored[name].Set {
			if err := l.share(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// known returns the names of all switches and the settings that are known here.
func (l *storeLink) known() (names []switchName, own map[switchName]setting) {
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	names = []switchName{{switchLockdown, ""}}
	for site := range b.sites {
		names = append(names, switchName{switchMode, site}, switchName{switchLockdown, site})
	}
	own = make(map[switchName]setting, len(b.settings))
	for name, s := range b.settings {
		own[name] = s
		if name.site != "" && b.sites[name.site] == nil {
			names = append(names, name)
		}
	}
	return names, own
}

// key is the key of the setting in a store.
func (s *setting) key() string { return "switch:" + s.Kind + ":" + s.Site }

var errSetting = errors.New("not a setting of a switch")

// parseSetting reads a setting of another gateway. It accepts only what set can make.
func parseSetting(text string, now time.Time) (s setting, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || d.More() {
		return s, errors.Join(errSetting, err)
	}
	left := s.until().Sub(now)
	switch {
	case left <= 0, left > maxSwitched+time.Hour, s.Set <= 0, time.Unix(0, s.Set).Sub(now) > time.Hour:
		return s, errSetting
	case s.Kind == switchLockdown && s.Mode == "":
		return s, nil
	case s.Kind == switchMode && s.Site != "" && !s.Hard && (s.Mode == policy.Observe || s.Mode == policy.Enforce || s.Off && s.Mode == ""):
		return s, nil
	}
	return s, errSetting
}
