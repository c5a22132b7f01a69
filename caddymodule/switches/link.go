package switches

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/store"
)

const (
	// messageWord begins the messages about switches. The messages of callers begin with
	// a hash.
	messageWord = "switch "
	// messageMark is a key that changes with every message.
	messageMark = "switch-mark"
	// readAtOnce is how many switches are read in one round trip.
	readAtOnce = 500
	// readAgain is the pause before the store is read again if that has failed.
	readAgain = time.Second
	// heardAtOnce is how many messages may wait. If more come, the store is read.
	heardAtOnce = 64
)

// link connects a board to the gateways of a store. Each setting is a value of
// the store for as long as it lasts, for gateways that come later, and a message, for
// those that run.
type link struct {
	board *Board
	store store.Store
	end   func() // of the listener

	ctx    context.Context
	cancel context.CancelFunc
	wanted chan struct{} // a reading is to begin
	heard  chan string
}

// newLink connects in the background.
func newLink(b *Board, shared store.Store) *link {
	l := &link{board: b, store: shared, wanted: make(chan struct{}, 1), heard: make(chan string, heardAtOnce)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.end = shared.Listen(l.hear)
	shared.Secret() // makes the store connect
	go l.run()
	return l
}

// stop ends the link. It does not wait for what goes on, which may need the board.
func (l *link) stop() {
	l.cancel()
	l.end()
}

// read reads the store in the background.
func (l *link) read() {
	select {
	case l.wanted <- struct{}{}:
	default: // one waits already
	}
}

func (l *link) run() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case text := <-l.heard:
			if s, err := parseSetting(text, time.Now()); err == nil {
				l.take(s)
				if s.isLine() && l.restore(s.stored()) != nil {
					time.AfterFunc(readAgain, l.read)
				}
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
func (l *link) hear(message string) {
	if message == "" { // messages may have been missed
		l.read()
		return
	}
	text, ours := strings.CutPrefix(message, messageWord)
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
func (l *link) take(s setting) {
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.ctx.Err() == nil && (s.Site == "" || b.sites[s.Site] != nil) {
		before := b.settings[s.id()].Set
		b.merge(s, "another gateway")
		if b.settings[s.id()].Set != before {
			if err := b.save(); err != nil {
				b.logger().Error("what another gateway has switched is not kept", s.fields(zap.Error(err))...)
			}
		}
	}
}

// share stores a setting and sends it to the other gateways.
func (l *link) share(s setting) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	ttl := s.left(time.Now())
	if ttl <= 0 {
		return nil
	}
	if s.isLine() {
		err = l.shareLines(s.Site)
	} else {
		err = l.store.Set(l.ctx, s.stored().key(), string(text), ttl)
	}
	if err != nil {
		return err
	}
	return l.store.Announce(l.ctx, messageMark, messageWord+string(text), ttl)
}

// shareLines stores the lines of a site, with those that other gateways have stored. Of what two gateways store at once one may be
// lost: each of them tells the other, and both restore it.
func (l *link) shareLines(site string) error {
	key := id{kind: kindLines, site: site}.key()
	text, _, err := l.store.Get(l.ctx, key)
	if err != nil {
		return err
	}
	all, now := map[id]setting{}, time.Now()
	stored := settingsIn(text, kindLines)
	for _, s := range stored {
		all[s.id()] = s
	}
	_, own := l.known()
	var last time.Duration
	var list []setting
	for name, s := range own {
		if s.isLine() && s.Site == site && s.Set > all[name].Set {
			all[name] = s
		}
	}
	for _, s := range all {
		list = append(list, s)
		last = max(last, s.left(now))
	}
	if len(list) == 0 {
		return nil
	}
	value, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return l.store.Set(l.ctx, key, string(value), last)
}

// reconcile takes over the settings of the store that are later than those known here,
// and shares those that are not.
func (l *link) reconcile() error { return l.restore() }

// restore is reconcile for some values of the store; none stands for all.
func (l *link) restore(only ...id) error {
	names, own := l.known()
	if len(only) > 0 {
		names = only
	}
	stored, err := l.takeStored(names)
	if err != nil {
		return err
	}
	for name, s := range own {
		if s.Set > stored[name].Set && (len(only) == 0 || slices.Contains(only, s.stored())) {
			if err := l.share(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeStored takes over the settings of some values of the store, and returns all of them.
func (l *link) takeStored(names []id) (map[id]setting, error) {
	stored := map[id]setting{}
	for some := range slices.Chunk(names, readAtOnce) {
		keys := make([]string, len(some))
		for i, name := range some {
			keys[i] = name.key()
		}
		values, err := l.store.GetAll(l.ctx, keys...)
		if err != nil {
			return nil, err
		}
		for i, name := range some {
			for _, s := range settingsIn(values[keys[i]], name.kind) {
				if s.stored() == name {
					stored[s.id()] = s
					l.take(s)
				}
			}
		}
	}
	return stored, nil
}

// maxStored bounds a value of the store, in bytes. What is longer holds something else.
const maxStored = 4 << 20

// settingsIn returns the settings of a value of the store: those of lines are a list.
func settingsIn(value, kind string) (all []setting) {
	if len(value) > maxStored {
		return nil
	}
	if kind == kindLines {
		all, _ = readSettings(value, func(*setting) time.Time { return time.Now() }) // "" is none
		return all
	}
	if s, err := parseSetting(value, time.Now()); err == nil {
		all = []setting{s}
	}
	return all
}

// known returns the names of all values of the store and the settings that are known here.
func (l *link) known() (names []id, own map[id]setting) {
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	names = []id{{kind: kindLockdown}}
	for site := range b.sites {
		names = append(names, id{kind: kindMode, site: site}, id{kind: kindLockdown, site: site}, id{kind: kindLines, site: site})
	}
	own = make(map[id]setting, len(b.settings))
	for name, s := range b.settings {
		own[name] = s.setting
		if name.site != "" && b.sites[name.site] == nil && !slices.Contains(names, s.stored()) {
			names = append(names, s.stored())
		}
	}
	return names, own
}
