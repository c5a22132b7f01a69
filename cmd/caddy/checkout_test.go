package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

const mismatch = "shop_rest_checkout_total_mismatch"

// guest fills a guest's cart with two mugs, 20.00, and returns the session:
// the token, or the cookie with the checkout's own nonce.
func (w *world) guest(byToken bool) []edit {
	w.t.Helper()
	r := w.gate("GET /cms-json/shop/store/v1/cart", "").want(200)
	session := []edit{header("Cart-Token", r.header.Get("Cart-Token"))}
	if !byToken {
		cookie, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
		session = []edit{header("Cookie", cookie), header("Nonce", r.header.Get("Nonce"))}
	}
	w.gate("POST /cms-json/shop/store/v1/cart/add-item", fmt.Sprintf(`{"id":%d,"quantity":2}`, w.info.Products[1]), session...).
		want(201, `"total_price":"2000"`)
	return session
}

const checkout = "POST /cms-json/shop/store/v1/checkout"

// placed returns the number of orders that f makes.
func (w *world) placed(f func()) int {
	before := w.orders()
	f()
	return w.orders() - before
}

// TestCheckout_Doors: every way to order a cart is compared with the total that the
// shopper saw.
func TestCheckout_Doors(t *testing.T) {
	for name, c := range map[string]struct {
		options  site.Options
		protocol string
	}{
		"cms":        {site.Options{Release: "10.7"}, http1},
		"wordpress":  {site.Options{Release: "10.7", Platform: "wordpress"}, http2},
		"sub-folder": {site.Options{Release: "10.7", Base: "/blog"}, http3},
	} {
		t.Run(name+" "+c.protocol, func(t *testing.T) {
			w := newPlatform(t, c.options)
			w.protocol = c.protocol
			w.start("")
			form, multipart := multipartBody("expected_total", "1")
			part := `{"requests":[{"method":"POST","path":"/shop/store/v1/checkout","body":{"expected_total":1}}]}`
			for _, door := range []struct {
				line, body string
				edits      []edit
			}{
				{line: checkout, body: `{"expected_total":1}`},
				{line: checkout, body: `{"expected_total":"1"}`},
				{line: checkout, body: "expected_total=1"},
				{line: checkout, body: form, edits: []edit{multipart}},
				{line: checkout + "?expected_total=1"},
				{line: checkout + "?expected_total=1", body: `{}`},
				{line: "POST /cms-json/shop/store/checkout", body: `{"expected_total":1}`},
				{line: "POST /cms-json/SHOP/STORE/V1/CHECKOUT/", body: `{"expected_total":1}`},
				{line: "GET /cms-json/shop/store/v1/checkout?_method=POST&expected_total=1"},
				{line: "PUT /cms-json/shop/store/v1/checkout", body: `{"expected_total":1}`, edits: []edit{header("X-HTTP-Method-Override", "POST")}},
				{line: "POST /?rest_route=/shop/store/v1/checkout", body: `{"expected_total":1}`},
				{line: "POST /", body: "rest_route=/shop/store/v1/checkout&expected_total=1"},
				{line: "POST /cms-json/shop/store/v1/batch", body: part},
				{line: "POST /cms-json/shop/store/batch", body: part},
				{
					line: "POST /cms-json/shop/store/v1/batch",
					body: `{"requests":[{"path":"/shop/store/v1/checkout?expected_total=1"}]}`,
				},
			} {
				for _, byToken := range []bool{true, false} {
					session := append(w.guest(byToken), door.edits...)
					if n := w.placed(func() {
						r := w.gate(door.line, door.body, session...).refusedWith(409, mismatch)
						if r.at("data", "cart", "totals", "total_price") != "2000" {
							t.Errorf("%s: no cart in %s", door.line, r.body)
						}
						for _, name := range []string{"Set-Cookie", "Nonce", "Cart-Token"} {
							if r.header.Get(name) != "" {
								t.Errorf("%s: %s of the question reached the client", door.line, name)
							}
						}
					}); n != 0 {
						t.Errorf("%s: an order exists", door.line)
					}
					right := strings.NewReplacer(`expected_total":1`, `expected_total":2000`, `"1"`, `"2000"`, "expected_total=1", "expected_total=2000")
					body := right.Replace(door.body)
					if body == form {
						body = strings.Replace(form, "\r\n\r\n1\r\n", "\r\n\r\n2000\r\n", 1)
					}
					if n := w.placed(func() { w.gate(right.Replace(door.line), body, session...).passed() }); n != 1 {
						t.Errorf("%s: %d orders at the right total", door.line, n)
					}
				}
			}
		})
	}
}

