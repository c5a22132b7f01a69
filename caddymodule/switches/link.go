package switches

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

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
		b.merge(s, "another gateway")
	}
}

// share stores a setting and sends it to the other gateways.
func (l *link) share(s setting) error {
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
	return l.store.Announce(l.ctx, messageMark, messageWord+string(text), ttl)
}

// reconcile takes over the settings of the store that are later than those known here,
// and shares those that are not.
func (l *link) reconcile() error {
	names, own := l.known()
	stored := map[id]setting{}
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
			if s, err := parseSetting(values[keys[i]], time.Now()); err == nil && s.id() == name {
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
func (l *link) known() (names []id, own map[id]setting) {
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	names = []id{{kindLockdown, ""}}
	for site := range b.sites {
		names = append(names, id{kindMode, site}, id{kindLockdown, site})
	}
	own = make(map[id]setting, len(b.settings))
	for name, s := range b.settings {
		own[name] = s
		if name.site != "" && b.sites[name.site] == nil {
			names = append(names, name)
		}
	}
	return names, own
}
