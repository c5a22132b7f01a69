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
	return &Limiter{gcra}, nil
}

// Allow counts one event under key and tells whether it is within the rate.
func (l *Limiter) Allow(key string) bool {
	t, err := take(context.Background(), l.gcra, key)
	return err == nil && t.Allowed
}
