package redisstore

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/policies/store"
)

// counter counts commands and round trips of a client.
type counter struct{ commands, trips atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if name := cmd.Name(); name != "hello" && name != "client" && name != "select" {
			c.commands.Add(1)
			c.trips.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 0 && cmds[0].Name() != "hello" && cmds[0].Name() != "client" {
			c.commands.Add(int64(len(cmds)))
			c.trips.Add(1)
		}
		return next(ctx, cmds)
	}
}

func TestRedis_RoundTrips(t *testing.T) {
	server := redisrun.Start(t)
	s := openRedis(t, Options{Addresses: []string{server.Addr}})
	ctx := t.Context()
	limit := store.Rate{Count: 100, Per: time.Minute}
	if _, err := s.Take(ctx, "k", limit); err != nil { // the first loads the script
		t.Fatal(err)
	}
	trips := new(counter)
	s.client.AddHook(trips)
	for name, op := range map[string]func() error{
		"Get":     func() error { _, _, err := s.Get(ctx, "k"); return err },
		"GetAll":  func() error { _, err := s.GetAll(ctx, "a", "b", "c"); return err },
		"Set":     func() error { return s.Set(ctx, "k", "v", time.Hour) },
		"Delete":  func() error { return s.Delete(ctx, "a", "b") },
		"SetOnce": func() error { _, err := s.SetOnce(ctx, "new", time.Hour); return err },
		"Take":    func() error { _, err := s.Take(ctx, "k", limit); return err },
	} {
		trips.trips.Store(0)
		if err := op(); err != nil || trips.trips.Load() != 1 {
			t.Errorf("%s: %d round trips, %v", name, trips.trips.Load(), err)
		}
	}
}

func BenchmarkRedis(b *testing.B) {
	server := redisrun.Start(b)
	s := openRedis(b, Options{Addresses: []string{server.Addr}})
	ctx := b.Context()
	limit := store.Rate{Count: 1 << 30, Per: time.Hour}
	for name, op := range map[string]func() error{
		"Get":    func() error { _, _, err := s.Get(ctx, "k"); return err },
		"GetAll": func() error { _, err := s.GetAll(ctx, "k", "l"); return err },
		"Set":    func() error { return s.Set(ctx, "k", "v", time.Hour) },
		"Take":   func() error { _, err := s.Take(ctx, "k", limit); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := op(); err != nil && !errors.Is(err, ErrPaused) {
					b.Fatal(err)
				}
			}
		})
	}
}
