package gateway

import (
	"errors"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/caddymodule/metrics"
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
	a.local = a.counted(memory)
	if !a.Store.UsesRedis() {
		return nil
	}
	redis, err := pool.Lease(&a.leases, a.redis.Key(), func() (*redisstore.Store, error) { return redisstore.New(a.redis, storeLogger), nil })
	if err != nil {
		return err
	}
	a.local, a.shared = redisstore.WithFallback(a.counted(redis), memory), redis
	return nil
}

// counted returns s with its operations counted.
func (a *App) counted(s store.Store) store.Store { return a.metrics.Store(s, storeResult) }

// storeResult says what became of an operation that failed.
func storeResult(err error) metrics.Result {
	switch {
	case errors.Is(err, redisstore.ErrPaused):
		return metrics.ResultSkipped
	case redisstore.IsTimeout(err):
		return metrics.ResultTimeout
	}
	return metrics.ResultError
}

// storeStatus returns the state of the Redis; nil if there is none.
func (a *App) storeStatus() *adminapi.Store {
	if redis, ok := a.shared.(*redisstore.Store); ok {
		return redis.Status()
	}
	return nil
}
