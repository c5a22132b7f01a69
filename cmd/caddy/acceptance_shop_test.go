package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// shopper fills a cart through the gateway and returns the session's token; the
// demo's checkout is for logged-in users.
func (w *world) shopper(login string) []edit {
	w.t.Helper()
	r := w.gate("GET /cms-json/shop/store/v1/cart", "", w.as(login)).want(200)
	session := []edit{w.as(login), header("Cart-Token", r.header.Get("Cart-Token"))}
	mug := fmt.Sprintf(`{"id":%d,"quantity":2}`, w.info.Products[1])
	w.gate("POST /cms-json/shop/store/v1/cart/add-item", mug, session...).want(201, `"total_price":"2000"`)
	return session
}

// orders returns the number of orders.
func (w *world) orders() int { return len(w.site.Info().Orders) }

// TestDemo_CheckoutAndRefunds: the guards against faults of releases below 11.1.
func TestDemo_CheckoutAndRefunds(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		t.Helper()
		session := w.shopper("customer")
		before := w.orders()
		r := w.gate("POST /cms-json/shop/store/v1/checkout", `{"expected_total":1900}`, session...)
		r.refusedWith(409, "shop_rest_checkout_total_mismatch")
		if r.at("data", "cart", "totals", "total_price") != "2000" {
			t.Errorf("no fresh cart in %s", r.body)
		}
		if w.orders() != before {
			t.Error("an order exists")
		}
		done := w.gate("POST /cms-json/shop/store/v1/checkout", `{"expected_total":2000}`, session...).want(200, `"status":"processing"`).passed()
		if done.at("order_id") == nil || w.orders() != before+1 {
			t.Error("no order exists")
		}

		refunds := fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[1])
		w.gate(refunds, `{"compute_totals":true}`, w.as("admin")).refusedWith(400, "shop_rest_compute_totals_unsupported").want(400, "11.1")
		if got := w.bare(fmt.Sprintf("GET /cms-json/shop/v3/orders/%d", w.info.Orders[1]), "", w.as("admin")).at("refunds"); len(got.([]any)) != 0 {
			t.Errorf("a refund exists: %v", got)
		}
		w.gate(refunds, `{"compute_totals":false,"amount":"5.00"}`, w.as("admin")).want(201, `"amount":"5.00"`).passed()
	})
}

// TestDemo_Revocation: revoking an application password (E4) locks its owner out at once,
// although the gateway has remembered the caller.
func TestDemo_Revocation(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		t.Helper()
		posts := "GET /cms-json/cms/v2/posts"
		w.gate(posts, "", w.as("author")).want(200).passed()
		if r := w.gate(posts, "", w.as("author")).want(200); r.asked != 0 {
			t.Error("the caller is not remembered, so this test would prove nothing")
		}
		list := w.gate("GET /cms-json/cms/v2/users/me/application-passwords", "", w.as("author")).want(200)
		uuid, _ := list.at("0", "uuid").(string)
		me := w.gate("GET /cms-json/cms/v2/users/me", "", w.as("author")).want(200).id()
		w.gate(fmt.Sprintf("DELETE /cms-json/cms/v2/users/%d/application-passwords/%s", me, uuid), "", w.as("admin")).want(200, `"deleted":true`)
		w.gate(posts, "", w.as("author")).want(401, "incorrect_password").stopped()
	})
}

