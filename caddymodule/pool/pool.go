// Package pool keeps the values that outlive a reload: those of one key are shared by all
// configurations that lease it, and end with the last lease. It has the keys of the budgets of
// bodies itself; every other key stays with what it is the key of.
package pool

import (
	"errors"
	"io"
	"iter"

	"github.com/caddyserver/caddy/v2"
)

// values are the pool itself. No value in it refers to a context, logger or registry.
var values = caddy.NewUsagePool()

// held is a value of the pool.
type held[T any] struct{ value T }

// Destruct implements caddy.Destructor. It closes values that are an io.Closer.
func (h held[T]) Destruct() error {
	if c, ok := any(h.value).(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Leases are what one holder has leased. The zero value is none.
type Leases struct{ ends []func() error }

// Lease returns the shared value under key, whose type keeps it apart from the keys of other
// packages. It constructs the value if there is none. The last release closes a value that is
// an io.Closer.
func Lease[K comparable, T any](l *Leases, key K, construct func() (T, error)) (T, error) {
	value, _, err := values.LoadOrNew(key, func() (caddy.Destructor, error) {
		v, err := construct()
		return held[T]{v}, err
	})
	if err != nil {
		return *new(T), err
	}
	l.ends = append(l.ends, func() error {
		_, err := values.Delete(key)
		return err
	})
	return value.(held[T]).value, nil
}

// Release ends each lease once, however often it is called.
func (l *Leases) Release() error {
	var errs []error
	for _, end := range l.ends {
		errs = append(errs, end())
	}
	l.ends = nil
	return errors.Join(errs...)
}

// References returns how many leases of key there are.
func References[K comparable](key K) int {
	n, _ := values.References(key)
	return n
}

// Values are the values of one type that are leased now. The pool is locked meanwhile.
func Values[T any]() iter.Seq[T] {
	return func(yield func(T) bool) {
		values.Range(func(_, value any) bool {
			v, ok := value.(held[T])
			return !ok || yield(v.value)
		})
	}
}
