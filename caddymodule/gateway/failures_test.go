package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// sharingSite uses every feature that needs the store.
const sharingSite = `	restwarden cms {
		login_only
		allow anyone POST /limited/v1/**
		allow signed hook POST /signed/v1/**
		signature hook {
			scheme request
			key secret
			once
		}
		rate_limit 3/1h POST /limited/v1/**
	}
	metrics /store-metrics
`

// startSharing runs a gateway with a store of the global options.
func startSharing(t *testing.T, p *platform, store string) *gateway {
	t.Helper()
	return startFile(t, &caddyrun.File{Global: "\tmetrics\n" + sharing(store), Sites: []caddyrun.Site{{Body: sharingSite + p.proxied()}}})
}

// reshare loads the configuration anew with another store.
func (g *gateway) reshare(store string) {
	g.t.Helper()
	g.file.Global = "\tmetrics\n" + sharing(store)
	caddyrun.Load(g.t, g.file)
}

// signedNow returns the headers of a signed call that nobody has sent before.
func signedNow(body string) []string {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	digest := sha256.Sum256([]byte(body))
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(stamp + "\nPOST\n/signed/v1/hook\n" + hex.EncodeToString(digest[:])))
	return []string{"X-Timestamp: " + stamp, "X-Signature: " + hex.EncodeToString(mac.Sum(nil)), asJSON}
}

func aBody() string { return `{"nonce":"` + rand.Text() + `"}` }

// decides makes every decision in which the store has a part. Without the store it is
// unknown whether a signature is new; all other decisions stay the same.
func (g *gateway) decides(what string, healthy bool) {
	t := g.t
	t.Helper()
	expect := func(call string, got reply, status int) {
		t.Helper()
		if got.status != status {
			t.Errorf("%s: %s: %d %s, want %d", what, call, got.status, got.body, status)
		}
	}
	for range 2 {
		expect("admin", g.do("GET /cms-json/cms/v2/posts", "", asAdmin), 200)
		expect("wrong password", g.do("GET /cms-json/cms/v2/posts", "", asWrong), 401)
		expect("nobody", g.do("GET /cms-json/cms/v2/posts", ""), 401)
	}
	body := aBody()
	headers := signedNow(body)
	first, again := 200, 401
	if !healthy {
		first, again = 503, 503
	}
	expect("signed", g.do("POST /cms-json/signed/v1/hook", body, headers...), first)
	expect("replayed", g.do("POST /cms-json/signed/v1/hook", body, headers...), again)
	expect("forged", g.do("POST /cms-json/signed/v1/hook", aBody(), headers...), 401)
	client := aClient()
	for i := range 5 {
		got := g.do("POST /cms-json/limited/v1/x", "", client)
		expect(fmt.Sprint("limited call ", i+1), got, map[bool]int{true: 200, false: 429}[i < 3])
		if got.header.Get("RateLimit-Limit") != "3" || (got.header.Get("Retry-After") != "") != (i >= 3) {
			t.Errorf("%s: header %v", what, got.header)
		}
	}
}

// recovers waits until signatures are known again.
func (g *gateway) recovers() {
	g.t.Helper()
	eventually(g.t, "signatures are known again", func() bool {
		body := aBody()
		return g.do("POST /cms-json/signed/v1/hook", body, signedNow(body)...).status == 200
	})
}

// storeCount returns a series of the store's metric.
func (g *gateway) storeCount(op, result string) int {
	g.t.Helper()
	series := fmt.Sprintf("caddy_restwarden_store_operations_total{op=%q,result=%q} ", op, result)
	for line := range strings.Lines(g.do("GET /store-metrics", "").body) {
		if text, ok := strings.CutPrefix(line, series); ok {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				g.t.Fatal(err)
			}
			return n
		}
	}
	g.t.Fatalf("no %s", series)
	return 0
}

