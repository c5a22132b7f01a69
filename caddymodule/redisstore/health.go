package redisstore

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
	// PauseAfterTimeout is how long operations that can go on without Redis skip a slow
	// Redis.
	PauseAfterTimeout = 500 * time.Millisecond
	// quietBeforeUp is how long no operation may have failed before the log says that
	// Redis is back: one lost shard must not fill the log.
	quietBeforeUp = 2 * time.Second
)

// LogClients makes all clients of go-redis write to the logger that logger returns. They log
// single connections, at level debug: a [Store] itself logs changes of state. It must be called
// before the first store is made.
func LogClients(logger func() *zap.Logger) { redis.SetLogger(clientLogger(logger)) }

type clientLogger func() *zap.Logger

// Printf implements the logger of go-redis.
func (logger clientLogger) Printf(_ context.Context, format string, args ...any) {
	if entry := logger().Check(zap.DebugLevel, "redis client"); entry != nil {
		entry.Write(zap.String("detail", fmt.Sprintf(format, args...)))
	}
}

// ErrPaused is returned instead of asking a Redis that was too slow a moment ago.
var ErrPaused = errors.New("redis: too slow a moment ago")

// health keeps whether Redis answers, and writes one line when that changes.
type health struct {
	logger      func() *zap.Logger
	pausedUntil atomic.Int64 // UNIX nanoseconds
	down        atomic.Bool
	mu          sync.Mutex
	failed      time.Time // time of the last failure
	since       time.Time // time of the first one since Redis answered
	cause       string    // of that one
}

// Status says whether Redis answers; if not, since when and why.
func (s *Store) Status() *adminapi.Store {
	h := &s.health
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
		if IsTimeout(err) {
			h.pausedUntil.Store(time.Now().Add(PauseAfterTimeout).UnixNano())
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
		h.logger().Warn("the store cannot be reached", zap.Error(err))
	}
}

func (h *health) up() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.failed) >= quietBeforeUp && h.down.Swap(false) {
		h.logger().Info("the store can be reached again")
	}
}

// IsTimeout tells whether an operation failed since Redis did not answer in time.
func IsTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