// TestDemo_Untouched: pages, files, forms and streams pass as they are.
func TestDemo_Untouched(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		t.Helper()
		form, multipart := multipartBody("rest", "no", "text", "ünïcode")
		for _, r := range []struct {
			line, body string
			edits      []edit
		}{
			{"GET /", "", nil},
			{"GET /shop/", "", nil},
			{"GET /robots.txt", "", nil},
			{"GET /no-such-page/", "", nil},
			{"GET /my-account/withdraw-order/", "", nil},
			{"GET /cms-content/themes/plain/style.css", "", nil},
			{"GET /cms-content/themes/plain/style.css", "", []edit{header("Range", "bytes=2-9")}},
			{"GET /cms-login.php", "", nil},
			{"POST /", "a=b&a=c", nil},
			{"POST /shop/", form, []edit{multipart}},
			{"GET /slug-with-cms-json-in-it/", "", nil},
			{"GET /?rest_route=", "", nil},
			{"HEAD /", "", nil},
		} {
			bare, through := w.bare(r.line, r.body, r.edits...), w.gate(r.line, r.body, r.edits...).passed().unasked()
			if body := strings.ReplaceAll(through.body, w.gateway, w.platform); bare.status != through.status || body != bare.body {
				t.Errorf("%s: %d %.100s; bare %d %.100s", r.line, through.status, through.body, bare.status, bare.body)
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Content-Range", "Cache-Control", "Last-Modified"} {
				if got, want := through.header.Get(name), bare.header.Get(name); got != want && through.body == bare.body {
					t.Errorf("%s: %s %q, bare %q", r.line, name, got, want)
				}
			}
		}
		w.streams("GET /events")
		w.streams("GET /cms-json" + w.info.Routes.Notify)
	})
}

// streams checks that a piece of an answer arrives before the platform has
// written the next one; calls are sent as an administrator.
func (w *world) streams(line string) {
	w.t.Helper()
	seen := make(chan struct{})
	w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get(mark) == "" {
			return false
		}
		_, _ = io.WriteString(rw, "first")
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-seen:
			_, _ = io.WriteString(rw, "second")
		case <-r.Context().Done():
		}
		return true
	})
	defer w.tap.answerWith(nil)
	res, err := httpClient.Do(w.request(w.gateway, line, "", w.as("admin")))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var first [5]byte
	if _, err := io.ReadFull(res.Body, first[:]); err != nil {
		w.t.Fatalf("%s: nothing arrives before the end: %v", line, err)
	}
	close(seen)
	rest, err := io.ReadAll(res.Body)
	if err != nil || !bytes.Equal(rest, []byte("second")) {
		w.t.Errorf("%s: %q %v", line, rest, err)
	}
}

// TestDemo_MetricsCountEachRefusal: the refusals of the tests above are counted.
func TestDemo_MetricsCountEachRefusal(t *testing.T) {
	w := newDemo(t, site.Options{Release: "10.7", Platform: "cms"})
	sub := w.info.Subscriptions[0]
	session := w.shopper("customer")
	w.gate("GET /cms-json/cms/v2/users", "")
	w.gate("GET /cms-json"+w.info.Routes.Troubleshooting, "", w.as("customer"))
	w.gate("GET /cms-json/cms/v2/posts", "", func(r *http.Request) { r.SetBasicAuth("admin", "wrong") })
	w.gate("POST /cms-json"+w.info.Routes.StoreAuth, "")
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", w.as("admin"))
	w.gate("POST /cms-json/shop/store/v1/checkout", `{"expected_total":1}`, session...)
	w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[0]), `{"compute_totals":true}`, w.as("admin"))
	w.gate("GET /cms-json/cms/v2/posts?rest_route=/cms/v2/users", "")
	for _, c := range []struct{ policy, code string }{
		{"access", "rest_not_logged_in"},
		{"access", "rest_forbidden"},
		{"access", "platform"},
		{"signature", "rest_invalid_signature"},
		{"order_type", "shop_rest_shop_order_invalid_id"},
		{"checkout_total", "shop_rest_checkout_total_mismatch"},
		{"refund_totals", "shop_rest_compute_totals_unsupported"},
		{"call", "rest_ambiguous_request"},
	} {
		if n := w.decisions(c.policy, c.code, "refused"); n != 1 {
			t.Errorf("%s %s: %v refusals counted", c.policy, c.code, n)
		}
	}
	if n := w.decisions("none", "none", "pass"); n != 2 {
		t.Errorf("%v calls counted as passed, want those that fill the cart", n)
	}
}
