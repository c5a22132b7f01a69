package caller

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestFlight_SlowPHP: forty editors behind one address, on a PHP that takes its time, are never
// refused: not where it takes longer than the questions had before, nor longer than timeout.
func TestFlight_SlowPHP(t *testing.T) {
	for name, takes := range map[string]time.Duration{"14 s": 14 * time.Second, "longer than timeout": 45 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, o := withOptions(t, Options{}), &office{n: 40, takes: takes}
				var refused, calls atomic.Int64
				var group sync.WaitGroup
				for id := range o.n {
					group.Go(func() {
						time.Sleep(time.Duration(id) * 400 * time.Millisecond)
						for range 27 {
							w := request(t, s, o, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic editor"+strconv.Itoa(id+1))
							w.Client = netip.MustParseAddr("192.0.2.7")
							w.Holder.Client = w.Client
							calls.Add(1)
							if who, _, err := w.Who(t.Context()); err != nil || who.ID != uint64(id+1) {
								refused.Add(1)
							}
							time.Sleep(15 * time.Second)
						}
					})
				}
				group.Wait()
				if refused.Load() > 0 {
					t.Errorf("%d of %d calls are refused", refused.Load(), calls.Load())
				}
			})
		})
	}
}

// TestFlight_Record: a question about a record waits as long as its client does, for its turn
// and for the answer.
func TestFlight_Record(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, slow := withOptions(t, Options{MaxInFlight: 1}), &office{n: 3, takes: 20 * time.Second}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				w := request(t, s, slow, "GET", "/wp-json/wp/v2/posts", "")
				if _, err := w.Ask(t.Context(), ask.Question{Kind: ask.KindRecord, Route: "/wc/v3/orders/1", As: ask.AsNobody}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		slow.takes = time.Hour
		ctx, gone := context.WithTimeout(t.Context(), 10*time.Second)
		defer gone()
		w := request(t, s, slow, "GET", "/wp-json/wp/v2/posts", "")
		if _, err := w.Ask(ctx, ask.Question{Kind: ask.KindRecord, Route: "/wc/v3/orders/1", As: ask.AsNobody}); err == nil {
			t.Error("an answer after an hour")
		}
		if n := s.Identities.opts.InFlight.Used(); n != 0 {
			t.Errorf("%d under way for a client that has gone", n)
		}
	})
}

// TestFlight_NobodyWaits: a question ends when everybody who waited has gone, but not before
// timeout, since its answer serves the next request. Who comes after that asks anew.
func TestFlight_NobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, hung := withOptions(t, Options{}), &office{n: 1, takes: time.Hour}
		who := func(b ask.Backend, patience time.Duration) error {
			ctx, gone := context.WithTimeout(t.Context(), patience)
			defer gone()
			_, _, err := request(t, s, b, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic editor1").Who(ctx)
			return err
		}
		used := func() string {
			synctest.Wait()
			return fmt.Sprintf("%d under way, %d late", s.Identities.opts.InFlight.Used(), s.Identities.opts.Late.Used())
		}
		for at, step := range []struct {
			waits, rest time.Duration
			want        string
		}{
			{5 * time.Second, 20 * time.Second, "1 under way, 0 late"},
			{0, 6 * time.Second, "0 under way, 0 late"}, // 31 s
			{40 * time.Second, 0, "0 under way, 0 late"},
		} {
			if step.waits > 0 {
				if err := who(hung, step.waits); err == nil {
					t.Error("an answer after an hour")
				}
			}
			time.Sleep(step.rest)
			if got := used(); got != step.want {
				t.Errorf("%d: %s, want %s", at, got, step.want)
			}
		}
		go func() { _ = who(hung, 40*time.Second) }()
		time.Sleep(35 * time.Second)
		if got := used(); got != "0 under way, 1 late" {
			t.Error("while somebody waits:", got)
		}
		time.Sleep(10 * time.Second)
		if err := who(&office{n: 1}, time.Second); err != nil {
			t.Error("the platform is back:", err)
		}
	})
}

