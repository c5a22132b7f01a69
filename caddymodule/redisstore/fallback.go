package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// WithFallback returns a store that uses memory while shared fails (docs/project/design 11). Facts and
// counters become local; whether a signature was used is unknown. Values written to
// memory during an outage are read only during the outage. GetAll has no fallback, since
// callers have a cache of their own.
func WithFallback(shared store.Store, memory *store.Memory) store.Store {
	return fallbackStore{shared, memory}
}

type fallbackStore struct {
	store.Store
	memory *store.Memory
}

// Shared is for [store.Shared].
func (s fallbackStore) Shared() store.Store { return s.Store }

// Get implements store.Store.
func (s fallbackStore) Get(ctx context.Context, key string) (string, bool, error) {
	value, ok, err := s.Store.Get(ctx, key)
	if err != nil {
		return s.memory.Get(ctx, key)
	}
	return value, ok, nil
}

// Set implements store.Store.
func (s fallbackStore) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if s.Store.Set(ctx, key, value, ttl) != nil {
		return s.memory.Set(ctx, key, value, ttl)
	}
	return nil
}

// SetAll implements store.Store.
func (s fallbackStore) SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error {
	if s.Store.SetAll(ctx, value, ttl, keys...) != nil {
		return s.memory.SetAll(ctx, value, ttl, keys...)
	}
	return nil
}

// Delete implements store.Store.
func (s fallbackStore) Delete(ctx context.Context, keys ...string) error {
	return errors.Join(s.memory.Delete(ctx, keys...), s.Store.Delete(ctx, keys...))
}

// SetOnce implements store.Store. It also asks the memory of this process, which still
// knows a key after Redis has lost it.
func (s fallbackStore) SetOnce(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	first, err := s.Store.SetOnce(ctx, key, ttl)
	if !first || err != nil {
		return false, err
	}
	if firstHere, err := s.memory.SetOnce(ctx, key, ttl); err == nil {
		return firstHere, nil
	}
	return true, nil // no room to remember it in memory too
}

// Take implements store.Store.
func (s fallbackStore) Take(ctx context.Context, key string, rate store.Rate) (store.Taken, error) {
	taken, err := s.Store.Take(ctx, key, rate)
	if err != nil {
		return s.memory.Take(ctx, key, rate)
	}
	return taken, nil
}
