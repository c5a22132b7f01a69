// Package refusals keeps the last refusals of a site, and sends refusals to those who follow them.
package refusals

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

const (
	// Waiting is how many records wait for one follower. One that reads too slowly loses
	// the others.
	Waiting = 256
	// maxFollowers bounds the followers of one process.
	maxFollowers = 64
)

// Followers are those to whom records are sent. The zero value are none.
type Followers struct {
	count atomic.Int32 // so that a refusal takes no lock without any

	mu  sync.Mutex
	all map[*Follower]struct{}
}

// Follower receives records.
type Follower struct {
	records chan adminapi.Refusal
	lost    atomic.Uint64
	ended   chan struct{}
}

// Records are sent as they happen.
func (f *Follower) Records() <-chan adminapi.Refusal { return f.records }

// Lost returns how many records the follower has lost since it was last asked.
func (f *Follower) Lost() uint64 { return f.lost.Swap(0) }

// Ended is closed when no record will follow.
func (f *Follower) Ended() <-chan struct{} { return f.ended }

// Follow returns a new follower, or an error if there are too many. The caller must call
// Leave.
func (s *Followers) Follow() (*Follower, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxFollowers {
		return nil, fmt.Errorf("%d others follow the events already", maxFollowers)
	}
	if s.all == nil {
		s.all = map[*Follower]struct{}{}
	}
	f := &Follower{records: make(chan adminapi.Refusal, Waiting), ended: make(chan struct{})}
	s.all[f] = struct{}{}
	s.count.Store(int32(len(s.all)))
	return f, nil
}

// Leave ends what is sent to f.
func (s *Followers) Leave(f *Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, f)
	s.count.Store(int32(len(s.all)))
}

// Send gives rec to every follower. It waits for none.
func (s *Followers) Send(rec adminapi.Refusal) {
	if s.count.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.all {
		select {
		case f.records <- rec:
		default:
			f.lost.Add(1)
		}
	}
}

// End ends all followers.
func (s *Followers) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.all {
		close(f.ended)
	}
	clear(s.all)
	s.count.Store(0)
}
