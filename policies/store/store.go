// Package store keeps short-lived facts that all gateways of a site share: what is
// known of callers and records, counters of limits, and signatures that were used.
//
// [Store] is the interface. [Memory] is the store of a gateway that stands alone;
// package caddymodule has the one in Redis. Both pass the tests of package storetest.
package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Store keeps short-lived facts that all gateways of a site share (docs/design 11).
// Every call returns within the store's own deadline. An error means that the
// answer cannot be known.
type Store interface {
	// Get returns the value under key; ok is false where there is none.
	Get(ctx context.Context, key string) (value string, ok bool, err error)
	// GetAll is Get for several keys in one round trip; values holds those found.
	GetAll(ctx context.Context, keys ...string) (values map[string]string, err error)
	// Set keeps value under key for ttl.
	Set(ctx context.Context, key, value string, ttl time.Duration) error
	// Delete forgets keys; unknown ones are no error.
	Delete(ctx context.Context, keys ...string) error
	// SetOnce remembers key for ttl and tells whether it was new. An error means
	// that it cannot be known, ErrFull that nothing more can be remembered.
	SetOnce(ctx context.Context, key string, ttl time.Duration) (first bool, err error)
	// Take counts one event under key against rate.
	Take(ctx context.Context, key string, rate Rate) (Taken, error)

	// Announce puts a value under key for ttl that has never been there, then
	// sends message to the listeners of all gateways, this one included.
	Announce(ctx context.Context, key, message string, ttl time.Duration) error
	// Listen calls f with each message, in order, and with "" where messages may
	// have been missed or Secret has changed, until stop is called.
	Listen(f func(message string)) (stop func())
	// Secret is the key of the hashes that gateways compare. It is nil while the
	// store has not been reached, and always where nobody shares it. It does not
	// wait: the first call makes the store find out.
	Secret() []byte
}

// ErrFull is returned by SetOnce where remembering more would mean
// forgetting what must not be forgotten.
var ErrFull = errors.New("replay memory is full")

// Rate is so many events in so much time.
type Rate struct {
	Count int
	Per   time.Duration
}

// Taken is the state of a counter after one event.
type Taken struct {
	Allowed    bool
	Remaining  int
	ResetAfter time.Duration // until the counter is as new
	RetryAfter time.Duration // until the next event is allowed; 0 where Allowed
}

// Listeners are the functions that a Store calls with messages. The zero value
// has none.
type Listeners struct {
	mu   sync.Mutex
	next int
	all  map[int]func(string)
}

// Add adds f until stop is called.
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

// Tell calls every listener with message, one caller at a time.
func (l *Listeners) Tell(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		f(message)
	}
}
