package metrics

import (
	"context"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// Operations and results of a store, the labels of its metric.
var (
	storeOps     = []string{"get", "set", "delete", "set_once", "take", "announce"}
	storeResults = []Result{resultOK, ResultError, ResultTimeout, ResultSkipped}
)

// countedStore counts the operations of a store.
type countedStore struct {
	store.Store
	m        *Metrics
	resultOf func(error) Result
}

// Store returns s with its operations counted. resultOf classifies an error: as ResultError,
// ResultTimeout or ResultSkipped.
func (m *Metrics) Store(s store.Store, resultOf func(error) Result) store.Store {
	return &countedStore{s, m, resultOf}
}

func (s *countedStore) count(op string, err error) {
	if err == nil {
		s.m.storeDone[op].Inc()
		return
	}
	s.m.storeOperations.WithLabelValues(op, string(s.resultOf(err))).Inc()
}

// Get implements store.Store.
func (s *countedStore) Get(ctx context.Context, key string) (string, bool, error) {
	value, ok, err := s.Store.Get(ctx, key)
	s.count("get", err)
	return value, ok, err
}

// GetAll implements store.Store.
func (s *countedStore) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	values, err := s.Store.GetAll(ctx, keys...)
	s.count("get", err)
	return values, err
}

// Set implements store.Store.
func (s *countedStore) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	err := s.Store.Set(ctx, key, value, ttl)
	s.count("set", err)
	return err
}

// SetAll implements store.Store.
func (s *countedStore) SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error {
	err := s.Store.SetAll(ctx, value, ttl, keys...)
	s.count("set", err)
	return err
}

// Delete implements store.Store.
func (s *countedStore) Delete(ctx context.Context, keys ...string) error {
	err := s.Store.Delete(ctx, keys...)
	s.count("delete", err)
	return err
}

// SetOnce implements store.Store.
func (s *countedStore) SetOnce(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	first, err := s.Store.SetOnce(ctx, key, ttl)
	s.count("set_once", err)
	return first, err
}

// Take implements store.Store.
func (s *countedStore) Take(ctx context.Context, key string, rate store.Rate) (store.Taken, error) {
	taken, err := s.Store.Take(ctx, key, rate)
	s.count("take", err)
	return taken, err
}

// Announce implements store.Store.
func (s *countedStore) Announce(ctx context.Context, key, message string, ttl time.Duration) error {
	err := s.Store.Announce(ctx, key, message, ttl)
	s.count("announce", err)
	return err
}
