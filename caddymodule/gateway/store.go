package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/policies/store"
)

func init() { redisstore.LogClients(storeLogger) }

type storeKey struct{}

// openStore sets the stores of a: local is the Redis of the global options with the
// memory of this process as fallback, or that memory alone; shared is that Redis itself,
// or nil. openStore does not connect.
func (a *App) openStore() error {
	memory, err := pool.Lease(&a.leases, storeKey{}, store.NewMemory)
	if err != nil {
		return err
	}
	if a.running, err = pool.Lease(&a.leases, runningKey{}, newRunning); err != nil {
		return err
	}
	if a.people, err = pool.Lease(&a.leases, peopleKey{}, confirming.NewPeople); err != nil {
		return err
	}
	a.local = countedStore{memory, a.metrics}
	if !a.Store.UsesRedis() {
		return nil
	}
	redis, err := pool.Lease(&a.leases, a.redis.Key(), func() (*redisstore.Store, error) { return redisstore.New(a.redis, storeLogger), nil })
	if err != nil {
		return err
	}
	a.local, a.shared = redisstore.WithFallback(countedStore{redis, a.metrics}, memory), redis
	return nil
}

// storeStatus returns the state of the Redis; nil if there is none.
func (a *App) storeStatus() *adminapi.Store {
	if redis, ok := a.shared.(*redisstore.Store); ok {
		return redis.Status()
	}
	return nil
}

// Operations and results of a store, the labels of its metric.
var (
	storeOps     = []string{"get", "set", "delete", "set_once", "take", "announce"}
	storeResults = []string{resultOK, resultError, resultTimeout, resultSkipped}
)

// resultSkipped counts operations that were not tried, since the store was too slow a
// moment ago.
const resultSkipped = "skipped"

// countedStore counts the operations of a store.
type countedStore struct {
	store.Store
	metrics *metrics
}

func (s countedStore) count(op string, err error) {
	result := resultError
	switch {
	case err == nil:
		s.metrics.storeDone[op].Inc()
		return
	case errors.Is(err, redisstore.ErrPaused):
		result = resultSkipped
	case redisstore.IsTimeout(err):
		result = resultTimeout
	}
	s.metrics.storeOperations.WithLabelValues(op, result).Inc()
}

// Get implements store.Store.
func (s countedStore) Get(ctx context.Context, key string) (string, bool, error) {
	value, ok, err := s.Store.Get(ctx, key)
	s.count("get", err)
	return value, ok, err
}

// GetAll implements store.Store.
func (s countedStore) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	values, err := s.Store.GetAll(ctx, keys...)
	s.count("get", err)
	return values, err
}

// Set implements store.Store.
func (s countedStore) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	err := s.Store.Set(ctx, key, value, ttl)
	s.count("set", err)
	return err
}

// SetAll implements store.Store.
func (s countedStore) SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error {
	err := s.Store.SetAll(ctx, value, ttl, keys...)
	s.count("set", err)
	return err
}

// Delete implements store.Store.
func (s countedStore) Delete(ctx context.Context, keys ...string) error {
	err := s.Store.Delete(ctx, keys...)
	s.count("delete", err)
	return err
}

// SetOnce implements store.Store.
func (s countedStore) SetOnce(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	first, err := s.Store.SetOnce(ctx, key, ttl)
	s.count("set_once", err)
	return first, err
}

// Take implements store.Store.
func (s countedStore) Take(ctx context.Context, key string, rate store.Rate) (store.Taken, error) {
	taken, err := s.Store.Take(ctx, key, rate)
	s.count("take", err)
	return taken, err
}

// Announce implements store.Store.
func (s countedStore) Announce(ctx context.Context, key, message string, ttl time.Duration) error {
	err := s.Store.Announce(ctx, key, message, ttl)
	s.count("announce", err)
	return err
}
