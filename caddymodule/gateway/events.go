package gateway

import (
	"sync"
	"sync/atomic"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

const (
	// eventsKept is how many records wait for one follower. One that reads too slowly
	// loses the others.
	eventsKept = 256
	// maxFollowers bounds the followers of one process.
	maxFollowers = 64
)

// events sends records to those who follow them. The zero value has no followers.
type events struct {
	count atomic.Int32 // of followers, so that a refusal takes no lock without any

	mu        sync.Mutex
	followers map[*follower]struct{}
}

// follower receives records until ended is closed.
type follower struct {
	records chan adminapi.Refusal
	lost    atomic.Uint64 // records since the follower was last told
	ended   chan struct{}
}

// follow returns a new follower; ok is false if there are too many. The caller must call
// leave.
func (e *events) follow() (f *follower, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.followers) >= maxFollowers {
		return nil, false
	}
	if e.followers == nil {
		e.followers = map[*follower]struct{}{}
	}
	f = &follower{records: make(chan adminapi.Refusal, eventsKept), ended: make(chan struct{})}
	e.followers[f] = struct{}{}
	e.count.Store(int32(len(e.followers)))
	return f, true
}

func (e *events) leave(f *follower) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.followers, f)
	e.count.Store(int32(len(e.followers)))
}

// send gives rec to every follower. It waits for none.
func (e *events) send(rec adminapi.Refusal) {
	if e.count.Load() == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for f := range e.followers {
		select {
		case f.records <- rec:
		default:
			f.lost.Add(1)
		}
	}
}

// end ends all followers.
func (e *events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for f := range e.followers {
		close(f.ended)
	}
	clear(e.followers)
	e.count.Store(0)
}
