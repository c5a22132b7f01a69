package caller

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

const (
	oauthArrives = `{"code":"woocommerce_rest_authentication_error","message":"Consumer key is invalid."}`
	oauthLost    = `{"code":"woocommerce_rest_cannot_view"}`
)

// signedBy is a call that a client of its own signs in the header. Each header is another one.
func signedBy(t *testing.T, s *Site, b ask.Backend, target string, client byte) *Whole {
	t.Helper()
	w := request(t, s, b, "GET", target, "", fmt.Sprintf(`Authorization: OAuth oauth_consumer_key="ck_%d", oauth_nonce="%d"`, client, time.Now().UnixNano()))
	w.Client = netip.AddrFrom4([4]byte{192, 0, 2, client})
	w.Holder.Client = w.Client
	return w
}

// TestArrival_Learned: what one client's header has shown counts for all, of this host, base and form
// alone, and ends: rarely where the header arrives, since the shop refuses each question's signature,
// and soon where it is lost.
func TestArrival_Learned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, says := newSite(t), oauthArrives
		backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return asktest.JSON(401, says), nil }}
		who := func(target string, client byte) Kind {
			who, answer, err := signedBy(t, s, backend, target, client).Who(t.Context())
			if err != nil || answer != nil {
				t.Error(answer, err)
			}
			synctest.Wait() // for what is asked in the background
			return who.Kind
		}
		const orders, plugin = "/wp-json/wc/v3/orders/1", "/wp-json/wc-bookings/v1/slots"
		for at, step := range []struct {
			says, target string
			client       byte
			rest         time.Duration
			want         Kind
			asked        int
		}{
			{oauthLost, plugin, 1, 0, Anonymous, 1},
			{oauthLost, orders, 2, 30 * time.Second, Anonymous, 1},
			{oauthArrives, orders, 3, 31 * time.Second, Unverified, 2}, // the server was mended
			{oauthArrives, plugin, 1, 40 * time.Minute, Unverified, 2},
			{oauthArrives, orders, 2, 6 * time.Minute, Unverified, 3}, // in the background
			{oauthArrives, "/blog" + orders, 2, 0, Unverified, 4},
			{oauthLost, "/stats" + orders, 2, 0, Anonymous, 5},
			{oauthLost, orders, 2, 0, Unverified, 5},
			{oauthLost, orders, 2, 3 * time.Hour, Anonymous, 6}, // the server was broken
		} {
			time.Sleep(step.rest)
			says = step.says
			if got := who(step.target, step.client); got != step.want || len(backend.Questions()) != step.asked {
				t.Errorf("%d: %s, %d questions, want %s, %d", at, got, len(backend.Questions()), step.want, step.asked)
			}
		}
		says = oauthArrives
		time.Sleep(2 * time.Minute)
		who(orders, 4)
		s.Identities.drop(t.Context(), s.Store, dropping{whom: dropAll}) // somebody's rights end
		if n := len(backend.Questions()); who(orders, 5) != Unverified || len(backend.Questions()) != n {
			t.Error("asked again after a drop that has nothing to do with it")
		}
	})
}

// TestArrival_Question: it carries the client's own header and no other credential, and its signature
// cannot fit, even if the client calls the same route.
func TestArrival_Question(t *testing.T) {
	s := newSite(t)
	backend, seen := asktest.Answering(401, oauthLost), map[string]bool{}
	for range 2 {
		s.Identities = newSite(t).Identities
		w := signedBy(t, s, backend, "/wp-json/wc/v3/orders?per_page=1&_fields=id", 1)
		w.HTTP.Header.Set("X-Wp-Nonce", "x")
		w.HTTP.Header.Set("X-Mcp-Api-Key", "a:b")
		if _, _, err := w.Who(t.Context()); err != nil || !w.SignedInVain() {
			t.Error(err)
		}
		all := backend.Questions()
		q := all[len(all)-1]
		if len(q.Header) != 1 || q.Header.Get("Authorization") != w.HTTP.Header.Get("Authorization") || seen[q.Fresh] ||
			q.Method != http.MethodGet || q.Fresh == "" || q.Query != "per_page=1&_fields=id" {
			t.Errorf("%+v", q)
		}
		seen[q.Fresh] = true
	}
}

