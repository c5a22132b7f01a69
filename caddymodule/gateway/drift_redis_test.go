package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/drift"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// openRedis returns a store on a Redis, closed when the test ends. Its deadline leaves room for a
// machine that is busy with other tests.
func openRedis(t *testing.T, options redisstore.Options) *redisstore.Store {
	t.Helper()
	options.Kind, options.Timeout = "redis", policy.Duration(time.Second)
	resolved, err := options.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	s := redisstore.New(resolved, storeLogger)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// driftGateway stands for one of several gateways that read the root of a shop.
type driftGateway struct {
	*site
	t    *testing.T
	logs *observer.ObservedLogs
}

// newDriftGateway returns a gateway that has just started.
func newDriftGateway(t *testing.T, shared store.Store) *driftGateway {
	t.Helper()
	g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true}}}`)
	s := g.sites[0]
	core, logs := observer.New(zap.WarnLevel)
	s.Name, s.logger, s.g.app.shared = "shop.example.com", zap.New(core), shared
	s.restart()
	return &driftGateway{s, t, logs}
}

// restart forgets what the process knows.
func (s *site) restart() { s.state = &siteState{name: s.Name, running: s.state.running} }

// read lets the gateway read a root, and returns how many changes it has told.
func (g *driftGateway) read(routes ...string) int {
	g.t.Helper()
	before := g.logs.Len()
	by := discover.Reach{Host: "shop.example.com"}
	root, err := discover.Discover(g.t.Context(), &g.Site, asktest.Answering(200, rootOf(routes...)), by)
	if err != nil {
		g.t.Fatal(err)
	}
	g.drift(g.t.Context(), root, by.Host, true)
	return g.logs.Len() - before
}

// want compares how many changes were told.
func (g *driftGateway) want(what string, want int, routes ...string) {
	g.t.Helper()
	if got := g.read(routes...); got != want {
		g.t.Errorf("%s: %d lines, want %d", what, got, want)
	}
}

// routesKey returns the one key in Redis that holds routes.
func routesKey(t *testing.T, admin *redis.Client) string {
	t.Helper()
	keys, err := admin.Keys(t.Context(), "*:f:*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys %q, %v", keys, err)
	}
	return keys[0]
}

// TestDrift_Redis: one change is told once, however many gateways there are, also over
// restarts of all of them, with the rights that the documentation names.
func TestDrift_Redis(t *testing.T) {
	server := redisrun.Start(t, append(redisrun.DocumentedUser(t, "../../docs/guides/redis.md"), "--requirepass", "other")...)
	open := func() *redisstore.Store {
		return openRedis(t, redisstore.Options{Addresses: []string{server.Addr}, Username: "gateway", Password: "PASSWORD", Prefix: "shop"})
	}
	a, b := newDriftGateway(t, open()), newDriftGateway(t, open())
	a.want("the first reading", 0, "GET /cms/v2")
	b.want("the first reading of the other", 0, "GET /cms/v2")
	b.want("a change", 1, "GET /cms/v2", "GET /acme/v1/x")
	a.want("what the other has told", 0, "GET /cms/v2", "GET /acme/v1/x")
	a.restart()
	b.restart()
	a.want("after a restart", 0, "GET /cms/v2", "GET /acme/v1/x")
	a.restart()
	b.restart()
	b.want("a change while all are down", 1, "GET /cms/v2", "GET /acme/v1/y")
	a.want("told already", 0, "GET /cms/v2", "GET /acme/v1/y")
	if n := a.state.roots.changes() + b.state.roots.changes(); n != 2 { // since the last restart
		t.Errorf("%d routes are counted", n)
	}
	admin := server.Admin(func(o *redis.Options) { o.Password = "other" })
	key := routesKey(t, admin)
	if ttl := admin.TTL(t.Context(), key).Val(); !strings.HasPrefix(key, "shop:2:") || ttl < keptRoutes-time.Minute || ttl > keptRoutes {
		t.Errorf("%s is kept for %v", key, ttl)
	}
	if err := admin.Expire(t.Context(), key, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	a.want("no change", 0, "GET /cms/v2", "GET /acme/v1/y")
	if ttl := admin.TTL(t.Context(), key).Val(); ttl < keptRoutes-time.Minute {
		t.Errorf("a reading does not begin the time anew: %v", ttl)
	}
	others := newDriftGateway(t, open())
	others.Server = "other:443"
	others.want("a server of its own", 0, "GET /cms/v2", "GET /elsewhere")
}

// TestDrift_AtOnce: gateways that read a changed root at the same moment tell it once.
func TestDrift_AtOnce(t *testing.T) {
	server := redisrun.Start(t)
	var gateways []*driftGateway
	for range 8 {
		gateways = append(gateways, newDriftGateway(t, openRedis(t, redisstore.Options{Addresses: []string{server.Addr}})))
	}
	for round := range 20 {
		routes := []string{"GET /cms/v2", fmt.Sprintf("GET /acme/v1/x%d", round)}
		var told atomic.Int32
		var group sync.WaitGroup
		for _, g := range gateways {
			group.Go(func() { told.Add(int32(g.read(routes...))) })
		}
		group.Wait()
		if n, want := told.Load(), int32(min(round, 1)); n != want {
			t.Errorf("round %d: told %d times, want %d", round, n, want)
		}
	}
}

// TestDrift_RedisFails: while Redis fails nothing is told and nothing is forgotten. A Redis
// that has lost its values is none.
func TestDrift_RedisFails(t *testing.T) {
	server := redisrun.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	options := redisstore.Options{Addresses: []string{server.Addr}}
	a := newDriftGateway(t, openRedis(t, options))
	a.want("the first reading", 0, "GET /cms/v2")
	server.Kill()
	fresh := newDriftGateway(t, openRedis(t, options))
	fresh.want("a start without Redis", 0, "GET /cms/v2", "GET /acme/v1/x")
	a.want("a change without Redis", 0, "GET /cms/v2", "GET /acme/v1/x")
	a.want("and again", 0, "GET /cms/v2", "GET /acme/v1/x")
	server.Start()
	ready := func(g *driftGateway) {
		eventually(t, "Redis", func() bool {
			_, _, err := g.g.app.shared.Get(t.Context(), "x")
			return err == nil
		})
	}
	ready(a)
	a.want("Redis is back", 1, "GET /cms/v2", "GET /acme/v1/x")
	ready(fresh)
	fresh.want("told already", 0, "GET /cms/v2", "GET /acme/v1/x")

	if err := server.Admin().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	fresh.restart()
	fresh.want("nobody knows anything", 0, "GET /cms/v2")
	server.Admin().FlushAll(t.Context())
	a.want("the gateway itself knows", 1, "GET /cms/v2", "GET /acme/v1/z")
	fresh.want("and has told the others", 0, "GET /cms/v2", "GET /acme/v1/z")
}

// TestDrift_RedisGarbage: garbage is never a change. It is replaced by what is true.
func TestDrift_RedisGarbage(t *testing.T) {
	server := redisrun.Start(t)
	s := openRedis(t, redisstore.Options{Addresses: []string{server.Addr}})
	admin, ctx := server.Admin(), t.Context()
	a := newDriftGateway(t, s)
	a.want("the first reading", 0, "GET /cms/v2")
	key := routesKey(t, admin)
	factKey := "routes:" + a.Name + ":" + a.rootPlace("shop.example.com", true).key
	if _, ok, err := s.Get(ctx, factKey); !ok || err != nil {
		t.Fatal("not the key of the routes", err)
	}
	other, _ := drift.Pack(discover.Of(&a.Site).Index("shop.example.com"))
	for name, spoil := range map[string]func() error{
		"text":       func() error { return admin.Set(ctx, key, "garbage", 0).Err() },
		"empty":      func() error { return admin.Set(ctx, key, "", 0).Err() },
		"a list":     func() error { admin.Del(ctx, key); return admin.RPush(ctx, key, "a").Err() },
		"sealed":     func() error { return s.Set(ctx, factKey, "garbage", time.Hour) },
		"cut":        func() error { return s.Set(ctx, factKey, "x"+other[:len(other)-1], time.Hour) },
		"other text": func() error { return s.Set(ctx, factKey, strings.Repeat("\x00", 32)+other[32:], time.Hour) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		a.want(name, 0, "GET /cms/v2")
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		a.restart()
		a.want(name+", after a restart", 0, "GET /cms/v2", "GET /acme/v1/"+strings.ReplaceAll(name, " ", "-"))
		a.want(name+", then a change", 1, "GET /cms/v2")
	}
}

// TestDrift_Spelled: of a named host two spellings are kept where a client cannot push them
// out, and no other.
func TestDrift_Spelled(t *testing.T) {
	s := provisioned(t, `{"platform":"cms"}`).sites[0]
	s.way.Hosts = []string{"Shop.example.com", "*.shops.example.com", "{env.DRIFT_HOST}"}
	t.Setenv("DRIFT_HOST", "env.example.com")
	for host, want := range map[string]bool{
		"shop.example.com": true, "shop.example.com:8443": true, "env.example.com": true,
		"Shop.example.com": false, "SHOP.example.com": false, "shop.example.com.": false, "shop.example.com:1": false, "shop.example.com:443": false,
		"shop.example.com:": false, "a.shops.example.com": false, "other.example.com": false, "*.shops.example.com": false, "": false, ":8443": false,
	} {
		r := prepared(httptest.NewRecorder(), "/")
		r.Host = host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443})))
		if got := s.isSpelled(r); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

// TestDrift_RedisHosts: a client cannot fill Redis with hosts.
func TestDrift_RedisHosts(t *testing.T) {
	server := redisrun.Start(t)
	a := newDriftGateway(t, openRedis(t, redisstore.Options{Addresses: []string{server.Addr}}))
	for i := range 50 {
		by := discover.Reach{Host: fmt.Sprintf("h%d.example", i)}
		root, err := discover.Discover(t.Context(), &a.Site, asktest.Answering(200, rootOf("GET /cms/v2")), by)
		if err != nil {
			t.Fatal(err)
		}
		a.drift(t.Context(), root, by.Host, false)
	}
	if n := server.Admin().DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys", n)
	}
}

var changesSeries = regexp.MustCompile(`caddy_restwarden_route_changes_total\{site="shop.example.com"\} (\d+)`)

// TestGateways_Drift: two gateways of one Redis tell a change once, and one that came while
// both were down.
func TestGateways_Drift(t *testing.T) {
	var root atomic.Pointer[string]
	var readings atomic.Int64
	lists := func(routes ...string) {
		text := rootOf(routes...)
		root.Store(&text)
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cms-json/" {
			readings.Add(1)
			_, _ = io.WriteString(w, *root.Load())
		}
	}))
	t.Cleanup(backend.Close)
	server := redisrun.Start(t)
	block := fmt.Sprintf(driftSite, "reverse_proxy "+backend.Listener.Addr().String())
	var gateways []*process
	for range 2 {
		gateways = append(gateways, startProcess(t, "redis "+server.Addr+" {\n\t\t\ttimeout 2s\n\t\t}", block))
	}
	told := func() (sum int) {
		for _, g := range gateways {
			if m := changesSeries.FindStringSubmatch(g.body("/metrics")); m != nil {
				n, _ := strconv.Atoi(m[1])
				sum += n
			}
		}
		return sum
	}
	readAll := func(count int) {
		t.Helper()
		for _, g := range gateways {
			if status, _, err := g.send("GET /cms-json/cms/v2/posts", "", shopHost); err != nil || status != 401 {
				t.Fatal(status, err)
			}
			wait.For(t, 10*time.Second, "the status has the routes", func() bool {
				_, text := adminOf(t, g.adminAddress(), "GET", "sites", "")
				var answer struct{ Sites []adminapi.Site }
				err := json.Unmarshal([]byte(text), &answer)
				return err == nil && len(answer.Sites) == 1 && answer.Sites[0].Routes != nil && answer.Sites[0].Routes.Count == count
			})
		}
	}
	again := func(do func(g *process)) {
		for _, g := range gateways {
			do(g)
		}
	}
	lists("GET /cms/v2", "GET /cms/v2/posts")
	readAll(2)
	lists("GET /cms/v2", "GET /cms/v2/posts", "GET /acme/v1/x", "GET /acme/v1/y", "GET /acme/v1/z")
	again(func(g *process) {
		if err := g.Reload(); err != nil {
			t.Fatal(err)
		}
	})
	readAll(5)
	eventually(t, "3 changes", func() bool { return told() == 3 })
	again(func(g *process) { g.stop(); g.Start() })
	readAll(5)
	if n := told(); n != 0 {
		t.Errorf("%d changes after a restart", n)
	}
	again(func(g *process) { g.stop() })
	lists("GET /cms/v2")
	again(func(g *process) { g.Start() })
	readAll(1)
	if n := told(); n != 4 || readings.Load() != 8 {
		t.Errorf("%d changes while both were down, %d readings", n, readings.Load())
	}
}
