package policies

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

func TestOrderType_ProofsAreRemembered(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(OrderType))
	backend := shopOf(nil)
	check := func(id string) {
		if _, err := p.Check(t.Context(), request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/"+id, `{}`, jsonType, basicAuth)); err != nil {
			t.Fatal(err)
		}
	}
	check("7")
	check("7")
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("an order was asked about %d times", n)
	}
	p.Watch(request(t, s, backend, "DELETE", "/wp-json/wc/v3/orders/7", "", basicAuth))(&ask.Answer{Status: 200})
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
	s := newSite(t)
	p := provision(t, s, new(OrderType))
	backend := shopOf(nil)
	r := request(t, s, backend, "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":8},{"id":9},{"id":7}]}`, jsonType, basicAuth)
	if v, err := p.CheckBatch(t.Context(), r); err != nil || v.Refused() {
		t.Fatalf("got %+v, %v", v, err)
	}
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("asked %d questions", n)
	}
}

func TestOrderType_BatchNamesTheRefusedIDs(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(OrderType))
	p.remember(t.Context(), request(t, s, nil, "GET", "/wp-json/", ""), 7)
	r := request(t, s, shopOf(nil), "POST", "/wp-json/wc/v3/orders/batch", `{"update":[{"id":7},{"id":13}]}`, jsonType, basicAuth)
	v, err := p.CheckBatch(t.Context(), r)
	if ids, _ := v.Data["ids"].([]uint64); err != nil || len(ids) != 1 || ids[0] != 13 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestOrderType_ReadOnlyKey: a key that may not write gets that answer, whatever the
// record is. A policy that observes asks nothing that writes.
func TestOrderType_ReadOnlyKey(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(OrderType))
	shop, deletes := shopOf(nil), 0
	backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Method == http.MethodDelete {
			deletes++
			return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have write permissions."}`), nil
		}
		return shop.Answer(q)
	}}
	const key = "?consumer_key=ck_1&consumer_secret=cs_1"
	update := request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/13"+key, `{}`, jsonType)
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
		s := newSite(t)
		s.Release, _ = ParseRelease(release)
		p := provision(t, s, new(OrderType))
		v, err := p.Check(t.Context(), request(t, s, shopOf(nil), "PUT", "/wp-json/wc/v3/orders/13", `{}`, jsonType, basicAuth))
		if err != nil || v.Refused() != refuses {
			t.Errorf("%s: %+v, %v", release, v, err)
		}
		p.named = true
		if v, _ := p.Check(t.Context(), request(t, s, shopOf(nil), "PUT", "/wp-json/wc/v3/orders/13", `{}`, jsonType, basicAuth)); !v.Refused() {
			t.Errorf("%s: a named policy does not guard", release)
		}
	}
}

func BenchmarkOrderType_Proven(b *testing.B) {
	s := newSite(b)
	p := provision(b, s, new(OrderType))
	backend := shopOf(nil)
	r := request(b, s, backend, "PUT", "/wp-json/wc/v3/orders/7", `{}`, jsonType, basicAuth)
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
