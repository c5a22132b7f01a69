package policies

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// TestAhead_Key: one list tells who holds a shop key, and of an order that it is one. Where it does
// not, the record is asked about as of any caller.
func TestAhead_Key(t *testing.T) {
	for name, test := range map[string]struct {
		front  *front
		order  string
		asked  string
		status int
		known  bool // the caller is a key
	}{
		"an order":               {new(front), "7", "?7", 0, true},
		"in the trash":           {new(front), "10", "/10/notes/0, ?10", 0, true},
		"a subscription":         {new(front), "13", "/13, /13/notes/0, ?13, DELETE /0/notes/0", 400, true},
		"no record":              {new(front), "99", "/99, /99/notes/0, ?99, DELETE /0/notes/0", 400, true},
		"an unknown key":         {&front{orders: unknownKey}, "7", "?7", 401, false},
		"a wrong secret":         {&front{orders: wrongKey}, "7", "?7", 401, false},
		"a key that only writes": {&front{orders: writeKey}, "7", "/7/notes/0, ?7", 401, true},
		"a customer's key":       {&front{orders: customers}, "7", "/7/notes/0, ?7", 403, true},
		"lists without ids":      {&front{strict: true}, "7", ", /7/notes/0, ?7", 0, true},
		"a page":                 {&front{orders: asktest.JSON(200, `<html>`)}, "7", "?7, ?7", 503, false},
	} {
		for place, target := range map[string]string{"Basic": "", "query": "?consumer_key=ck_1&consumer_secret=cs_1"} {
			t.Run(name+", "+place, func(t *testing.T) {
				s, c := membersOnly(t, caller.Options{})
				test.front.asked = nil
				var headers []string
				if target == "" {
					headers = []string{policytest.ShopKey}
				}
				r := update(t, s, test.front, test.order+target, headers...)
				d := c.Judge(t.Context(), r)
				if got := test.front.list(); got != test.asked || verdictStatus(d) != test.status {
					t.Errorf("status %d (%v), asked %s, want %d, %s", verdictStatus(d), d.Err, got, test.status, test.asked)
				}
				who, _ := r.Known()
				if want := (caller.Caller{Kind: caller.KeyHolder}); test.known != (who.Kind == caller.KeyHolder) || test.known && fmt.Sprint(who) != fmt.Sprint(want) {
					t.Errorf("the caller is %+v", who)
				}
				if test.front.most != 1 {
					t.Errorf("%d questions at once", test.front.most)
				}
			})
		}
	}
}

// TestAhead_KeyIsRemembered: what the list has told is remembered as what two questions tell.
func TestAhead_KeyIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := membersOnly(t, caller.Options{})
		f := new(front)
		for _, test := range []struct{ order, asked string }{
			{"7", "?7"}, {"7", "?7"}, {"8", "/8/notes/0, ?7"},
		} {
			if d := c.Judge(t.Context(), update(t, s, f, test.order, policytest.ShopKey)); d.Outcome != policy.Pass || f.list() != test.asked {
				t.Errorf("%s: %v, asked %s, want %s", test.order, d, f.list(), test.asked)
			}
		}
		f = &front{who: manager}
		d := c.Judge(t.Context(), update(t, s, f, "7", policytest.BasicAuth))
		if synctest.Wait(); d.Outcome != policy.Pass || f.list() != "/wp/v2/users/me" {
			t.Errorf("an order that is proven: %v, asked %s", d, f.list())
		}
	})
}

