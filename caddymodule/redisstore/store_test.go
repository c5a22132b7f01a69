package redisstore

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/store"
	"github.com/restwarden/restwarden/policies/store/storetest"
)

// resolved returns the options of a configuration, with its defaults.
func resolved(tb testing.TB, s Options) Resolved {
	tb.Helper()
	s.Kind = "redis"
	o, err := s.resolve()
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// openRedis returns a store on addresses, closed when the test ends. Its deadline
// leaves room for a machine that is busy with other tests.
func openRedis(tb testing.TB, s Options) *Store {
	tb.Helper()
	o := resolved(tb, s)
	if s.Timeout == 0 {
		o.timeout = time.Second
	}
	store := New(o, zap.NewNop)
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return store
}

// busy is how long a test waits on a machine that is busy with others.
const busy = 30 * time.Second

func TestRedis_Conformance(t *testing.T) {
	server := redisrun.Start(t)
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		t.Helper()
		s := Options{Addresses: []string{server.Addr}, Prefix: t.Name()}
		return openRedis(t, s), openRedis(t, s)
	})
	everyKeyEnds(t, server)
}

func TestRedis_ClusterConformance(t *testing.T) {
	nodes := redisrun.Cluster(t)
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		t.Helper()
		s := Options{Addresses: redisrun.Addresses(nodes), Prefix: t.Name()}
		return openRedis(t, s), openRedis(t, s)
	})
	for _, node := range nodes {
		everyKeyEnds(t, node)
	}
}

// everyKeyEnds: no key stays for ever, each begins with prefix and version.
func everyKeyEnds(t *testing.T, server *redisrun.Server) {
	t.Helper()
	admin := server.Admin()
	keys, err := admin.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for _, key := range keys {
		if ttl := admin.PTTL(t.Context(), key).Val(); ttl == -1 {
			t.Errorf("%s has no time to live", key)
		}
		if !strings.HasPrefix(key, "Test") || !strings.Contains(key, ":1:") && !strings.Contains(key, ":2:") || len(key) > 120 {
			t.Errorf("key %s", key)
		}
	}
}

func TestRedis_Sentinel(t *testing.T) {
	master := redisrun.Start(t)
	sentinel := redisrun.Sentinel(t, master, "shop")
	s := openRedis(t, Options{Addresses: []string{sentinel.Addr}, Sentinel: &Sentinel{Master: "shop"}})
	if err := s.Set(t.Context(), "k", "v", time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := master.Admin().DBSize(t.Context()).Val(); n != 1 {
		t.Errorf("%d keys on the master", n)
	}
}

func TestRedis_Options(t *testing.T) {
	server := redisrun.Start(t, append(redisrun.DocumentedUser(t, "../../docs/guides/redis.md"), "--requirepass", "other")...)
	s := Options{Addresses: []string{server.Addr}, Username: "gateway", Password: "PASSWORD", Prefix: "shop", DB: 3}
	a, b := openRedis(t, s), openRedis(t, s)
	ctx := t.Context()
	if err := a.Set(ctx, "k", "v", time.Hour); err != nil {
		t.Error(err)
	}
	if _, err := a.SetOnce(ctx, "k", time.Hour); err != nil {
		t.Error(err)
	}
	if _, err := a.Take(ctx, "k", store.Rate{Count: 1, Per: time.Hour}); err != nil {
		t.Error(err)
	}
	wait.For(t, busy, "both know the secret", func() bool { return a.Secret() != nil && b.Secret() != nil })
	if err := a.Announce(ctx, "k", "m", time.Hour); err != nil {
		t.Error(err)
	}
	admin := server.Admin(func(o *redis.Options) { o.Password, o.DB = "other", 3 })
	if n := admin.DBSize(ctx).Val(); n != 5 {
		t.Errorf("%d keys in database 3", n)
	}
	s.Password = "wrong"
	wrong := openRedis(t, s)
	if err := wrong.Set(ctx, "k", "v", time.Hour); err == nil || strings.Contains(err.Error(), "wrong ") || !wrong.health.down.Load() {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestRedis_ClusterACL: the documented rights suffice for a Cluster too.
func TestRedis_ClusterACL(t *testing.T) {
	nodes := redisrun.Cluster(t)
	for _, node := range nodes {
		if err := node.Admin().Do(t.Context(), anyOf(append([]string{"ACL", "SETUSER"}, redisrun.DocumentedUser(t, "../../docs/guides/redis.md")[1:]...))...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s := openRedis(t, Options{Addresses: redisrun.Addresses(nodes), Username: "gateway", Password: "PASSWORD", Prefix: "shop"})
	if err := s.Set(t.Context(), "k", "v", time.Hour); err != nil {
		t.Error(err)
	}
	if _, err := s.GetAll(t.Context(), "k", "l", "m"); err != nil {
		t.Error(err)
	}
	if _, err := s.Take(t.Context(), "k", store.Rate{Count: 1, Per: time.Hour}); err != nil {
		t.Error(err)
	}
	wait.For(t, busy, "the secret", func() bool { return s.Secret() != nil })
}

func anyOf(words []string) (all []any) {
	for _, word := range words {
		all = append(all, word)
	}
	return all
}

func TestRedis_CreatedWithoutConnecting(t *testing.T) {
	l := machine.Listener(t)
	s := openRedis(t, Options{Addresses: []string{l.Addr().String()}})
	defer s.Listen(func(string) { t.Error("a message from nowhere") })()
	if err := l.SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if c, err := l.Accept(); err == nil {
		_ = c.Close()
		t.Error("somebody connected")
	}
}

// TestRedis_LostAnswer: a write whose answer was lost, and which go-redis repeats, is
// still the first.
func TestRedis_LostAnswer(t *testing.T) {
	server := redisrun.Start(t)
	s := openRedis(t, Options{Addresses: []string{server.Addr}})
	var lost sync.Once
	s.client.AddHook(hookFunc(func(next redis.ProcessHook) redis.ProcessHook {
		return func(ctx context.Context, cmd redis.Cmder) error {
			err := next(ctx, cmd)
			if cmd.Name() == "set" {
				lost.Do(func() { err = next(ctx, cmd) }) // the second of two identical writes
			}
			return err
		}
	}))
	if first, err := s.SetOnce(t.Context(), "k", time.Hour); !first || err != nil {
		t.Errorf("%v, %v", first, err)
	}
	if first, err := s.SetOnce(t.Context(), "k", time.Hour); first || err != nil {
		t.Errorf("used again: %v, %v", first, err)
	}
}

type hookFunc func(redis.ProcessHook) redis.ProcessHook

func (hookFunc) DialHook(next redis.DialHook) redis.DialHook            { return next }
func (f hookFunc) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return f(next) }
func (hookFunc) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
