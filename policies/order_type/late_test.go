package ordertype

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// slowStore keeps proofs once it is let.
type slowStore struct {
	store.Store
	let chan struct{}
}

func (s slowStore) SetAll(ctx context.Context, value string, ttl time.Duration, keys ...string) error {
	<-s.let
	return s.Store.SetAll(ctx, value, ttl, keys...)
}

// TestOrderType_LearnsWithoutWaiting: what was learned counts before a slow store has it, no
// longer once a delete has passed, and only so many answers wait for the store.
func TestOrderType_LearnsWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := policytest.NewSite(t)
		memory, slow := s.Store, slowStore{s.Store, make(chan struct{})}
		s.Store = slow
		p := policytest.Provision(t, s, new(OrderType))
		list := func(body string) []uint64 {
			return teach(t, p, policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth), 200, body)
		}
		if got := list(`[{"id":7},{"id":8}]`); !slices.Equal(got, []uint64{7, 8}) {
			t.Errorf("proven at once: %v", got)
		}
		p.Watch(policytest.Request(t, s, nil, "DELETE", ordersRoute+"/8", "", policytest.BasicAuth))(asktest.JSON(200, `{}`))
		if got := list(`[{"id":7}]`); !slices.Equal(got, []uint64{7}) {
			t.Errorf("proven after the delete: %v", got)
		}
		for range lateAtOnce {
			list(`[{"id":13}]`)
		}
		if got := list(`[{"id":21}]`); slices.Contains(got, 21) {
			t.Errorf("too many wait for the store: %v", got)
		}
		close(slow.let)
		synctest.Wait()
		r := policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth)
		for id, want := range map[uint64]bool{7: true, 8: false, 13: true, 21: false} {
			if _, got, _ := memory.Get(t.Context(), factKey(p.factsOf(r), id)); got != want {
				t.Errorf("the store has %d: %v", id, got)
			}
		}
		if len(p.late.keys) > 0 || p.late.under != 0 {
			t.Errorf("left over: %+v", p.late.keys)
		}
	})
}

// TestOrderType_LearnsWhatWasTrue: however long the client of a list takes to read it, its
// proofs are as old as the call, and those of an order that was deleted meanwhile never come.
func TestOrderType_LearnsWhatWasTrue(t *testing.T) {
	for name, test := range map[string]struct {
		takes  time.Duration
		delete string
		after  time.Duration // the end of the answer
		want   bool
	}{
		"at once":                  {0, "", 9 * time.Minute, true},
		"at once, outdated":        {0, "", 11 * time.Minute, false},
		"slowly":                   {6 * time.Minute, "", 3 * time.Minute, true},
		"slowly, outdated":         {6 * time.Minute, "", 5 * time.Minute, false},
		"too slowly":               {11 * time.Minute, "", 0, false},
		"deleted meanwhile":        {time.Second, "DELETE " + ordersRoute + "/7?force=true", 0, false},
		"deleted meanwhile, batch": {time.Second, "POST " + ordersRoute + "/batch", 0, false},
		"deleted meanwhile, v1":    {time.Second, "DELETE /wp-json/wc/v1/orders/7", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := policytest.NewSite(t)
				p := policytest.Provision(t, s, new(OrderType))
				r := policytest.Request(t, s, nil, "GET", ordersRoute, "", policytest.BasicAuth)
				lesson := p.Learn(r)
				lesson.Begin(&ask.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "X-Wp-Total": {"1"}}})
				_, _ = lesson.Write([]byte(`[{"id":7}]`))
				time.Sleep(test.takes)
				if method, target, deletes := strings.Cut(test.delete, " "); deletes {
					p.Watch(policytest.Request(t, s, nil, method, target, `{"delete":[7]}`, policytest.JSONType, policytest.BasicAuth))(asktest.JSON(200, `{}`))
				}
				lesson.End(true)
				synctest.Wait()
				time.Sleep(test.after)
				if got := p.proven(t.Context(), r, factKey(p.factsOf(r), 7)); got != test.want {
					t.Errorf("proven: %v", got)
				}
			})
		})
	}
}

// TestLateProofs_Races: many answers and deletes at once leave nothing behind.
func TestLateProofs_Races(t *testing.T) {
	s := policytest.NewSite(t)
	var late lateProofs
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				keys := []string{fmt.Sprint(j % 7), fmt.Sprint(i)}
				late.keep(s.Store, late.now(), keys)
				late.has(keys[0])
				late.forget(keys[:1])
			}
		})
	}
	wg.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		late.mu.Lock()
		under, keys := late.under, len(late.keys)
		late.mu.Unlock()
		if under == 0 && keys == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d answers, %d proofs are left", under, keys)
		}
	}
}

// proven tells whether a proof is kept under key.
func (p *OrderType) proven(ctx context.Context, r *policy.Request, key string) bool {
	if p.late.has(key) {
		return true
	}
	_, proven, err := r.Site.Store.Get(ctx, key)
	return err == nil && proven
}
