package caller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/store"
)

// sharedMemory is a Store that several gateways of one process share.
type sharedMemory struct {
	*store.Memory
	secret []byte
	deaf   bool // messages are lost
	down   atomic.Bool
	trips  atomic.Int32

	listening atomic.Int32
}

var errDown = errors.New("the store is down")

func newSharedMemory(tb testing.TB) *sharedMemory {
	tb.Helper()
	m, err := store.NewMemory()
	if err != nil {
		tb.Fatal(err)
	}
	return &sharedMemory{Memory: m, secret: []byte("0123456789abcdef0123456789abcdef")}
}

func (s *sharedMemory) Listen(f func(message string)) (stop func()) {
	s.listening.Add(1)
	end := s.Memory.Listen(f)
	return func() { s.listening.Add(-1); end() }
}

func (s *sharedMemory) Secret() []byte { return s.secret }

func (s *sharedMemory) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	s.trips.Add(1)
	if s.down.Load() {
		return nil, errDown
	}
	return s.Memory.GetAll(ctx, keys...)
}

func (s *sharedMemory) Announce(ctx context.Context, key, message string, ttl time.Duration) error {
	if s.down.Load() {
		return errDown
	}
	if s.deaf {
		message = "nobody " + message
	}
	return s.Memory.Announce(ctx, key, message, ttl)
}

// gatewayOn returns a site of a gateway that uses store.
func gatewayOn(tb testing.TB, store store.Store, change ...func(*Options)) *Site {
	tb.Helper()
	opts := Options{Store: store, Site: "wordpress", Server: ":443"}
	for _, f := range change {
		f(&opts)
	}
	ids, err := NewIdentities(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ids.Close() })
	s := newSite(tb)
	s.Store, s.Identities = store, ids
	if store.Secret() != nil {
		ids.shared.hear("") // the store has been reached
	}
	return s
}

// whoIs asks at one gateway and waits until the answer is in the store.
func whoIs(tb testing.TB, s *Site, backend ask.Backend, headers ...string) Caller {
	tb.Helper()
	caller, _, err := request(tb, s, backend, "GET", "/wp-json/wp/v2/posts", "", headers...).Who(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if s.Identities.shared != nil {
		s.Identities.shared.sharing.Wait()
	}
	return caller
}

func TestIdentities_Shared(t *testing.T) {
	store := newSharedMemory(t)
	a, b := gatewayOn(t, store), gatewayOn(t, store)
	backend := asktest.Answering(200, adminBody)
	first := whoIs(t, a, backend, basicAuth)
	second := whoIs(t, b, backend, basicAuth)
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("%d questions", n)
	}
	if fmt.Sprint(first) != fmt.Sprint(second) || second.Capabilities["gone"] || !second.HasRole([]string{"administrator"}) {
		t.Errorf("%+v became %+v", first, second)
	}
	trips := store.trips.Load()
	whoIs(t, b, backend, basicAuth)
	if store.trips.Load() != trips {
		t.Error("a warm caller makes a round trip")
	}
	for name, other := range map[string]*Site{
		"another site":   gatewayOn(t, store, func(o *Options) { o.Site = "cms" }),
		"another server": gatewayOn(t, store, func(o *Options) { o.Server = ":8443" }),
	} {
		before := len(backend.Questions())
		if whoIs(t, other, backend, basicAuth); len(backend.Questions()) != before+1 {
			t.Errorf("%s believes the answer", name)
		}
	}
	if whoIs(t, b, backend, "Authorization: Basic other"); len(backend.Questions()) != 4 {
		t.Error("other credentials are believed")
	}
}

func TestIdentities_AnonymousIsNotShared(t *testing.T) {
	for name, backend := range map[string]*asktest.Platform{
		"anonymous":      asktest.Answering(401, `{"code":"rest_not_logged_in"}`),
		"wrong password": asktest.Answering(401, `{"code":"incorrect_password"}`),
		"not told all":   asktest.Answering(200, `{"id":1}`),
	} {
		store := newSharedMemory(t)
		whoIs(t, gatewayOn(t, store), backend, basicAuth)
		whoIs(t, gatewayOn(t, store), backend, basicAuth)
		if n := len(backend.Questions()); n != 2 {
			t.Errorf("%s: %d questions", name, n)
		}
	}
}

func TestIdentities_NobodyAsksTheStoreAboutAnonymous(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	whoIs(t, s, asktest.Answering(200, adminBody))
	whoIs(t, s, asktest.Answering(200, adminBody), loginLine)
	if n := store.trips.Load(); n != 0 {
		t.Errorf("%d round trips", n)
	}
}

// watched returns the function to call once the platform has answered r.
func watched(t *testing.T, s *Site, w *Whole) func(*ask.Answer) {
	t.Helper()
	drop, _ := s.Identities.Watch(w)
	if drop == nil {
		t.Fatal("not watched")
	}
	return drop
}

