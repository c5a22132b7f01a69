package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
)

// Bounds of the memory store, in entries of some hundred bytes. factCapacity is for the facts of
// one kind, CounterCapacity bounds a Limiter as well.
const (
	factCapacity    = 50_000
	onceCapacity    = 200_000
	CounterCapacity = 100_000
)

// Memory is a Store in the memory of one gateway, which shares nothing.
type Memory struct {
	facts sync.Map // kind -> *ttlcache.Cache[string, string]
	once  *ttlcache.Cache[string, struct{}]

	counters throttled.GCRAStoreCtx
	limits   sync.Map // Rate -> *throttled.GCRARateLimiterCtx

	listeners Listeners
}

// NewMemory returns an empty store.
func NewMemory() (*Memory, error) {
	counters, err := memstore.NewCtx(CounterCapacity)
	if err != nil {
		return nil, fmt.Errorf("memory store: %w", err)
	}
	return &Memory{
		once:     ttlcache.New(ttlcache.WithDisableTouchOnHit[string, struct{}]()),
		counters: counters,
	}, nil
}

// factsLike returns the facts of the kind of key, which is what stands before its first colon. Each
// kind has room of its own: what a client has the gateway learn pushes out nothing of another kind.
func (m *Memory) factsLike(key string) *ttlcache.Cache[string, string] {
	kind, _, _ := strings.Cut(key, ":")
	facts, known := m.facts.Load(kind)
	if !known {
		facts, _ = m.facts.LoadOrStore(kind, ttlcache.New(
			ttlcache.WithCapacity[string, string](factCapacity),
			ttlcache.WithDisableTouchOnHit[string, string]()))
	}
	return facts.(*ttlcache.Cache[string, string])
}

// Get implements Store.
func (m *Memory) Get(_ context.Context, key string) (string, bool, error) {
	item := m.factsLike(key).Get(key)
	if item == nil {
		return "", false, nil
	}
	return item.Value(), true, nil
}

// GetAll implements Store.
func (m *Memory) GetAll(_ context.Context, keys ...string) (map[string]string, error) {
	values := make(map[string]string, len(keys))
	for _, key := range keys {
		if item := m.factsLike(key).Get(key); item != nil {
			values[key] = item.Value()
		}
	}
	return values, nil
}

// Set implements Store.
func (m *Memory) Set(_ context.Context, key, value string, ttl time.Duration) error {
	m.factsLike(key).Set(key, value, ttl)
	return nil
}

// SetAll implements Store.
func (m *Memory) SetAll(_ context.Context, value string, ttl time.Duration, keys ...string) error {
	for _, key := range keys {
		m.factsLike(key).Set(key, value, ttl)
	}
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		m.factsLike(key).Delete(key)
	}
	return nil
}

// SetOnce implements Store. It never evicts an entry before its time; without room it
// returns ErrFull.
func (m *Memory) SetOnce(_ context.Context, key string, ttl time.Duration) (bool, error) {
	m.once.DeleteExpired() // nothing else does; it looks only at the entries that end first
	if m.once.Len() >= onceCapacity {
		return false, ErrFull
	}
	_, known := m.once.GetOrSet(key, struct{}{}, ttlcache.WithTTL[string, struct{}](ttl))
	return !known, nil
}

// Take implements Store.
func (m *Memory) Take(ctx context.Context, key string, rate Rate) (Taken, error) {
	limit, err := m.limiter(rate)
	if err != nil {
		return Taken{}, err
	}
	return take(ctx, limit, fmt.Sprintf("%d/%s %s", rate.Count, rate.Per, key))
}

// Announce implements Store.
func (m *Memory) Announce(_ context.Context, key, message string, ttl time.Duration) error {
	m.factsLike(key).Set(key, rand.Text(), ttl)
	m.listeners.Tell(message)
	return nil
}

// Listen implements Store.
func (m *Memory) Listen(f func(message string)) (stop func()) { return m.listeners.Add(f) }

// Secret implements Store: no other gateway compares hashes with this one.
func (m *Memory) Secret() []byte { return nil }

func (m *Memory) limiter(rate Rate) (*throttled.GCRARateLimiterCtx, error) {
	if l, ok := m.limits.Load(rate); ok {
		return l.(*throttled.GCRARateLimiterCtx), nil
	}
	l, err := newGCRA(m.counters, rate)
	if err != nil {
		return nil, err
	}
	m.limits.Store(rate, l)
	return l, nil
}

func newGCRA(store throttled.GCRAStoreCtx, rate Rate) (*throttled.GCRARateLimiterCtx, error) {
	if rate.Count < 1 || rate.Per <= 0 {
		return nil, fmt.Errorf("rate %d/%s is not a positive number in a positive time", rate.Count, rate.Per)
	}
	return throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate: throttled.PerDuration(rate.Count, rate.Per), MaxBurst: rate.Count - 1,
	})
}

func take(ctx context.Context, l *throttled.GCRARateLimiterCtx, key string) (Taken, error) {
	limited, result, err := l.RateLimitCtx(ctx, key, 1)
	if err != nil {
		return Taken{}, fmt.Errorf("rate limit: %w", err)
	}
	return Taken{
		Allowed: !limited, Remaining: result.Remaining,
		ResetAfter: result.ResetAfter, RetryAfter: max(result.RetryAfter, 0),
	}, nil
}
