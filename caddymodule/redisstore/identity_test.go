package redisstore

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
)

// asker finds callers as a gateway does, without the gateway.
type asker struct {
	site      *caller.Site
	store     *Store
	trips     *counter
	questions atomic.Int64
}

// Ask implements ask.Backend.
func (a *asker) Ask(context.Context, ask.Question) (*ask.Answer, error) {
	a.questions.Add(1)
	return &ask.Answer{Status: http.StatusOK, Body: []byte(`{"id":1,"roles":["administrator"],"capabilities":{"read":true}}`)}, nil
}

// Detach implements ask.Backend.
func (a *asker) Detach() ask.Backend { return a }

func newAsker(tb testing.TB, server *redisrun.Server) *asker {
	tb.Helper()
	return newAskerFor(tb, openRedis(tb, Options{Addresses: []string{server.Addr}}), caller.Options{})
}

// newAskerFor is newAsker with a site.
func newAskerFor(tb testing.TB, s *Store, opts caller.Options) *asker {
	tb.Helper()
	a := &asker{store: s, trips: new(counter)}
	opts.TTL, opts.Rate, opts.Per, opts.Store = time.Minute, 1<<20, time.Second, s
	ids, err := caller.NewIdentities(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ids.Close() })
	platform, _ := platforms.ByName("wordpress")
	a.site = caller.NewSite(platform, caller.Own{})
	a.site.Store, a.site.Identities = a.store, ids
	for a.store.Secret() == nil {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // its message has arrived
	a.store.client.AddHook(a.trips)
	return a
}

// request is one of a caller with the given credentials.
func (a *asker) request(tb testing.TB, authorization string) *caller.Whole {
	tb.Helper()
	r := httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts", http.NoBody)
	r.Header.Set("Authorization", authorization)
	c := call.NewReader(call.Config{
		Platform: a.site.Platform, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: budget.NewSpool(tb.TempDir(), 1<<20)},
	}).Read(r, nil)
	return &caller.Whole{Call: c, HTTP: r, Site: a.site, Backend: a, Client: netip.MustParseAddr("192.0.2.7")}
}

func (a *asker) who(tb testing.TB, authorization string) {
	tb.Helper()
	if c, _, err := a.request(tb, authorization).Who(tb.Context()); err != nil || c.Kind != caller.User {
		tb.Fatal(c, err)
	}
}

// TestRedis_IdentityRoundTrips: a caller in memory makes no round trip. Any other makes
// one before the answer and one after it.
func TestRedis_IdentityRoundTrips(t *testing.T) {
	server := redisrun.Start(t)
	a, b := newAsker(t, server), newAsker(t, server)
	a.who(t, "Basic a")
	time.Sleep(50 * time.Millisecond)
	if n := a.trips.trips.Load(); n != 2 {
		t.Errorf("cold, asked: %d round trips", n)
	}
	a.trips.trips.Store(0)
	for range 100 {
		a.who(t, "Basic a")
	}
	if n := a.trips.trips.Load(); n != 0 {
		t.Errorf("warm: %d round trips", n)
	}
	b.who(t, "Basic a")
	time.Sleep(50 * time.Millisecond)
	if trips, questions := b.trips.trips.Load(), b.questions.Load(); trips != 1 || questions != 0 {
		t.Errorf("cold, known to another: %d round trips, %d questions", trips, questions)
	}
}

func BenchmarkRedis_Who(b *testing.B) {
	server := redisrun.Start(b)
	a := newAsker(b, server)
	b.Run("warm", func(b *testing.B) {
		r := a.request(b, "Basic a")
		a.who(b, "Basic a")
		time.Sleep(20 * time.Millisecond) // its answer is shared
		a.trips.trips.Store(0)
		b.ReportAllocs()
		for b.Loop() {
			again := &caller.Whole{Call: r.Call, HTTP: r.HTTP, Site: r.Site, Backend: r.Backend, Client: r.Client}
			if _, _, err := again.Who(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(a.trips.trips.Load())/float64(b.N), "roundtrips/op")
	})
	b.Run("cold", func(b *testing.B) {
		other := newAsker(b, server)
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			n++
			other.who(b, fmt.Sprint("Basic ", n))
		}
		b.ReportMetric(float64(other.trips.trips.Load())/float64(n), "roundtrips/op")
	})
}
