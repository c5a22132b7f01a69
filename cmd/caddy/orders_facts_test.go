package main

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestOrders_Strict: strict covers deletes and refunds, which no release checks.
func TestOrders_Strict(t *testing.T) {
	refusals := func(w *world, sub, order int) []reply {
		at := "/cms-json/shop/v3/orders/" + strconv.Itoa(sub)
		return []reply{
			w.gate("DELETE "+at, "", w.as("admin")),
			w.gate("DELETE "+at+"?force=true", "", w.as("admin")),
			w.gate("GET "+at+"?_method=DELETE", "", w.as("admin")),
			w.gate("DELETE /cms-json/shop/v2/orders/"+strconv.Itoa(sub), "", withKey(w.info.Keys.ReadWriteKey)),
			w.gate(fmt.Sprintf("DELETE /cms-json/shop/v3/orders/%d?id=%d", order, sub), "", w.as("admin")),
			w.gate("POST /cms-json/shop/v3/orders/batch", fmt.Sprintf(`{"delete":[%d,%d]}`, order, sub), w.as("admin")),
			w.gate("POST /cms-json/shop/v3/orders/batch", fmt.Sprintf("delete[]=%d", sub), w.as("admin")),
			w.gate("POST "+at+"/refunds", `{"amount":"1.00"}`, w.as("admin")),
			w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", order), fmt.Sprintf(`{"order_id":%d,"amount":"1.00"}`, sub), w.as("admin")),
		}
	}
	t.Run("on", func(t *testing.T) {
		w := newWorld(t, site.Options{Release: "10.7"}, "order_type {\nstrict\n}")
		sub, order := w.info.Subscriptions[0], w.info.Orders[0]
		before := w.record(sub)
		for _, r := range refusals(w, sub, order) {
			r.refusedWith(400, invalidID)
		}
		if after, there := w.site.Record(sub); !there || !reflect.DeepEqual(before, after) {
			t.Errorf("the subscription changed: %+v", after)
		}
		w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", order), `{"amount":"1.00"}`, w.as("admin")).want(201).passed()
		w.gate(fmt.Sprintf("DELETE /cms-json/shop/v3/subscriptions/%d", sub), "", w.as("admin")).want(200).passed()
		w.gate(fmt.Sprintf("DELETE /cms-json/shop/v3/orders/%d?force=true", order), "", w.as("admin")).want(200).passed()
	})
	t.Run("off", func(t *testing.T) {
		w := newWorld(t, site.Options{Release: "10.7"}, "")
		for _, r := range refusals(w, w.newSubscription(), w.newOrder()) {
			r.passed()
		}
	})
}

