package ordertype

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// TestOrderType_CredentialIsBounded: who has no right to change orders that the gateway knows
// of meets the limit where the gateway's own key would ask.
func TestOrderType_CredentialIsBounded(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	backend := policytest.Shop(map[string]*ask.Answer{
		"caller": asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`), "/wp/v2/users/me": asktest.JSON(200, policytest.ClientBody),
	})
	limited := 0
	for id := range 200 {
		r := policytest.Request(t, s, backend, "PUT", fmt.Sprintf("/wp-json/wc/v3/orders/%d", id+1000), `{}`, policytest.JSONType, policytest.BasicAuth)
		if _, err := p.Check(t.Context(), r); errors.Is(err, ask.ErrTooMany) {
			limited++
		}
	}
	if limited == 0 {
		t.Errorf("no call was limited after %d questions", len(backend.Questions()))
	}
}

// TestOrderType_JunkIsBounded: credentials that the platform does not accept cause no more
// questions than identity { rate } allows. Those that it accepts cause any number.
func TestOrderType_JunkIsBounded(t *testing.T) {
	missingForAll := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if strings.HasSuffix(q.Route, "/notes/0") {
			return asktest.JSON(404, `{"code":"woocommerce_rest_order_invalid_id"}`), nil
		}
		return asktest.JSON(404, `{"code":"woocommerce_rest_shop_order_invalid_id"}`), nil
	}}
	for name, test := range map[string]struct {
		backend *asktest.Platform
		limited int
	}{
		"wrong passwords": {asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), 30},
		"no shop":         {asktest.Answering(404, `{"code":"rest_no_route"}`), 110}, // three questions a call
		"missing orders":  {missingForAll, 90},                                       // two questions a call
		"a token plugin":  {asktest.Answering(403, `{"code":"jwt_auth_invalid_token"}`), 30},
		"a manager":       {policytest.Shop(nil), 0},
		"a customer":      {asktest.Answering(403, `{"code":"woocommerce_rest_cannot_view"}`), 0},
		"write-only key":  {asktest.Answering(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, new(OrderType))
			limited := 0
			for id := range 150 {
				junk := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "someone%d:xxxx", id))
				r := policytest.Request(t, s, test.backend, "PUT", fmt.Sprintf("/wp-json/wc/v3/orders/%d", id+100), `{}`, policytest.JSONType, "Authorization: Basic "+junk)
				if _, err := p.Check(t.Context(), r); errors.Is(err, ask.ErrTooMany) {
					limited++
				}
			}
			if !refilled(limited, test.limited) {
				t.Errorf("%d calls limited, %d questions", limited, len(test.backend.Questions()))
			}
		})
	}
}

// TestOrderType_ForgedSignaturesAreBounded: forged OAuth 1 signatures look like real
// ones, so that their questions count.
func TestOrderType_ForgedSignaturesAreBounded(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	backend := policytest.Shop(nil)
	limited := 0
	for range 200 {
		r := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, `Authorization: OAuth oauth_consumer_key="x"`)
		if _, err := p.Check(t.Context(), r); errors.Is(err, ask.ErrTooMany) {
			limited++
		}
	}
	if n := len(backend.Questions()); n > 250 || limited < 70 {
		t.Errorf("%d questions, %d calls limited", n, limited)
	}
	var items []string
	for id := range 100 {
		items = append(items, fmt.Sprintf(`{"id":%d}`, id+5000))
	}
	s, backend = policytest.NewSite(t), policytest.Shop(nil)
	p = policytest.Provision(t, s, &OrderType{Credential: "ck:cs"})
	for range 10 {
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[`+strings.Join(items, ",")+`]}`, policytest.JSONType, `Authorization: OAuth oauth_consumer_key="x"`)
		if v, err := p.CheckBatch(t.Context(), r); err == nil && v.Refused() {
			t.Errorf("missing ids: %+v", v)
		}
	}
	if n := len(backend.Questions()); n > 260 {
		t.Errorf("ten forged batches: %d questions", n)
	}
}

// refilled tells whether n calls of many were limited where a frozen clock would limit want:
// a few more pass, since the limit refills while a slow machine runs the test.
func refilled(n, want int) bool { return n <= want && n >= want*2/3 }

// trips counts how often a store is read.
type trips struct {
	store.Store
	n    int
	down bool // for all keys at once, as a shared store that fails
}

// Get implements store.Store.
func (s *trips) Get(ctx context.Context, key string) (string, bool, error) {
	s.n++
	return s.Store.Get(ctx, key)
}

// GetAll implements store.Store.
func (s *trips) GetAll(ctx context.Context, keys ...string) (map[string]string, error) {
	if s.n++; s.down {
		return nil, store.ErrFull
	}
	return s.Store.GetAll(ctx, keys...)
}

// TestOrderType_OneTrip: the proofs of a batch are one trip to the store. Credentials that the
// platform does not accept cause none beyond the limit, and those that it accepts meet no limit.
func TestOrderType_OneTrip(t *testing.T) {
	s := policytest.NewSite(t)
	counted := &trips{Store: s.Store}
	s.Store = counted
	p := policytest.Provision(t, s, new(OrderType))
	var items []string
	for id := range 100 {
		items = append(items, fmt.Sprintf(`{"id":%d}`, id+101))
	}
	judge := func(backend *asktest.Platform, name string) error {
		junk := base64.StdEncoding.EncodeToString([]byte(name + ":xxxx"))
		r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[`+strings.Join(items, ",")+`]}`, policytest.JSONType, "Authorization: Basic "+junk)
		_, err := p.CheckBatch(t.Context(), r)
		return err
	}
	if err := judge(policytest.Shop(nil), "manager"); err != nil || counted.n != 1 {
		t.Fatalf("%d trips, %v", counted.n, err)
	}
	counted.down = true
	if err := judge(asktest.Failing(ask.ErrUndecided), "manager"); err != nil {
		t.Error("the gateway's own memory counts while the store fails:", err)
	}
	counted.n, counted.down = 0, false
	forged, limited := asktest.Answering(401, `{"code":"woocommerce_rest_cannot_view"}`), 0
	for i := range 400 {
		items = []string{fmt.Sprintf(`{"id":%d}`, 1000+i), `{"id":101}`}
		if errors.Is(judge(forged, fmt.Sprint("someone", i)), ask.ErrTooMany) {
			limited++
		}
	}
	if n := len(forged.Questions()); counted.n > n+1 || counted.n+limited != 400 || limited < 250 {
		t.Errorf("%d trips for %d questions, %d calls limited", counted.n, n, limited)
	}
	before := counted.n
	if err := judge(policytest.Shop(nil), "manager"); err != nil || counted.n != before+1 {
		t.Errorf("the manager: %d trips, %v", counted.n-before, err)
	}
}