// TestIdentities_SharedDrops: a right that ends on one gateway is asked about again on
// the other; no answer from memory or store is used.
func TestIdentities_SharedDrops(t *testing.T) {
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
		status               int
	}{
		"application password": {"DELETE", "/wp-json/wp/v2/users/1/application-passwords/abc", "", nil, 200},
		"role":                 {"PUT", "/wp-json/wp/v2/users/1", `{"roles":["editor"]}`, []string{jsonType}, 200},
		"logout":               {"GET", "/wp-login.php?action=logout&_wpnonce=1", "", []string{loginLine}, 302},
		"password reset":       {"POST", "/wp-login.php?action=resetpass", "pass1=x", []string{formType, "Cookie: wp-resetpass-abc=x"}, 200},
	} {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " deaf ", deaf), func(t *testing.T) {
				store := newSharedMemory(t)
				store.deaf = deaf
				a, b := gatewayOn(t, store), gatewayOn(t, store)
				backend := asktest.Answering(200, adminBody)
				whoIs(t, a, backend, loginLine, nonceLine)
				whoIs(t, b, backend, loginLine, nonceLine)
				r := request(t, a, backend, test.method, test.target, test.body, test.headers...)
				watched(t, a, r)(told{test.status, cleared, ""}.answer())
				whoIs(t, a, backend, loginLine, nonceLine)
				if n := len(backend.Questions()); n != 2 {
					t.Errorf("here: %d questions", n)
				}
				c := gatewayOn(t, store) // c has no answers in memory; the store has the new one
				whoIs(t, c, backend, loginLine, nonceLine)
				if n := len(backend.Questions()); n != 2 {
					t.Errorf("with an empty memory: %d questions", n)
				}
				watched(t, a, r)(told{test.status, cleared, ""}.answer())
				whoIs(t, b, backend, loginLine, nonceLine)
				if n := len(backend.Questions()); (n == 3) == deaf {
					t.Errorf("on the other: %d questions", n)
				}
			})
		}
	}
}

func TestIdentities_QuestionInFlightOfADropIsNotShared(t *testing.T) {
	store := newSharedMemory(t)
	a, b, c := gatewayOn(t, store), gatewayOn(t, store), gatewayOn(t, store)
	backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		a.Identities.drop(t.Context(), store, dropping{whom: dropUser, user: 1})
		return asktest.JSON(200, adminBody), nil
	}}
	for i, s := range []*Site{b, b, c} {
		whoIs(t, s, backend, basicAuth)
		if n := len(backend.Questions()); n != i+1 {
			t.Errorf("gateway %d: %d questions", i, n)
		}
	}
}

// TestIdentities_DropWithoutTheStore: a drop that could not be announced still takes
// effect here, although the store has the old answer.
func TestIdentities_DropWithoutTheStore(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	backend := asktest.Answering(200, adminBody)
	whoIs(t, s, backend, basicAuth)
	store.down.Store(true)
	s.Identities.drop(t.Context(), store, dropping{whom: dropUser, user: 1})
	store.down.Store(false)
	whoIs(t, s, backend, basicAuth)
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("%d questions", n)
	}
}

func TestIdentities_StoreDown(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	store.down.Store(true)
	backend := asktest.Answering(200, adminBody)
	for range 2 {
		if c := whoIs(t, s, backend, basicAuth); c.Kind != User {
			t.Errorf("%+v", c)
		}
	}
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("%d questions", n)
	}
}

func TestIdentities_SharedAnswerEndsWhereItBegan(t *testing.T) {
	store := newSharedMemory(t)
	a, b := gatewayOn(t, store), gatewayOn(t, store)
	backend := asktest.Answering(200, adminBody)
	whoIs(t, a, backend, basicAuth)
	b.Now = func() time.Time { return time.Unix(1_800_000_000, 0).Add(10*time.Second - 20*time.Millisecond) }
	whoIs(t, b, backend, basicAuth)
	if n := len(backend.Questions()); n != 1 {
		t.Fatalf("%d questions", n)
	}
	time.Sleep(30 * time.Millisecond)
	b.Now = func() time.Time { return time.Unix(1_800_000_011, 0) }
	whoIs(t, b, backend, basicAuth)
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("the answer counts longer than it should: %d questions", n)
	}
}

func TestIdentities_AnotherSecret(t *testing.T) {
	store := newSharedMemory(t)
	a := gatewayOn(t, store)
	backend := asktest.Answering(200, adminBody)
	whoIs(t, a, backend, loginLine, nonceLine)
	logout := watched(t, a, request(t, a, backend, "GET", "/wp-login.php?action=logout", "", loginLine))
	store.secret = []byte("another secret of the gateways..")
	b := gatewayOn(t, store)
	whoIs(t, b, backend, loginLine, nonceLine)
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("hashes of two secrets are the same: %d questions", n)
	}
	logout(&ask.Answer{Status: 302})
	whoIs(t, b, backend, loginLine, nonceLine)
	if n := len(backend.Questions()); n != 3 {
		t.Errorf("a logout under another secret is not felt: %d questions", n)
	}
	a.Identities.shared.hear("")
	if a.Identities.cache.hasher.Load().id != b.Identities.cache.hasher.Load().id {
		t.Error("the secret is not taken over")
	}
}

func TestIdentities_Close(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	if err := s.Identities.Close(); err != nil {
		t.Fatal(err)
	}
	if n := store.listening.Load(); n != 0 {
		t.Errorf("%d listeners are left", n)
	}
}

func BenchmarkWho_Shared(b *testing.B) {
	store := newSharedMemory(b)
	warm := gatewayOn(b, store)
	backend := asktest.Answering(200, adminBody)
	r := request(b, warm, backend, "GET", "/wp-json/wp/v2/posts", "", loginLine, nonceLine)
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := r.again()
			if _, _, err := r.Who(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("from the store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := r.again()
			warm.Identities.forget(dropping{whom: dropAll})
			if _, _, err := r.Who(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		if n := len(backend.Questions()); n != 1 {
			b.Errorf("%d questions", n)
		}
	})
}

// TestIdentities_NotShared: for what is never in the store, nobody looks there.
func TestIdentities_NotShared(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	trips := store.trips.Load()
	if who, _, err := signedBy(t, s, asktest.Answering(401, oauthArrives), "/wp-json/wc/v3/orders", 1).Who(t.Context()); err != nil || who.Kind != Unverified {
		t.Error(who, err)
	}
	if n := store.trips.Load() - trips; n != 0 {
		t.Errorf("%d trips", n)
	}
}