// TestAhead_Users: beside the question who a user is, that about the record is under way.
func TestAhead_Users(t *testing.T) {
	const both = "/7/notes/0, /wp/v2/users/me"
	failing := errors.New("no answer")
	records := func(a *ask.Answer, err error) func(*ask.Question, *ask.Answer) (*ask.Answer, error) {
		return func(q *ask.Question, other *ask.Answer) (*ask.Answer, error) {
			if q.Kind == ask.KindRecord {
				return a, err
			}
			return other, nil
		}
	}
	role := policytest.Line("allow role editor /wc/**")
	for name, test := range map[string]struct {
		front  *front
		lines  []policy.Option
		order  string
		asked  string
		status int
	}{
		"an order":                 {&front{who: manager}, nil, "7", both, 0},
		"in the trash":             {&front{who: manager}, nil, "10", "/10/notes/0, /wp/v2/users/me", 0},
		"a subscription":           {&front{who: manager}, nil, "13", "/13, /13/notes/0, /wp/v2/users/me", 400},
		"may not read":             {&front{who: asktest.JSON(200, policytest.ClientBody), edit: records(customers, nil)}, nil, "7", both, 403},
		"no role":                  {&front{who: manager, edit: records(nil, failing)}, []policy.Option{role}, "7", both, 403},
		"a wrong login":            {&front{who: wrongLogin}, nil, "7", both, 401},
		"a wrong login, no record": {&front{who: wrongLogin, edit: records(nil, failing)}, nil, "7", both, 401},
		"nobody":                   {&front{who: asktest.JSON(401, `{"code":"rest_not_logged_in"}`)}, nil, "7", both, 401},
		"nobody, observed":         {&front{who: asktest.JSON(401, `{"code":"rest_not_logged_in"}`)}, []policy.Option{policytest.Line("access", policytest.Line("mode observe"))}, "7", "/7/notes/0, /7/notes/0, /wp/v2/users/me", 401},
		"no answer of a record":    {&front{who: manager, edit: records(nil, failing)}, nil, "7", both, 503},
		"no answer who it is":      {&front{who: asktest.JSON(500, ``)}, nil, "7", both, 503},
	} {
		for login, headers := range map[string][]string{
			"password": {policytest.BasicAuth}, "cookie": {policytest.LoginLine, policytest.NonceLine},
		} {
			t.Run(name+", "+login, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := test.front
					f.asked, f.most = nil, 0
					f.wait = func(ctx context.Context, _ *ask.Question) error { // until the other has come
						for range 1000 {
							if !f.others(1) {
								return nil
							}
							if ctx.Err() != nil {
								return context.Cause(ctx)
							}
							time.Sleep(time.Millisecond)
						}
						return errors.New("alone")
					}
					s, c := membersOnly(t, caller.Options{}, test.lines...)
					r := update(t, s, f, test.order, headers...)
					d := c.Judge(r.HTTP.Context(), r)
					time.Sleep(time.Minute) // the question that nobody needs ends
					if verdictStatus(d) != test.status || f.list() != test.asked || f.most != 2 {
						t.Errorf("status %d (%v), asked %s, %d at once, want %d, %s", verdictStatus(d), d.Err, f.list(), f.most, test.status, test.asked)
					}
				})
			})
		}
	}
}

// TestAhead_EndsWithTheCaller: who is refused does not wait for the record, and who goes leaves no
// question.
func TestAhead_EndsWithTheCaller(t *testing.T) {
	for name, goes := range map[string]bool{"a wrong login": false, "the client goes": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := membersOnly(t, caller.Options{})
				ctx, leave := context.WithCancel(t.Context())
				f := &front{who: wrongLogin}
				f.wait = func(ctx context.Context, q *ask.Question) error {
					if q.Kind == ask.KindCaller && !goes {
						return nil
					}
					<-ctx.Done()
					return context.Cause(ctx)
				}
				if goes {
					time.AfterFunc(time.Second, leave)
				}
				start := time.Now()
				d := c.Judge(ctx, update(t, s, f, "7", policytest.BasicAuth))
				if want := map[bool]int{false: 401, true: 503}[goes]; verdictStatus(d) != want || time.Since(start) > time.Second {
					t.Errorf("%v after %v", d, time.Since(start))
				}
				synctest.Wait()
				if left := f.left(); left > 1 || left == 1 && !goes {
					t.Errorf("%d questions are left", left) // that about the caller may be of use to others
				}
				leave()
				time.Sleep(time.Minute)
				if f.left() > 0 {
					t.Error("a question has not ended")
				}
			})
		})
	}
}

