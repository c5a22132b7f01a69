// Package store keeps short-lived facts that the gateways of a site share: callers,
// proofs about records, counters of limits, and used signatures.
//
// [Store] is the interface. [Memory] is the store of a single gateway, and package
// gateway has one in Redis; both pass the tests of package storetest. [Limiter] is a
// bounded set of counters with one rate, and [Listeners] serves a Store's messages.
package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Store keeps short-lived facts that the gateways of a site share (docs/project/design 11). Every
// method returns within the store's own deadline. An error means that the result is
// unknown.
type Store interface {
	// Get returns the value under key, which begins with its kind and a colon; ok is false if there is none.
	Get(ctx context.Context, key string) (value string, ok bool, err error)
	// GetAll returns the values of several keys in one round trip; keys without a value
	// are missing in values.
	GetAll(ctx context.Context, keys ...string) (values map[string]string, err error)
	// Set keeps value under key for ttl.
	Set(ctx context.Context, key, value string, ttl time.Duration) error
	// SetAll keeps value under several keys for ttl, in one round trip. After an error, some
	// of them may be kept.
	SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error
	// Delete forgets keys; unknown keys are no error.
	Delete(ctx context.Context, keys ...string) error
	// SetOnce remembers key for ttl and tells whether it was new. It returns ErrFull if
	// nothing more can be remembered; any other error means that the result is unknown.
	SetOnce(ctx context.Context, key string, ttl time.Duration) (first bool, err error)
	// Take counts one event under key against rate.
	Take(ctx context.Context, key string, rate Rate) (Taken, error)

	// Announce puts under key, for ttl, a value that was never there before. It then
	// sends message to the listeners of all gateways, this one included.
	Announce(ctx context.Context, key, message string, ttl time.Duration) error
	// Listen calls f with each message, in order, until stop is called. It calls f with
	// "" if messages may have been missed or Secret has changed.
	Listen(f func(message string)) (stop func())
	// Secret is the key of the hashes that gateways compare. It is nil until the store
	// has been reached, and always nil if the store is not shared. Secret does not wait:
	// the first call makes the store connect.
	Secret() []byte
}

// Shared returns the store that gateways share, without what takes its place while it fails.
func Shared(s Store) Store {
	if f, ok := s.(interface{ Shared() Store }); ok {
		return f.Shared()
	}
	return s
}

// ErrFull is returned by SetOnce if it could remember more only by forgetting an entry
// too early.
var ErrFull = errors.New("replay memory is full")

// Rate is Count events in the time Per.
type Rate struct {
	Count int
	Per   time.Duration
}

// Taken is the state of a counter after one event.
type Taken struct {
	Allowed    bool
	Remaining  int
	ResetAfter time.Duration // time until the counter is as new
	RetryAfter time.Duration // time until the next event is allowed; 0 if Allowed
}

// Listeners are the functions that a Store calls with its messages. The zero value has
// none.
type Listeners struct {
	mu   sync.Mutex
	next int
	all  map[int]func(string)
}

// Add adds f. The returned stop removes it.
func (l *Listeners) Add(f func(message string)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]func(string){}
	}
	id := l.next
	l.next++
	l.all[id] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

// Tell calls every listener with message. Concurrent calls wait for each other.
func (l *Listeners) Tell(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		f(message)
	}
}
