package gateway

import (
	"errors"
	"io"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/caller"
)

// pool holds what outlives a reload: stores, callers, and the shares of questions and of
// bodies in memory and on disk. No value in it refers to a context, logger or registry.
var pool = caddy.NewUsagePool()

type (
	storeKey     struct{}
	memoryKey    struct{ limit int64 }
	questionsKey struct {
		limit int
		late  bool
	}
	identitiesKey struct{ caller.Options }
)

// listeners identifies the server of a gateway by its addresses. It keeps the callers of
// different servers apart: the key of a caller includes the host, but which site answers
// for a host depends on the server.
func listeners(ctx caddy.Context) string {
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		return strings.Join(server.Listen, " ")
	}
	return ""
}

// held is a value of the pool.
type held[T any] struct{ value T }

// Destruct implements caddy.Destructor. It closes values that are an io.Closer.
func (h held[T]) Destruct() error {
	if c, ok := any(h.value).(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// leases are the keys of the pool that one gateway has acquired.
type leases struct{ keys []any }

// lease returns the shared value under key. It constructs the value if there is none.
func lease[T any](l *leases, key any, construct func() (T, error)) (T, error) {
	value, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		v, err := construct()
		return held[T]{v}, err
	})
	if err != nil {
		return *new(T), err
	}
	l.keys = append(l.keys, key)
	return value.(held[T]).value, nil
}

// release returns each lease once, however often it is called.
func (l *leases) release() error {
	var errs []error
	for _, key := range l.keys {
		_, err := pool.Delete(key)
		errs = append(errs, err)
	}
	l.keys = nil
	return errors.Join(errs...)
}

// spooledBytes is how much of request bodies and rewritten answers is on disk now, over all
// sites.
func spooledBytes() float64 { return pooled[*budget.Spool]() }

// bufferedBytes is how much of them is in memory now.
func bufferedBytes() float64 { return pooled[*budget.Memory]() }

// pooled adds up what the values of one type hold.
func pooled[T interface{ Bytes() int64 }]() float64 {
	var sum int64
	pool.Range(func(_, value any) bool {
		if v, ok := value.(held[T]); ok {
			sum += v.value.Bytes()
		}
		return true
	})
	return float64(sum)
}