// TestAhead_Limits: made-up credentials cause no more questions than the limit allows, and good ones
// are not limited. The question about a record takes no room that others wait for.
func TestAhead_Limits(t *testing.T) {
	manyLogins := func(t *testing.T, s *policy.Site, c *policy.Chain, f *front, name func(int) string) (limited int) {
		t.Helper()
		for i := range 300 {
			header := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name(i)))
			if d := c.Judge(t.Context(), update(t, s, f, fmt.Sprint(i+100), header)); verdictStatus(d) == http.StatusTooManyRequests {
				limited++
			}
			synctest.Wait()
		}
		return limited
	}
	user, key := func(i int) string { return fmt.Sprintf("user%d:x", i) }, func(i int) string { return fmt.Sprintf("ck_%d:cs_1", i) }
	for name, test := range map[string]struct {
		front   *front
		name    func(int) string
		limited int
	}{
		"made-up passwords": {&front{who: wrongLogin}, user, 240},
		"made-up keys":      {&front{orders: unknownKey}, key, 180},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := membersOnly(t, caller.Options{})
				kept := &reads{Store: s.Store}
				s.Store = kept
				limited := manyLogins(t, s, c, test.front, test.name)
				if n := len(test.front.asked); limited != test.limited || n > 120 || kept.n > 120 {
					t.Errorf("%d calls limited, %d questions, %d looks into the store", limited, n, kept.n)
				}
			})
		})
	}
	t.Run("good passwords", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, c := membersOnly(t, caller.Options{})
			f := &front{}
			f.edit = func(q *ask.Question, a *ask.Answer) (*ask.Answer, error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if q.Kind == ask.KindCaller {
					return asktest.JSON(200, fmt.Sprintf(`{"id":%d,"roles":[],"capabilities":{"read":true}}`, len(f.asked)+1)), nil
				}
				return a, nil
			}
			if limited := manyLogins(t, s, c, f, user); limited > 0 {
				t.Errorf("%d calls limited", limited)
			}
			if limited := manyLogins(t, s, c, &front{who: wrongLogin}, func(i int) string { return fmt.Sprintf("forger%d:x", i) }); limited != 240 {
				t.Errorf("%d forged calls limited after good ones", limited)
			}
		})
	})
	for name, options := range map[string]caller.Options{
		"no room": {MaxInFlight: 4}, "in turn": {InTurn: true}, "the last question of an address": {Rate: 1, Per: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := membersOnly(t, options)
				f := &front{who: manager, wait: func(context.Context, *ask.Question) error {
					time.Sleep(time.Second)
					return nil
				}}
				d := c.Judge(t.Context(), update(t, s, f, "7", policytest.BasicAuth))
				if d.Outcome != policy.Pass || f.most != 1 || f.list() != "/7/notes/0, /wp/v2/users/me" {
					t.Errorf("%v: asked %s, %d at once", d, f.list(), f.most)
				}
			})
		})
	}
}

// reads counts how often a store is read.
type reads struct {
	store.Store
	n int
}

// Get implements store.Store.
func (s *reads) Get(ctx context.Context, key string) (string, bool, error) {
	s.n++
	return s.Store.Get(ctx, key)
}

// TestAhead_Several: updates of one user that come together pass, each by a proof of its own.
func TestAhead_Several(t *testing.T) {
	for name, header := range map[string]string{"password": policytest.BasicAuth, "key": policytest.ShopKey} {
		t.Run(name, func(t *testing.T) {
			s, c := membersOnly(t, caller.Options{})
			f := &front{who: manager}
			var group sync.WaitGroup
			for _, order := range []string{"7", "8", "9", "10", "13", "7", "8"} {
				r := update(t, s, f, order, header)
				group.Go(func() {
					if d := c.Judge(t.Context(), r); (d.Outcome == policy.Pass) != (order != "13") {
						t.Errorf("%s: %v", order, d)
					}
				})
			}
			group.Wait()
		})
	}
}