// TestOrders_Questions: which questions are asked, and which answers are remembered.
func TestOrders_Questions(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	order, sub := w.newOrder(), w.newSubscription()
	at := fmt.Sprintf("/cms-json/shop/v3/orders/%d", order)
	put := func(id int, as edit) reply {
		return w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", id), "{}", as)
	}
	if r := put(order, w.as("admin")).want(200); r.asked != 1 {
		t.Errorf("%d questions about an order", r.asked)
	}
	put(order, w.as("manager")).want(200).unasked() // shared by all callers
	put(order, w.as("customer")).want(403).passed()

	w.gate("DELETE "+at+"?force=true", "", w.as("admin")).want(200)
	if r := put(order, w.as("admin")).refusedWith(400, invalidID); r.asked == 0 {
		t.Error("a deleted order is remembered")
	}

	put(sub, w.as("admin")).refusedWith(400, invalidID)
	w.bare(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", w.as("admin")).want(200) // converted elsewhere
	put(sub, w.as("admin")).want(200).passed()                                                 // "not an order" is not remembered

	var items []string
	for range 99 {
		items = append(items, fmt.Sprintf(`{"id":%d,"customer_note":"x"}`, w.newOrder()))
	}
	batch := `{"update":[` + strings.Join(items, ",") + `]}`
	if r := w.gate("POST /cms-json/shop/v3/orders/batch", batch, w.as("admin")).want(200).passed(); r.asked != 1 {
		t.Errorf("%d questions about 99 orders", r.asked)
	}
	w.gate("POST /cms-json/shop/v3/orders/batch", batch, w.as("admin")).want(200).passed().unasked()

	items = items[:0]
	for range 99 {
		items = append(items, fmt.Sprintf(`{"id":%d,"customer_note":"y"}`, w.newOrder()))
	}
	sub = w.newSubscription()
	items = append(items, fmt.Sprintf(`{"id":%d}`, sub))
	before := w.orders()
	r := w.gate("POST /cms-json/shop/v3/orders/batch", `{"update":[`+strings.Join(items, ",")+`]}`, w.as("admin")).refusedWith(400, invalidID)
	if got := r.at("data", "ids"); !reflect.DeepEqual(got, []any{float64(sub)}) || r.asked > 3 || w.orders() != before {
		t.Errorf("ids %v, %d questions", got, r.asked)
	}
	over := `{"update":[` + strings.Join(append(items, items...), ",") + `]}`
	w.gate("POST /cms-json/shop/v3/orders/batch", over, w.as("admin")).stopped()
}

// TestOrders_Releases: from 10.8 the platform refuses by itself and is not asked, unless
// the policy is named.
func TestOrders_Releases(t *testing.T) {
	for name, c := range map[string]struct {
		platform, directive string
		asked               bool
	}{
		"10.8 configured":       {"10.8", "release 10.8", false},
		"10.8 not known":        {"10.8", "", true},
		"10.8 named":            {"10.8", "release 10.8\norder_type", true},
		"11.1 configured":       {"11.1", "release 11.1", false},
		"11.1 learnt":           {"11.1", "", true},
		"11.1 learnt and named": {"11.1", "order_type", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site.Options{Release: c.platform}, c.directive)
			if !strings.Contains(c.directive, "release") {
				w.learned()
			}
			sub := w.info.Subscriptions[0]
			before := w.record(sub)
			for _, method := range []string{"PUT", "PATCH", "POST"} {
				r := w.gate(fmt.Sprintf("%s /cms-json/shop/v3/orders/%d", method, sub), "{}", w.as("admin")).want(400, invalidID, `"ID is invalid."`)
				if (r.asked > 0) != c.asked || (r.reached == 0) != c.asked {
					t.Errorf("%d questions, reached %d", r.asked, r.reached)
				}
			}
			if !reflect.DeepEqual(before, w.record(sub)) {
				t.Error("the subscription changed")
			}
		})
	}
}

// TestOrders_TwoSites: a proof about an id of one site does not count on another site
// with the same name.
func TestOrders_TwoSites(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	other := newPlatform(t, site.Options{Release: "10.7"})
	const block = "restwarden cms\nreverse_proxy "
	f := &caddyrun.File{Sites: []caddyrun.Site{
		{Body: block + w.startTap(), Address: strings.TrimPrefix(w.gateway, "http://")}, {Body: block + other.startTap()},
	}}
	w.load(f)
	other.gateway = "http://" + f.Sites[1].Address

	// The next id is an order's on one site and a subscription's on the other.
	id := w.newOrder()
	for other.newSubscription() < id {
	}
	if other.record(id).Type != "shop_subscription" {
		t.Fatal("the ids do not meet")
	}
	same := func(r *http.Request) { r.Host = "shop.example.test" }
	for _, host := range []edit{func(*http.Request) {}, same} {
		line := fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", id)
		w.gate(line, "{}", w.as("admin"), host).want(200).passed()
		other.gate(line, "{}", other.as("admin"), host).refusedWith(400, invalidID)
	}
	if other.record(id).Type != "shop_subscription" {
		t.Error("the subscription was converted")
	}
}

// TestOrders_SeveralCredentials: credentials of two kinds are forwarded unchanged; a key
// that counts decides.
func TestOrders_SeveralCredentials(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	sub, order := w.info.Subscriptions[0], w.info.Orders[0]
	cookie, nonce := w.session("admin")
	stagingCookie := []edit{func(r *http.Request) { r.SetBasicAuth("staging", "gate") }, cookie, nonce}
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", stagingCookie...).refusedWith(400, invalidID)
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", order), "{}", stagingCookie...).want(200).passed()
	key, secret, _ := strings.Cut(w.info.Keys.ReadWriteKey, ":")
	query := fmt.Sprintf("?consumer_key=%s&consumer_secret=%s", key, secret)
	wrong := func(r *http.Request) { r.SetBasicAuth("admin", "wrong") }
	for _, edits := range [][]edit{{}, {wrong}, {w.as("customer")}} {
		w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d%s", sub, query), "{}", edits...).refusedWith(400, invalidID)
		w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d%s", order, query), "{}", edits...).want(200).passed()
	}
	if w.record(sub).Type != "shop_subscription" {
		t.Error("the subscription changed")
	}
}