// TestCheckout_Values: which values state a total.
func TestCheckout_Values(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	for _, body := range []string{"", `{}`, `{"expected_total":null}`, `{"expected_total":""}`, `{"payment_method":"bacs"}`} {
		session := w.guest(true)
		if n := w.placed(func() { w.gate(checkout, body, session...).want(200).passed().unasked() }); n != 1 {
			t.Errorf("%s: %d orders", body, n)
		}
	}
	session := w.guest(true)
	for _, value := range []string{"2000.5", `"2000.5"`, `"twenty"`, "[2000]", "true", `{"a":1}`, `"2000 "`, `"+2000"`, "1e999", "99999999999999999999"} {
		if n := w.placed(func() { w.gate(checkout, `{"expected_total":`+value+`}`, session...).stopped().want(400) }); n != 0 {
			t.Errorf("%s: an order exists", value)
		}
	}
	w.gate(checkout, `{"expected_total":1,"expected_total":2000}`, session...).stopped().want(400)

	w.gate("GET /cms-json/shop/store/v1/checkout?expected_total=1", "", w.guest(true)...).want(200).passed().unasked()

	w.bare(fmt.Sprintf("PUT /cms-json/shop/v3/products/%d", w.info.Products[1]), `{"regular_price":"12.34"}`, w.as("admin")).want(200)
	w.gate(checkout, `{"expected_total":2000}`, session...).refusedWith(409, mismatch)
	w.gate(checkout, `{"expected_total":2468}`, session...).want(200).passed()

	empty := header("Cart-Token", w.gate("GET /cms-json/shop/store/v1/cart", "").header.Get("Cart-Token"))
	w.gate(checkout, `{"expected_total":2000}`, empty).want(409, "shop_rest_cart_empty").passed()
	w.gate(checkout, `{"expected_total":2000}`).want(401, "shop_rest_missing_nonce")
	w.gate(checkout, `{"expected_total":2000}`, header("Nonce", "wrong")).want(403, "shop_rest_invalid_nonce")
}

// TestCheckout_Higher: with this option only a higher total is refused.
func TestCheckout_Higher(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "checkout_total {\nhigher\n}")
	session := w.guest(true)
	w.gate(checkout, `{"expected_total":1999}`, session...).refusedWith(409, mismatch)
	w.gate(checkout, `{"expected_total":2001}`, session...).want(200).passed()
}

// TestCheckout_Addresses: the tax of a new address counts before the order is made.
func TestCheckout_Addresses(t *testing.T) {
	for _, mode := range []string{"enforce", "observe"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, site.Options{Release: "10.7"}, "mode "+mode)
			session := w.guest(true)
			abroad := `{"expected_total":2000,"shipping_address":{"country":"GB"}}` // 20 % tax
			writes := func() (n int) {
				for _, q := range w.tap.asked(0) {
					if q.Method != http.MethodGet {
						n++
					}
				}
				return n
			}
			if mode == "observe" {
				w.gate(checkout, abroad, session...).want(200).passed()
				if writes() > 0 {
					t.Error("observing asked a question that writes")
				}
				return
			}
			r := w.gate(checkout, abroad, session...).refusedWith(409, mismatch)
			if r.at("data", "cart", "totals", "total_price") != "2400" || writes() != 1 {
				t.Errorf("%s, %d writing questions", r.body, writes())
			}
			w.gate(checkout, `{"expected_total":2400,"shipping_address":{"country":"GB"}}`, session...).want(200).passed()
			if writes() != 1 {
				t.Error("the cart's own address was applied again")
			}
			w.gate(checkout, `{"expected_total":2000,"shipping_address":"GB"}`, w.guest(true)...).stopped().want(400)
		})
	}
}

// TestCheckout_Batch: a total that other parts of the batch change is unknown; a batch
// without a stated total is left to the platform.
func TestCheckout_Batch(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	add := fmt.Sprintf(`{"path":"/shop/store/v1/cart/add-item","body":{"id":%d}}`, w.info.Products[1])
	order := `{"path":"/shop/store/v1/checkout","body":{"expected_total":2000}}`
	batch := "POST /cms-json/shop/store/v1/batch"
	w.gate(batch, `{"requests":[`+add+","+order+`]}`, w.guest(true)...).stopped().want(400)
	w.gate(batch, `{"requests":[`+add+`]}`, w.guest(true)...).want(207).passed().unasked()
	w.gate(batch, `{"requests":[{"path":"/shop/v3/orders","method":"POST"}]}`, w.guest(true)...).want(400, "shop_rest_invalid_path")
	w.gate(batch, `{"requests":[{"path":"///x"},`+order+`]}`, w.guest(true)...).refusedWith(400, ambiguous)
}

// TestCheckout_Failures: without a certain total no order is confirmed.
func TestCheckout_Failures(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		status int
	}{
		"fault": {says(500, "{}"), 503}, "not JSON": {says(200, "<html>"), 503}, "gone": {raw(""), 503},
		"no total": {says(200, `{"items":[{}],"totals":{}}`), 503}, "odd total": {says(200, `{"items":[{}],"totals":{"total_price":"20.00"}}`), 503},
		"redirect": {says(302, ""), 503},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site.Options{Release: "10.7"}, "")
			session := w.guest(true)
			w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get(mark) != "" || !strings.Contains(r.URL.Path, "cart") {
					return false
				}
				c.answer(rw, r)
				return true
			})
			if n := w.placed(func() { w.gate(checkout, `{"expected_total":2000}`, session...).stopped().want(c.status) }); n != 0 {
				t.Error("an order exists")
			}
			w.gate(checkout, `{}`, session...).want(200).passed() // nothing stated, nothing to check
		})
	}
}

