package store

import (
	"context"
	"fmt"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
)

// Limiter counts events per key against one rate, in memory. It keeps at most
// CounterCapacity counters.
type Limiter struct{ gcra *throttled.GCRARateLimiterCtx }

// limiterAttempts is how often a counter that others change meanwhile is tried again. In
// memory that takes no time, and an event that is not given back would be lost for good.
const limiterAttempts = 1000

// NewLimiter returns a limiter for rate.
func NewLimiter(rate Rate) (*Limiter, error) {
	counters, err := memstore.NewCtx(CounterCapacity)
	if err != nil {
		return nil, fmt.Errorf("limiter: %w", err)
	}
	gcra, err := newGCRA(counters, rate)
	if err != nil {
		return nil, err
	}
	gcra.SetMaxCASAttemptsLimit(limiterAttempts)
	return &Limiter{gcra}, nil
}

// Allow counts one event under key and tells whether it is within the rate.
func (l *Limiter) Allow(key string) bool {
	t, err := take(context.Background(), l.gcra, key)
	return err == nil && t.Allowed
}

// Refund gives back one event that Allow has counted under key and allowed. Above a full
// quota nothing is added.
func (l *Limiter) Refund(key string) {
	_, _, _ = l.gcra.RateLimitCtx(context.Background(), key, -1) // an error costs one event of the quota
}
