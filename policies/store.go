package policies

import (
	"context"
	"errors"
	"time"
)

// Store keeps short-lived facts that all gateways of a site share. Every call
// returns within the store's own deadline. Keys are built by policies from
// hashes and checked numbers, never from what a client sent.
type Store interface {
	// Get returns the value under key; ok is false where there is none.
	Get(ctx context.Context, key string) (value string, ok bool, err error)
	// Set keeps value under key for ttl.
	Set(ctx context.Context, key, value string, ttl time.Duration) error
	// Delete forgets keys; unknown ones are no error.
	Delete(ctx context.Context, keys ...string) error
	// SetOnce remembers key for ttl and tells whether it was new. An error means
	// that it cannot be known, ErrStoreFull that nothing more can be remembered.
	SetOnce(ctx context.Context, key string, ttl time.Duration) (first bool, err error)
	// Take counts one event under key against rate.
	Take(ctx context.Context, key string, rate Rate) (Taken, error)
}

// ErrStoreFull is returned by SetOnce where remembering more would mean
// forgetting what must not be forgotten.
var ErrStoreFull = errors.New("replay memory is full")

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
