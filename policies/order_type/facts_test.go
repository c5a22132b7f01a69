package ordertype

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestOrderType_ProofsAreRemembered(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	backend := policytest.Shop(nil)
	check := func(id string) {
		if _, err := p.Check(t.Context(), policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/"+id, `{}`, policytest.JSONType, policytest.BasicAuth)); err != nil {
			t.Fatal(err)
		}
	}
	check("7")
	check("7")
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("an order was asked about %d times", n)
	}
	p.Watch(policytest.Request(t, s, backend, "DELETE", "/wp-json/wc/v3/orders/7", "", policytest.BasicAuth))(&ask.Answer{Status: 200})
	check("7")
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("after a delete %d questions", n)
	}
	check("13")
	check("13")
	if n := len(backend.Questions()); n != 6 {
		t.Errorf("what is not an order was remembered: %d questions", n)
	}
}

func TestOrderType_BatchAsksTheListFirst(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	backend := policytest.Shop(nil)
	r := policytest.Request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8},{"id":9},{"id":7}]}`, policytest.JSONType, policytest.BasicAuth)
	if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Refused() {
		t.Fatalf("got %+v, %v", v, err)
	}
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("asked %d questions", n)
	}
}

func TestOrderType_BatchNamesTheRefusedIDs(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	p.remember(t.Context(), policytest.Request(t, s, nil, "GET", "/wp-json/", ""), 7)
	r := policytest.Request(t, s, policytest.Shop(nil), "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":13}]}`, policytest.JSONType, policytest.BasicAuth)
	v, err := p.CheckBatch(t.Context(), r)
	if ids, _ := v.Data["ids"].([]uint64); err != nil || len(ids) != 1 || ids[0] != 13 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestOrderType_ReadOnlyKey: a key that may not write gets that answer, whatever the
// record is. A policy that observes asks nothing that writes.
func TestOrderType_ReadOnlyKey(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(OrderType))
	shop, deletes := policytest.Shop(nil), 0
	backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Method == http.MethodDelete {
			deletes++
			return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have write permissions."}`), nil
		}
		return shop.Answer(q)
	}}
	const key = "?consumer_key=ck_1&consumer_secret=cs_1"
	update := policytest.Request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/13"+key, `{}`, policytest.JSONType)
	if v, err := p.Check(t.Context(), update); err != nil || v.Answer == nil || v.Status != 401 {
		t.Errorf("got %+v, %v", v, err)
	}
	update.Observed = true
	if v, err := p.Check(t.Context(), update); err != nil || v.Status != 400 || deletes != 1 {
		t.Errorf("observed: got %+v, %v after %d deletes", v, err, deletes)
	}
}

func TestOrderType_NotNeeded(t *testing.T) {
	for release, refuses := range map[string]bool{"10.7": true, "10.8": false, "11.1": false, "9.10": true} {
		s := policytest.NewSite(t)
		s.Release, _ = policy.ParseRelease(release)
		p := policytest.Provision(t, s, new(OrderType))
		v, err := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, policytest.BasicAuth))
		if err != nil || v.Refused() != refuses {
			t.Errorf("%s: %+v, %v", release, v, err)
		}
		p.named = true
		if v, _ := p.Check(t.Context(), policytest.Request(t, s, policytest.Shop(nil), "PUT", "/wp-json/wc/v3/orders/13", `{}`, policytest.JSONType, policytest.BasicAuth)); !v.Refused() {
			t.Errorf("%s: a named policy does not guard", release)
		}
	}
}

func BenchmarkOrderType_Proven(b *testing.B) {
	s := policytest.NewSite(b)
	p := policytest.Provision(b, s, new(OrderType))
	backend := policytest.Shop(nil)
	r := policytest.Request(b, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, policytest.JSONType, policytest.BasicAuth)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
	if n := len(backend.Questions()); n != 1 {
		b.Errorf("%d questions about one order", n)
	}
}
