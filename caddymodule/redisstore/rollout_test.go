package redisstore

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// ofSchema1 returns a store that uses the keys of gateways of schema 1.
func ofSchema1(t *testing.T, server *redisrun.Server) *Store {
	t.Helper()
	s := openRedis(t, Options{Addresses: []string{server.Addr}})
	s.prefix = s.common
	return s
}

// TestRollOut_Store: gateways of schema 1 and 2 side by side accept a signature once, and
// do not read each other's facts.
func TestRollOut_Store(t *testing.T) {
	server := redisrun.Start(t)
	before, after := ofSchema1(t, server), openRedis(t, Options{Addresses: []string{server.Addr}})
	for i, pair := range [][2]*Store{{before, after}, {after, before}} {
		key := []string{"first", "second"}[i]
		if first, err := pair[0].SetOnce(t.Context(), key, time.Minute); !first || err != nil {
			t.Fatalf("%s: %v %v", key, first, err)
		}
		if first, err := pair[1].SetOnce(t.Context(), key, time.Minute); first || err != nil {
			t.Errorf("%s: the signature counts twice: %v", key, err)
		}
		if err := pair[0].Set(t.Context(), key, "fact", time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, known, err := pair[1].Get(t.Context(), key); known || err != nil {
			t.Errorf("%s: a fact of the other schema is believed: %v", key, err)
		}
	}
}

// endRights tells ids that a write to user 1 has worked.
func (a *asker) endRights(t *testing.T) {
	t.Helper()
	r := httptest.NewRequest(http.MethodDelete, "/wp-json/wp/v2/users/1", http.NoBody)
	c := call.NewReader(call.Config{Platform: a.site.Platform}).Read(r, nil)
	drop, _ := a.site.Identities.Watch(&caller.Whole{Call: c, HTTP: r, Site: a.site, Backend: a})
	drop(&ask.Answer{Status: http.StatusOK})
}

// TestRollOut_Drops: a right that ends on a gateway of one schema ends on those of the
// other.
func TestRollOut_Drops(t *testing.T) {
	const as = "Basic YWRtaW46cHc="
	server := redisrun.Start(t)
	sited := caller.Options{Site: "shop.example", Before: "wordpress  "}
	before := newAskerFor(t, ofSchema1(t, server), caller.Options{Site: sited.Before})
	after := newAskerFor(t, openRedis(t, Options{Addresses: []string{server.Addr}}), sited)
	third := newAskerFor(t, openRedis(t, Options{Addresses: []string{server.Addr}}), sited)
	known := func() {
		t.Helper()
		for _, a := range []*asker{before, after, third} {
			a.who(t, as)
		}
		time.Sleep(50 * time.Millisecond) // the answers are in the store
	}
	asksAgain := func(all ...*asker) {
		t.Helper()
		sum := func() (n int64) {
			for _, a := range all {
				n += a.questions.Load()
			}
			return n
		}
		was := sum()
		wait.For(t, busy, "a gateway asks again", func() bool {
			for _, a := range all {
				a.who(t, as)
			}
			return sum() > was
		})
	}
	known()
	after.endRights(t)
	asksAgain(before)
	known()
	// What a gateway of schema 1 announces.
	site := fmt.Sprintf("%x", sha256.Sum256([]byte(sited.Before)))[:16]
	if err := before.store.Announce(t.Context(), "who-mark:"+site, site+" AAAA user 1", time.Hour); err != nil {
		t.Fatal(err)
	}
	asksAgain(after, third)
	if n := after.questions.Load() + third.questions.Load(); n > 5 {
		t.Errorf("%d questions of two gateways that share their answers", n)
	}
}