// TestArrival_Poison: what a stranger is refused for says nothing of the header, and fails for that
// stranger alone, also while others ask.
func TestArrival_Poison(t *testing.T) {
	for name, a := range map[string]*ask.Answer{
		"a ban":            asktest.JSON(403, `{"code":"rest_forbidden"}`),
		"a ban, 401":       asktest.JSON(401, `{"code":"rest_cannot_access"}`),
		"a firewall":       asktest.JSON(403, "<html>"),
		"a page":           asktest.JSON(404, "<html>"),
		"an open list":     asktest.JSON(200, "[]"),
		"a refused log-in": asktest.JSON(401, `{"code":"woocommerce_rest_cannot_edit"}`),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			banned := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
				time.Sleep(10 * time.Second)
				return a, nil
			}}
			go func() {
				if who, _, err := signedBy(t, s, banned, "/wp-json/wc/v3/orders", 66).Who(t.Context()); err == nil {
					t.Errorf("%s: the stranger is %s", name, who.Kind)
				}
			}()
			time.Sleep(time.Second)
			for range 2 {
				who, _, err := signedBy(t, s, asktest.Answering(401, oauthArrives), "/wp-json/wc/v3/orders", 1).Who(t.Context())
				if err != nil || who.Kind != Unverified {
					t.Errorf("%s: %s, %v", name, who.Kind, err)
				}
				time.Sleep(time.Minute)
			}
		})
	}
}

// TestArrival_LockedOut: the page for whom a plugin locks out does not show that queries arrive.
func TestArrival_LockedOut(t *testing.T) {
	s := newSite(t)
	for _, step := range []struct {
		answer *ask.Answer
		fails  bool
	}{
		{asktest.JSON(403, `{"code":"wp_die","message":"You are locked out.","data":{"status":403}}`), true},
		{asktest.JSON(401, oauthLost), false},
	} {
		w := request(t, s, &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return step.answer, nil }}, "GET", "/wp-json/wc/v3/orders?oauth_signature=x", "")
		if who, _, err := w.Who(t.Context()); who.Kind != Anonymous || (err != nil) != step.fails {
			t.Errorf("%s: %s, %v", step.answer.Body, who.Kind, err)
		}
	}
}

// TestArrival_Bounded: a thousand forged headers at once are few questions, whatever hosts and bases
// they name, and what is learned of them is bounded.
func TestArrival_Bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		backend := asktest.Answering(401, oauthArrives)
		for i := range 1000 {
			w := signedBy(t, s, backend, fmt.Sprintf("/b%d/wp-json/wc/v3/orders", i), 1)
			w.HTTP.Host = fmt.Sprintf("host%d.example", i)
			_, _, _ = w.Who(context.Background())
		}
		if n := s.Identities.cache.entries.Len(); n > identityCapacity {
			t.Errorf("%d entries", n)
		}
		lost, n := asktest.Answering(401, oauthLost), 0
		for i := range 1000 {
			_, _, _ = signedBy(t, s, lost, "/wp-json/wc/v3/orders", byte(i)).Who(t.Context())
		}
		if n = len(lost.Questions()); n != 1 {
			t.Errorf("%d questions about one site", n)
		}
	})
}

// TestWho_OAuth1OtherPrefix: behind a rewrite from another name of the prefix the shop sees the
// client's address, and does not look. What it has shown of its own prefix says nothing there.
func TestWho_OAuth1OtherPrefix(t *testing.T) {
	for target, kind := range map[string]Kind{"/wp-json/wc/v3/orders": Unverified, "/api/wc/v3/orders": Anonymous} {
		s := newSite(t)
		w := request(t, s, asktest.Answering(401, oauthArrives), "GET", target+"?oauth_signature=x", "")
		w.Call = call.NewReader(call.Config{Platform: s.Platform, Prefix: "wp-json", Prefixes: []string{"api"}}).Read(w.HTTP, nil)
		if who, _, err := w.Who(t.Context()); err != nil || who.Kind != kind {
			t.Errorf("%s: %s, %v", target, who.Kind, err)
		}
	}
}

// FuzzPlainHeader: a header that is believed is one line of printable ASCII of a bounded size.
func FuzzPlainHeader(f *testing.F) {
	seeds := []string{`OAuth oauth_nonce="a"`, `OAuth realm="https://a.test/", oauth_consumer_key="ck_1"`, "OAuth", "oauth a", "OAuth \u00e9", "OAuth \t", "OAuth " + strings.Repeat("x", plainHeaderLimit)}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.HasPrefix(text, "OAuth ") && len(text) <= plainHeaderLimit
		for i := range len(text) {
			want = want && text[i] >= ' ' && text[i] <= '~'
		}
		if got := plainHeader(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	})
}