// TestFailures: whatever Redis does, decisions stay right; metrics and log show what
// happened, and the gateway recovers with Redis.
func TestFailures(t *testing.T) {
	const secret = "s3cret"
	for name, failure := range map[string]struct {
		breaks, mends func(t *testing.T, server *redisrun.Server, between *redisrun.Lag)
	}{
		"killed": {
			func(_ *testing.T, server *redisrun.Server, _ *redisrun.Lag) { server.Kill() },
			func(_ *testing.T, server *redisrun.Server, _ *redisrun.Lag) { server.Start() },
		},
		"slow": {
			func(_ *testing.T, _ *redisrun.Server, between *redisrun.Lag) { between.Set(5 * time.Second) },
			func(_ *testing.T, _ *redisrun.Server, between *redisrun.Lag) { between.Set(0); between.Cut() },
		},
		"cut off": {
			func(_ *testing.T, _ *redisrun.Server, between *redisrun.Lag) { between.Refuse(true); between.Cut() },
			func(_ *testing.T, _ *redisrun.Server, between *redisrun.Lag) { between.Refuse(false) },
		},
		"read-only after a failover": {configured("REPLICAOF", "127.0.0.1", "1"), configured("REPLICAOF", "NO", "ONE")},
		"out of memory":              {configured("CONFIG", "SET", "maxmemory", "1"), configured("CONFIG", "SET", "maxmemory", "0")},
		"another password": {
			func(t *testing.T, server *redisrun.Server, between *redisrun.Lag) {
				t.Helper()
				configured("CONFIG", "SET", "requirepass", secret)(t, server, between)
				between.Cut()
			},
			func(t *testing.T, server *redisrun.Server, _ *redisrun.Lag) {
				t.Helper()
				admin := server.Admin(func(o *redis.Options) { o.Password = secret })
				if err := admin.Do(t.Context(), "CONFIG", "SET", "requirepass", "").Err(); err != nil {
					t.Error(err)
				}
			},
		},
		"busy": {
			func(t *testing.T, server *redisrun.Server, between *redisrun.Lag) {
				t.Helper()
				configured("CONFIG", "SET", "busy-reply-threshold", "1")(t, server, between)
				go server.Admin().Eval(t.Context(), "local n = 0 while true do n = n + 1 end", nil)
				time.Sleep(100 * time.Millisecond)
			},
			configured("SCRIPT", "KILL"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := redisrun.Start(t)
			between := redisrun.StartLag(t, server.Addr)
			g := startSharing(t, newPlatform(t), "redis "+between.Addr+" {\n\t\t\ttimeout 1s\n\t\t}") // a busy machine may take 100 ms
			g.decides("before", true)
			failure.breaks(t, server, between)
			eventually(t, "the failure is seen", func() bool { return strings.Contains(g.logged(), "the store cannot be reached") || g.isRefusing() })
			g.decides("meanwhile", false)
			if n := g.storeCount("set_once", "error") + g.storeCount("set_once", "timeout"); n == 0 {
				t.Error("no failure is counted")
			}
			failure.mends(t, server, between)
			g.recovers()
			g.decides("after", true)
			eventually(t, "the recovery is logged", func() bool {
				g.do("POST /cms-json/limited/v1/x", "", asAdmin)
				return strings.Contains(g.logged(), "the store can be reached again")
			})
			log := g.logged()
			for _, line := range []string{"the store cannot be reached", "the store can be reached again"} {
				if n := strings.Count(log, line); n != 1 {
					t.Errorf("%d lines say that %s", n, line)
				}
			}
			if strings.Contains(log, secret) {
				t.Error("the log holds a password")
			}
		})
	}
}

func (g *gateway) isRefusing() bool {
	body := aBody()
	return g.do("POST /cms-json/signed/v1/hook", body, signedNow(body)...).status == 503
}

func configured(args ...any) func(*testing.T, *redisrun.Server, *redisrun.Lag) {
	return func(t *testing.T, server *redisrun.Server, _ *redisrun.Lag) {
		t.Helper()
		if err := server.Admin().Do(t.Context(), args...).Err(); err != nil {
			t.Error(err)
		}
	}
}

// TestFailures_StartAndReloadWhileDown: a gateway starts, serves, reloads and stops
// without Redis, and uses Redis once it is there.
func TestFailures_StartAndReloadWhileDown(t *testing.T) {
	server := redisrun.Start(t)
	server.Kill()
	p := newPlatform(t)
	g := startSharing(t, p, "redis "+server.Addr)
	g.decides("started", false)
	g.reshare("redis " + server.Addr)
	g.decides("reloaded", false)
	server.Start()
	g.recovers()
	g.decides("with Redis", true)
	g.reshare("memory")
	g.decides("with memory", true)
	leased := 0
	for range pool.Values[*redisstore.Store]() {
		leased++
	}
	if leased != 0 {
		t.Errorf("%d clients are left", leased)
	}
}

// TestFailures_ReloadKeepsTheClient: a reload neither opens new connections nor forgets.
func TestFailures_ReloadKeepsTheClient(t *testing.T) {
	server := redisrun.Start(t)
	p := newPlatform(t)
	store := "redis " + server.Addr + " {\n\t\t\ttimeout 2s\n\t\t}" // a busy machine may take 100 ms
	g := startSharing(t, p, store)
	g.decides("started", true)
	before := connections(t, server)
	g.reshare(store)
	g.decides("reloaded", true)
	if after := connections(t, server); !slices.ContainsFunc(after, func(id string) bool { return slices.Contains(before, id) }) {
		t.Errorf("of the connections %q none is left: %q", before, after)
	}
}

// connections returns the ids of the connections of server, without the one that asks.
func connections(t *testing.T, server *redisrun.Server) (ids []string) {
	t.Helper()
	list, err := server.Admin().ClientList(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(list) {
		if id, _, _ := strings.Cut(line, " "); !strings.Contains(line, "cmd=client|list") {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestFailures_Forgotten: a signature that this process has seen used stays used,
// although Redis comes back empty.
func TestFailures_Forgotten(t *testing.T) {
	server := redisrun.Start(t)
	g := startSharing(t, newPlatform(t), "redis "+server.Addr)
	body := aBody()
	headers := signedNow(body)
	g.do("POST /cms-json/signed/v1/hook", body, headers...).want(t, 200, "")
	if err := server.Admin().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	g.do("POST /cms-json/signed/v1/hook", body, headers...).want(t, http.StatusUnauthorized, "rest_invalid_signature")
}
