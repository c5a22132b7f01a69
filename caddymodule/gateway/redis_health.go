package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

const (
	// pauseAfterTimeout is how long operations that can go on without Redis skip a slow
	// Redis.
	pauseAfterTimeout = 500 * time.Millisecond
	// quietBeforeUp is how long no operation may have failed before the log says that
	// Redis is back: one lost shard must not fill the log.
	quietBeforeUp = 2 * time.Second
)

// go-redis logs single connections at level debug: the gateway itself logs changes of
// state.
func init() { redis.SetLogger(redisLogger{}) }

type redisLogger struct{}

// Printf implements the logger of go-redis.
func (redisLogger) Printf(_ context.Context, format string, args ...any) {
	if entry := storeLogger().Check(zap.DebugLevel, "redis client"); entry != nil {
		entry.Write(zap.String("detail", fmt.Sprintf(format, args...)))
	}
}

// errPaused is returned instead of asking a Redis that was too slow a moment ago.
var errPaused = errors.New("redis: too slow a moment ago")

// health keeps whether Redis answers, and writes one line when that changes.
type health struct {
	pausedUntil atomic.Int64 // UNIX nanoseconds
	down        atomic.Bool
	mu          sync.Mutex
	failed      time.Time // time of the last failure
	since       time.Time // time of the first one since Redis answered
	cause       string    // of that one
}

// storeStatus returns the state of the Redis; nil if there is none.
func (a *App) storeStatus() *adminapi.Store {
	redis, ok := a.shared.(*redisStore)
	if !ok {
		return nil
	}
	h := &redis.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.down.Load() {
		return &adminapi.Store{Reachable: true}
	}
	since := h.since.UTC()
	return &adminapi.Store{Since: &since, Error: h.cause}
}

func (h *health) paused() bool {
	until := h.pausedUntil.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// report takes the result of an operation.
func (h *health) report(err error) {
	switch {
	case err == nil || errors.Is(err, errForeign) || errors.Is(err, redis.Nil):
		if h.down.Load() {
			h.up()
		}
	case errors.Is(err, redis.ErrClosed): // closed by the gateway itself
	default:
		if isTimeout(err) {
			h.pausedUntil.Store(time.Now().Add(pauseAfterTimeout).UnixNano())
		}
		h.fail(err)
	}
}

func (h *health) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = time.Now()
	if !h.down.Swap(true) {
		h.since, h.cause = h.failed, err.Error()
		storeLogger().Warn("the store cannot be reached", zap.Error(err))
	}
}

func (h *health) up() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.failed) >= quietBeforeUp && h.down.Swap(false) {
		storeLogger().Info("the store can be reached again")
	}
}

// storeLogger returns the logger of the running configuration: a store outlives the
// configuration that made it.
func storeLogger() *zap.Logger { return currentLogger().Named("store") }

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