// TestCheckout_Session: a shopper who is logged in by cookie, without the REST
// nonce, under login_only.
func TestCheckout_Session(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only")
	w.gate("GET /cms-json/shop/store/v1/cart", "").refusedWith(401, "rest_not_logged_in")
	cookie, _ := w.session("customer")
	nonce := header("Nonce", w.gate("GET /cms-json/shop/store/v1/cart", "", cookie).want(200).header.Get("Nonce"))
	w.gate("POST /cms-json/shop/store/v1/cart/add-item", fmt.Sprintf(`{"id":%d}`, w.info.Products[1]), cookie, nonce).want(201)
	w.gate(checkout, `{"expected_total":900}`, cookie, nonce).refusedWith(409, mismatch)
	r := w.gate(checkout, `{"expected_total":1000}`, cookie, nonce).want(200)
	if r.at("customer_id") == float64(0) {
		t.Errorf("the order is nobody's: %s", r.body)
	}
}

// TestRefunds: a release that would ignore compute_totals does not receive it.
func TestRefunds(t *testing.T) {
	const unsupported = "shop_rest_compute_totals_unsupported"
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	order := w.info.Orders[0]
	form, multipart := multipartBody("compute_totals", "true")
	refunds := func() int {
		return len(w.bare(fmt.Sprintf("GET /cms-json/shop/v3/orders/%d/refunds", order), "", w.as("admin")).at().([]any))
	}
	at := func(version string) string {
		return fmt.Sprintf("POST /cms-json/shop/%s/orders/%d/refunds", version, order)
	}
	tried := 0
	for _, c := range []struct {
		line, body string
		edits      []edit
	}{
		{line: at("v3"), body: `{"compute_totals":true}`},
		{line: at("v3"), body: `{"compute_totals":"true"}`},
		{line: at("v3"), body: `{"compute_totals":1}`},
		{line: at("v3"), body: `{"compute_totals":"yes"}`},
		{line: at("v3"), body: `{"compute_totals":true,"amount":"5.00"}`},
		{line: at("v3"), body: "compute_totals=1"},
		{line: at("v3"), body: form, edits: []edit{multipart}},
		{line: at("v3") + "?compute_totals=true"},
		{line: at("v3") + "?compute_totals=true", body: `{"reason":"x"}`},
		{line: fmt.Sprintf("GET /cms-json/shop/v3/orders/%d/refunds?_method=POST&compute_totals=true", order)},
		{line: fmt.Sprintf("POST /?rest_route=/shop/v3/orders/%d/refunds", order), body: `{"compute_totals":true}`},
		{line: at("v2"), body: `{"compute_totals":true}`},
		{line: at("v1"), body: `{"compute_totals":true}`},
	} {
		r := w.gate(c.line, c.body, append(c.edits, w.as("manager"))...).refusedWith(400, unsupported).want(400, "11.1")
		if tried++; r.asked > 2 { // does the shop know the field; may the caller refund
			t.Errorf("%d questions", r.asked)
		}
	}
	if _, n := w.tap.counts(); n > tried+4 {
		t.Errorf("%d questions: the schema is not remembered", n)
	}
	if n := refunds(); n != 0 {
		t.Errorf("%d refunds exist", n)
	}
	for _, body := range []string{`{"amount":"1.00"}`, `{"compute_totals":false,"amount":"1.00"}`, `{"compute_totals":"0","amount":"1.00"}`, "amount=1.00"} {
		w.gate(at("v3"), body, w.as("manager")).want(201).passed()
	}
	w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds/preview", order), `{}`, w.as("manager")).want(404, "rest_no_route").passed()

	t.Run("11.1", func(t *testing.T) {
		for _, directive := range []string{"", "refund_totals"} {
			w := newWorld(t, site.Options{Release: "11.1"}, directive)
			if directive == "" {
				w.learned()
			}
			at := fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[1])
			for i := range 2 { // does the shop know the field: asked once, however the release was learned
				r := w.gate(at, fmt.Sprintf(`{"compute_totals":true,"reason":"%d"}`, i), w.as("manager")).passed()
				if i == 0 {
					r.want(201, `"amount":"25.00"`)
				}
				if r.asked != 1-i {
					t.Errorf("%q: %d questions", directive, r.asked)
				}
			}
		}
	})
	t.Run("unsure", func(t *testing.T) {
		w := newWorld(t, site.Options{Release: "11.1"}, "refund_totals")
		w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodOptions {
				says(500, "")(rw, r)
			}
			return r.Method == http.MethodOptions
		})
		w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[1]), `{"compute_totals":true}`, w.as("manager")).
			refusedWith(503, "rest_policy_unavailable")
	})
}
