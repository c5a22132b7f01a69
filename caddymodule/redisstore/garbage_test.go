package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/store"
)

// TestRedis_Garbage: a value that anybody else has put under a key of the gateway is no
// value, no decision and no panic.
func TestRedis_Garbage(t *testing.T) {
	server := redisrun.Start(t)
	admin := server.Admin()
	ctx := t.Context()
	limit := store.Rate{Count: 3, Per: time.Minute}
	for name, spoil := range map[string]func(key string) error{
		"text":        func(key string) error { return admin.Set(ctx, key, "garbage", 0).Err() },
		"empty":       func(key string) error { return admin.Set(ctx, key, "", 0).Err() },
		"one":         func(key string) error { return admin.Set(ctx, key, "1", 0).Err() },
		"not a value": func(key string) error { return admin.Set(ctx, key, strings.Repeat("\xff", 100), 0).Err() },
		"far ahead":   func(key string) error { return admin.Set(ctx, key, "1e300", 0).Err() },
		"infinite":    func(key string) error { return admin.Set(ctx, key, "inf", 0).Err() },
		"no number":   func(key string) error { return admin.Set(ctx, key, "nan", 0).Err() },
		"list":        func(key string) error { return admin.RPush(ctx, key, "a").Err() },
		"hash":        func(key string) error { return admin.HSet(ctx, key, "a", "b").Err() },
	} {
		t.Run(name, func(t *testing.T) {
			s := openRedis(t, Options{Addresses: []string{server.Addr}, Prefix: t.Name()})
			counter := s.key(kindCounter, "3/1m0s k")
			for _, key := range []string{s.key(kindFact, "k"), s.key(kindOnce, "k"), counter, s.common + "secret"} {
				if err := spoil(key); err != nil {
					t.Fatal(err)
				}
			}
			if v, ok, err := s.Get(ctx, "k"); ok || err != nil {
				t.Errorf("Get: %q, %v", v, err)
			}
			if first, err := s.SetOnce(ctx, "k", time.Hour); first || !errors.Is(err, errForeign) {
				t.Errorf("SetOnce: %v, %v", first, err)
			}
			if taken, err := s.Take(ctx, "k", limit); err == nil && (!taken.Allowed || taken.ResetAfter > limit.Per+time.Second) {
				t.Errorf("Take: %+v", taken)
			}
			wait.For(t, busy, "a secret", func() bool { return s.Secret() != nil })
			if s.health.down.Load() {
				t.Error("the store is said to be down")
			}
			memory, err := store.NewMemory()
			if err != nil {
				t.Fatal(err)
			}
			if taken, err := WithFallback(s, memory).Take(ctx, "k", limit); !taken.Allowed || err != nil {
				t.Errorf("with the fallback: %+v, %v", taken, err)
			}
		})
	}
}

// TestRedis_ValueOfAnotherKey: a value of another key of the gateway is garbage too.
func TestRedis_ValueOfAnotherKey(t *testing.T) {
	server := redisrun.Start(t)
	s := openRedis(t, Options{Addresses: []string{server.Addr}})
	ctx := t.Context()
	if err := s.Set(ctx, "a", "1", time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := server.Admin().Copy(ctx, s.key(kindFact, "a"), s.key(kindFact, "b"), 0, true).Err(); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := s.Get(ctx, "b"); ok || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
}