// TestFlight_Forged: forged credentials of many addresses hold at most their shares of a
// platform that hangs, however long their clients wait.
func TestFlight_Forged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withOptions(t, Options{MaxInFlight: 16})
		var now, most atomic.Int64
		hung := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(3 * time.Minute)
			return asktest.JSON(401, `{"code":"incorrect_password"}`), nil
		}}
		var group sync.WaitGroup
		for i := range 200 {
			group.Go(func() {
				w := request(t, s, hung, "GET", "/wp-json/wp/v2/posts", "", fmt.Sprintf("Authorization: Basic forged%d", i))
				w.Client = netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
				w.Holder.Client = w.Client
				_, _, _ = w.Who(t.Context())
			})
		}
		group.Wait()
		if n := most.Load(); n != 8 { // a quarter of 16, and as many late ones
			t.Errorf("%d questions at once", n)
		}
	})
}

// TestFlight_Refused: what the platform refuses to one request, as to one of another address or over http, is asked about anew for
// another one with the same credentials, while the first waits and after that. Of the same way it is asked once.
func TestFlight_Refused(t *testing.T) {
	ways := map[string]func(*Whole){
		"another address": func(w *Whole) { w.Client = netip.MustParseAddr("198.51.100.7") },
		"over https":      func(w *Whole) { w.HTTP.Header.Set("Cf-Visitor", `{"scheme":"https"}`) },
	}
	who := func(ctx context.Context, w *Whole) (string, error) {
		who, answer, err := w.Who(ctx)
		if answer != nil || !who.Accepted() {
			return "", err
		}
		return who.Kind.String(), err
	}
	for name, tt := range map[string]struct {
		line string
		find func(context.Context, *Whole) (string, error)
	}{
		"by password": {basicAuth, func(ctx context.Context, w *Whole) (string, error) {
			who, _, err := w.ByPassword(ctx)
			return who.Login, err
		}},
		"by token": {"Authorization: Bearer x", func(ctx context.Context, w *Whole) (string, error) {
			who, _, err := w.ByToken(ctx)
			return who.Login, err
		}},
		"password": {basicAuth, func(ctx context.Context, w *Whole) (string, error) { return w.Password(ctx) }},
		"user":     {basicAuth, who},
		"key":      {shopKey, who},
	} {
		for way, change := range ways {
			for _, pause := range []time.Duration{time.Second / 2, 5 * time.Second / 2} {
				synctest.Test(t, func(t *testing.T) {
					s := withOptions(t, Options{})
					closed, open := slowly(`{"code":"rest_not_logged_in","message":"","data":{"status":401}}`, 401), slowly(`[]`, 200)
					if name != "key" {
						open = slowly(`{"id":7,"username":"maria","uuid":"`+usedUUID+`","roles":[],"capabilities":{}}`, 200)
					}
					to := func(backend *asktest.Platform) *Whole {
						return request(t, s, backend, "GET", "/wp-json/wc/v3/orders", "", tt.line)
					}
					var group sync.WaitGroup
					group.Go(func() { _, _ = tt.find(t.Context(), to(closed)) })
					time.Sleep(pause)
					w := to(open)
					change(w)
					if found, err := tt.find(t.Context(), w); found == "" || err != nil {
						t.Errorf("%s, %s, %v: %q, %v", name, way, pause, found, err)
					}
					group.Wait()
				})
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s, closed := withOptions(t, Options{}), slowly(`{"code":"rest_not_logged_in","message":"","data":{"status":401}}`, 401)
		for range 2 {
			if found, err := who(t.Context(), request(t, s, closed, "GET", "/wp-json/wc/v3/orders", "", shopKey)); found != "" || err != nil {
				t.Error(found, err)
			}
		}
		if n := len(closed.Questions()); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
}

// slowly gives every question one answer, a second later.
func slowly(body string, status int) *asktest.Platform {
	return &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		time.Sleep(time.Second)
		return asktest.JSON(status, body), nil
	}}
}
