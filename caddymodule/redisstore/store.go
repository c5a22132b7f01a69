// Package redisstore keeps what gateways share in a Redis: facts, counters, used signatures, and
// messages. It reads the option "store", notices when Redis fails, and falls back to the memory of
// the process meanwhile.
package redisstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/store"
)

// schemaVersion is part of every key, so that releases with different formats do not read
// each other's values. Facts and counters are of schema 2, under the names of sites. What
// gateways of schema 1 must know as well is of firstSchema: used signatures, the secret,
// messages and marks.
const (
	schemaVersion = "2"
	firstSchema   = "1"
)

// Store is the store of gateways that share a Redis: a single server, a master known
// to Sentinels, or a Cluster (docs/guides/redis.md). It keeps nothing of the configuration that
// made it, and connects when it is first used.
//
// Keys are hashes, and values begin with a check of key and content: a value that anybody
// else has written is no value of the gateway.
type Store struct {
	client  redis.UniversalClient
	limiter *redis_rate.Limiter
	prefix  string // of keys of this schema
	common  string // of keys that gateways of schema 1 use as well
	timeout time.Duration
	health  health
	hub     hub
}

// New returns a store that has not connected yet. It outlives the configuration that made it:
// logger returns the logger of the running one.
func New(o Resolved, logger func() *zap.Logger) *Store {
	client := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: o.addresses, MasterName: o.sentinel, DB: o.db,
		Username: o.username, Password: o.password,
		SentinelUsername: o.sentinelUsername, SentinelPassword: o.sentinelPassword,
		TLSConfig: o.tls,
		// One deadline covers everything that an operation waits for. Connections are
		// made apart from it, so that a slow handshake is not started over and over.
		ContextTimeoutEnabled: true, ReadTimeout: o.timeout, WriteTimeout: o.timeout, PoolTimeout: o.timeout,
		DialTimeout: max(o.timeout, time.Second), DialerRetries: 1,
		MaxRetries: 2, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: 10 * time.Millisecond,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	s := &Store{
		client: client, timeout: o.timeout,
		prefix: o.prefix + ":" + schemaVersion + ":", common: o.prefix + ":" + firstSchema + ":",
	}
	s.health.logger = logger
	s.limiter = redis_rate.NewLimiter(ownKeys{client})
	s.hub = hub{store: s, started: make(chan struct{})}
	return s
}

// Close ends all connections.
func (s *Store) Close() error {
	s.hub.stop()
	return s.client.Close()
}

// Kinds of keys.
const (
	kindFact    = "f:"
	kindOnce    = "o:"
	kindCounter = "c:"
)

// key hashes its input, so that Redis does not show it and the key is short.
func (s *Store) key(kind, key string) string {
	if kind == kindOnce {
		return s.common + hashed(kind, key)
	}
	return s.prefix + hashed(kind, key)
}

func hashed(kind, key string) string {
	sum := sha256.Sum256([]byte(key))
	return kind + base64.RawURLEncoding.EncodeToString(sum[:])
}

// do runs op with the store's deadline. The end of the client's request does not cancel
// op, since that would cost a connection.
func (s *Store) do(ctx context.Context, op func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	err := op(ctx)
	s.health.report(err)
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// try is do for operations that can go on without Redis. While Redis is slow, it returns
// at once, so that not every operation waits for the deadline.
func (s *Store) try(ctx context.Context, op func(ctx context.Context) error) error {
	if s.health.paused() {
		return ErrPaused
	}
	return s.do(ctx, op)
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (value string, ok bool, err error) {
	values, err := s.GetAll(ctx, key)
	value, ok = values[key]
	return value, ok, err
}

// GetAll implements store.Store.
func (s *Store) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	answers := make([]*redis.StringCmd, len(keys))
	err := s.try(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range keys {
				answers[i] = p.Get(ctx, s.key(kindFact, key))
			}
			return nil
		})
		if isMiss(err) {
			err = nil // the first error; the loop below looks at each
		}
		for _, answer := range answers {
			if answer.Err() != nil && !isMiss(answer.Err()) {
				return answer.Err()
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(keys))
	for i, key := range keys {
		if value, ok := opened(key, answers[i].Val()); ok && answers[i].Err() == nil {
			values[key] = value
		}
	}
	return values, nil
}

// isMiss tells whether there is no value, or one of the wrong type.
func isMiss(err error) bool {
	return errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE")
}

// Set implements store.Store.
func (s *Store) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	return s.try(ctx, func(ctx context.Context) error {
		return s.client.Set(ctx, s.key(kindFact, key), sealed(key, value), atLeast(ttl)).Err()
	})
}

// SetAll implements store.Store.
func (s *Store) SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return s.try(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				p.Set(ctx, s.key(kindFact, key), sealed(key, value), atLeast(ttl))
			}
			return nil
		})
		return err
	})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return s.try(ctx, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				p.Del(ctx, s.key(kindFact, key))
			}
			return nil
		})
		return err
	})
}

// SetOnce implements store.Store. Each use writes a mark of its own, which identifies a
// write that was repeated because its answer was lost.
func (s *Store) SetOnce(ctx context.Context, key string, ttl time.Duration) (first bool, err error) {
	own := sealed(key, rand.Text())
	err = s.do(ctx, func(ctx context.Context) (err error) {
		name := s.key(kindOnce, key)
		if first, err = s.client.SetNX(ctx, name, own, atLeast(ttl)).Result(); first || err != nil {
			return err
		}
		used, err := s.client.Get(ctx, name).Result()
		if err != nil && !isMiss(err) {
			return err
		}
		if _, ours := opened(key, used); !ours {
			return errForeign // or the key has expired meanwhile
		}
		first = used == own
		return nil
	})
	return first && err == nil, err
}

// errForeign means that a key holds a value which no gateway has written.
var errForeign = errors.New("a key holds a value that is not the gateway's")

const checkLen = 16

// sealed puts a check before value; opened removes it. The check finds values that were
// cut or put under another key. It does not find forgeries, since it needs no secret. A
// change of the check raises schemaVersion.
func sealed(key, value string) string { return check(key, value) + value }

func opened(key, text string) (value string, ok bool) {
	if len(text) < checkLen || check(key, text[checkLen:]) != text[:checkLen] {
		return "", false
	}
	return text[checkLen:], true
}

// check is of checkLen hex digits.
func check(key, value string) string {
	sum := sha256.Sum256([]byte(key + "\x00" + value))
	return hex.EncodeToString(sum[:checkLen/2])
}

// atLeast returns a time to live that Redis can express: zero would mean for ever.
func atLeast(ttl time.Duration) time.Duration { return max(ttl, time.Millisecond) }

// Interface guards
var _ store.Store = (*Store)(nil)
