package caller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestLimit_Spellings: who spells forged or good credentials in any number of ways cannot have the
// platform asked about each, and is limited alone.
func TestLimit_Spellings(t *testing.T) {
	const posts, orders = "/wp-json/wp/v2/posts", "/wp-json/wc/v3/orders"
	for name, test := range map[string]struct {
		target  string
		headers func(i int) []string
		host    string // with the number of the request
		answer  *ask.Answer
		most    int // questions in the first minute
	}{
		"OAuth, ports":         {orders, func(int) []string { return []string{`Authorization: OAuth oauth_nonce="1"`} }, "shop.example:%d", asktest.JSON(401, oauthArrives), 120},
		"OAuth, names":         {orders, func(int) []string { return []string{`Authorization: OAuth oauth_nonce="1"`} }, "h%d.shop.example", asktest.JSON(401, oauthArrives), 120},
		"OAuth, lost":          {orders, func(int) []string { return []string{`Authorization: OAuth oauth_nonce="1"`} }, "shop.example:%d", asktest.JSON(401, oauthLost), 120},
		"a password, ports":    {posts, func(int) []string { return []string{basicAuth} }, "shop.example:%d", asktest.JSON(200, adminBody), 240},
		"a shop key, ports":    {orders, func(int) []string { return []string{shopKey} }, "shop.example:%d", asktest.JSON(200, "[]"), 240},
		"a session, cookies":   {posts, func(i int) []string { return []string{fmt.Sprintf("%s; wordpress_%d=x", loginLine, i), nonceLine} }, "shop.example", asktest.JSON(200, adminBody), 240},
		"a session, a header":  {posts, func(i int) []string { return []string{loginLine, nonceLine, fmt.Sprint("Authorization: Bearer ", i)} }, "shop.example", asktest.JSON(200, adminBody), 240},
		"a session, one alone": {posts, func(int) []string { return []string{loginLine, nonceLine} }, "shop.example", asktest.JSON(200, adminBody), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, backend := newSite(t), asktest.Answering(test.answer.Status, string(test.answer.Body))
				limited := 0
				for i := range 500 {
					w := request(t, s, backend, "GET", test.target, "", test.headers(i)...)
					if w.HTTP.Host = test.host; strings.Contains(test.host, "%") {
						w.HTTP.Host = fmt.Sprintf(test.host, 1000+i)
					}
					if _, _, err := w.Who(t.Context()); errors.Is(err, ask.ErrTooMany) {
						limited++
					}
				}
				if n := len(backend.Questions()); n > test.most || n+limited < 500 && test.most > 1 {
					t.Errorf("%d questions, %d limited", n, limited)
				}
				if who, err := poll(t, s, &office{n: 2}, "editor2"); who.ID != 2 && test.most == 1 {
					t.Error("another user of the address:", err)
				}
				time.Sleep(time.Minute)
				if who, err := poll(t, s, &office{n: 2}, "editor2"); who.ID != 2 {
					t.Error("another user of the address, a minute later:", err)
				}
			})
		})
	}
}

// TestLimit_Signs: a client that signs each of its calls by OAuth 1 in the header is not limited, since
// it is asked about once an hour, for each host, base and form.
func TestLimit_Signs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withOptions(t, Options{Rate: 2, Per: time.Hour})
		backend := asktest.Answering(401, oauthArrives)
		for range 6 * 60 {
			if who, _, err := signedBy(t, s, backend, "/wp-json/wc/v3/orders", 1).Who(t.Context()); err != nil || who.Kind != Unverified {
				t.Fatal(who, err)
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		if n := len(backend.Questions()); n > 12 {
			t.Errorf("%d questions in six hours", n)
		}
	})
}

// TestLimit_Schema: what an ability or a route is counts where the credentials are not accepted,
// also if it is asked as nobody. Callers who are accepted are not limited, nor is nobody.
func TestLimit_Schema(t *testing.T) {
	forged := func(i int) []string { return []string{fmt.Sprintf("Authorization: Basic forged%d", i)} }
	good := func(int) []string { return []string{"Authorization: Basic editor1"} }
	for name, test := range map[string]struct {
		kind    ask.Kind
		as      ask.As
		headers func(int) []string
		target  string
		limited bool
	}{
		"forged":               {ask.KindSchema, ask.AsCaller, forged, "/wp-json/wp/v2/posts", true},
		"forged, as nobody":    {ask.KindSchema, ask.AsNobody, forged, "/wp-json/wp/v2/posts", true},
		"signed":               {ask.KindSchema, ask.AsCaller, func(int) []string { return []string{`Authorization: OAuth oauth_nonce="1"`} }, "/wp-json/wc/v3/orders", true},
		"forged, the cart":     {ask.KindCart, ask.AsCaller, forged, "/wp-json/wp/v2/posts", false},
		"forged, the root":     {ask.KindIndex, ask.AsNobody, forged, "/wp-json/wp/v2/posts", false},
		"accepted":             {ask.KindSchema, ask.AsCaller, good, "/wp-json/wp/v2/posts", false},
		"nobody":               {ask.KindSchema, ask.AsNobody, func(int) []string { return nil }, "/wp-json/wp/v2/posts", false},
		"accepted, and nobody": {ask.KindSchema, ask.AsNobody, good, "/wp-json/wp/v2/posts", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, backend, limited := newSite(t), &office{n: 1}, 0
				if strings.HasPrefix(name, "accepted, and") {
					if _, err := poll(t, s, backend, "editor1"); err != nil {
						t.Fatal(err)
					}
					backend.asked.Store(0)
				}
				for i := range 400 {
					w := request(t, s, backend, "GET", test.target, "", test.headers(i)...)
					_, err := w.Ask(t.Context(), ask.Question{Kind: test.kind, As: test.as, Route: "/wp-abilities/v1/abilities/a/b"})
					if errors.Is(err, ask.ErrTooMany) {
						limited++
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if n := backend.asked.Load(); test.limited && (n > 121 || limited < 270) || !test.limited && limited > 0 {
					t.Errorf("%d questions, %d limited", n, limited)
				}
			})
		})
	}
}
