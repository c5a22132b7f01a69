package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// demos runs a test on the demo as a newcomer starts it, in a sub-folder, and
// under the other platform's names.
func demos(t *testing.T, test func(t *testing.T, w *world)) {
	for name, options := range map[string]site.Options{
		"default":    {Release: "10.7", Platform: "cms"},
		"sub-folder": {Release: "10.7", Platform: "cms", Base: "/blog"},
		"wordpress":  {Release: "10.7", Platform: "wordpress"},
	} {
		t.Run(name, func(t *testing.T) { test(t, newDemo(t, options)) })
	}
}

// TestDemo_Anonymous: REST is for logged-in users, in every spelling.
func TestDemo_Anonymous(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		w.bare("GET /cms-json/cms/v2/users", "").want(200, `"slug":"admin"`)
		form, multipart := multipartBody("rest_route", w.branded("/cms/v2/users"))
		for _, r := range []reply{
			w.gate("GET /cms-json/cms/v2/users", ""),
			w.gate("HEAD /cms-json/cms/v2/users", ""),
			w.gate("GET /cms-json/cms/v2/users/", ""),
			w.gate("GET /?rest_route=/cms/v2/users", ""),
			w.gate("GET /index.php?rest_route=/cms/v2/users", ""),
			w.gate("GET /?rest.route=/cms/v2/users", ""),
			w.gate("GET /?rest%5Froute=/cms/v2/users", ""),
			w.gate("GET /shop/?rest+route=/cms/v2/users", ""),
			w.gate("GET /robots.txt?rest_route=/cms/v2/users", ""),
			w.gate("POST /", "rest_route=/cms/v2/users"),
			w.gate("POST /my-account/", "rest.route=/cms/v2/users"),
			w.gate("POST /", form, multipart),
			w.gate("GET /cms-json/CMS/V2/USERS", ""),
			w.gate("GET /?rest_route=/CMS/V2/USERS", ""),
			w.gate("POST /cms-json/cms/v2/users?_method=GET", ""),
			w.gate("POST /cms-json/cms/v2/users?.method=get", ""),
			w.gate("POST /cms-json/cms/v2/users", "", header("X-HTTP-Method-Override", "GET")),
			w.gate("GET /cms-json/cms/v2/taxonomies", ""),
			w.gate("GET /cms-json/", ""),
		} {
			r.stopped().unasked()
			if strings.HasPrefix(r.line, "HEAD") {
				r.want(401)
				continue
			}
			r.refusedWith(401, "rest_not_logged_in").want(401, `"Only authenticated users can access the REST API."`)
		}
		ran := slices.DeleteFunc(w.site.Dispatched(), func(d site.Dispatch) bool { return d.Pattern == "/" }) // read by the gateway
		if len(ran) != 1 {
			t.Errorf("dispatched, beside the bare call: %v", ran)
		}
	})
}

// TestDemo_Callers: who is who, and what passes for everybody.
func TestDemo_Callers(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		users := "GET /cms-json/cms/v2/users"
		admin := w.gate(users, "", w.as("admin")).want(200, `"slug":"admin"`).passed()
		if bare := w.bare(users, "", w.as("admin")); strings.ReplaceAll(bare.body, w.platform, w.gateway) != admin.body {
			t.Errorf("the answer is not the platform's: %s", admin.body)
		}
		w.gate("GET /?rest_route=/cms/v2/users", "", w.as("admin")).want(200, `"slug":"admin"`).passed()

		w.gate("POST /cms-json"+w.info.Routes.Consent, `{"choice":"all"}`).want(200, `"success":true`).passed().unasked()
		w.gate("POST /cms-json"+w.info.Routes.Notify, `{"event":"paid"}`).want(200, `"received":true`).passed().unasked()
		w.gate("GET /cms-json"+w.info.Routes.Consent, "").refusedWith(401, "rest_not_logged_in")
		w.gate("GET /cms-json"+w.info.Routes.Notify, "").refusedWith(401, "rest_not_logged_in")
		w.gate("POST /cms-json"+w.info.Routes.Notify+"?_method=GET", "").refusedWith(401, "rest_not_logged_in")

		wrong := func(r *http.Request) { r.SetBasicAuth("admin", "abcd efgh ijkl mnop qrst uvwx") }
		own := w.bare(users, "", wrong).want(401, "incorrect_password")
		if got := w.gate(users, "", wrong).stopped(); got.status != own.status || got.body != own.body {
			t.Errorf("a wrong password: %d %s, the platform says %s", got.status, got.body, own.body)
		}

		cookie, nonce := w.session("admin")
		w.gate(users, "", cookie).refusedWith(401, "rest_not_logged_in").unasked()
		w.gate(users, "", cookie, nonce).want(200, `"slug":"admin"`).passed()
		stale := w.bare(users, "", cookie, header("X-CMS-Nonce", "0123456789"), header("X-WP-Nonce", "0123456789"))
		stale.want(map[string]int{"cms": 400, "wordpress": 403}[w.info.Platform], "rest_cookie_invalid_nonce")
		got := w.gate(users, "", cookie, header("X-CMS-Nonce", "0123456789"), header("X-WP-Nonce", "0123456789")).stopped()
		if got.status != stale.status || got.body != stale.body {
			t.Errorf("a wrong nonce: %d %s, the platform says %s", got.status, got.body, stale.body)
		}
	})
}

// signed adds the headers of E13's scheme.
func signed(key string, at time.Time) edit {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return signedAs(stamp, hmacHex(key, stamp))
}

// signedRequest adds those of the scheme that covers the request.
func signedRequest(key, method, route, body string, at time.Time) edit {
	stamp, sum := strconv.FormatInt(at.Unix(), 10), sha256.Sum256([]byte(body))
	return signedAs(stamp, hmacHex(key, strings.Join([]string{stamp, method, route, hex.EncodeToString(sum[:])}, "\n")))
}

func signedAs(stamp, signature string) edit {
	return func(r *http.Request) {
		r.Header.Set("X-Timestamp", stamp)
		r.Header.Set("X-Signature", signature)
	}
}

func hmacHex(key, message string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// TestDemo_Plugins: E13 and E14.
func TestDemo_Plugins(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		now := time.Now()
		feed := signed(w.info.Keys.FeedPublicID, now)
		troubleshooting := "GET /cms-json" + w.info.Routes.Troubleshooting
		secret, _ := w.bare(troubleshooting, "", feed).want(200, `"access_token"`).at("access_token").(string)
		if secret == "" {
			t.Fatal("the bare platform gives no secret away")
		}
		w.gate(troubleshooting, "", feed).refusedWith(401, "rest_not_logged_in")
		w.gate(troubleshooting, "", feed, w.as("customer")).refusedWith(403, "rest_forbidden")
		w.gate(troubleshooting, "", feed, w.as("editor")).refusedWith(403, "rest_forbidden")
		for _, edits := range [][]edit{{w.as("admin")}, {w.as("admin"), feed}} {
			r := w.gate(troubleshooting, "", edits...).want(200, `"version":"2.1.0"`, `"url":"https://feed.example.test"`).passed()
			if r.at("access_token") != "[redacted]" || r.at("source", "access_token") != "[redacted]" || strings.Contains(r.body, secret) {
				t.Errorf("not redacted: %s", r.body)
			}
			if r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) {
				t.Errorf("length %s of %d bytes", r.header.Get("Content-Length"), len(r.body))
			}
		}

		upload := "POST /cms-json" + w.info.Routes.UploadLogo
		w.gate(upload, "x").refusedWith(403, "rest_forbidden")
		w.gate(upload, "x", w.as("admin")).refusedWith(403, "rest_forbidden")
		w.gate(upload, "x", signed(w.info.Keys.CookiePlugin, now)).refusedWith(403, "rest_forbidden")
		w.gate("POST /", "rest_route="+w.info.Routes.UploadLogo, w.as("admin")).refusedWith(403, "rest_forbidden")

		key, storeAuth := w.info.Keys.CookiePlugin, "POST /cms-json"+w.info.Routes.StoreAuth
		w.gate(storeAuth, `{"a":1}`, signed(key, now)).want(200, `"success":true`).passed()
		w.gate(storeAuth, `{"a":1}`, signedRequest(key, "POST", w.info.Routes.StoreAuth, `{"a":1}`, now)).want(200).passed()
		for name, e := range map[string]edit{
			"none":         func(*http.Request) {},
			"stale":        signed(key, now.Add(-6*time.Minute)),
			"future":       signed(key, now.Add(6*time.Minute)),
			"another key":  signed(w.info.Keys.FeedPublicID, now),
			"no timestamp": header("X-Signature", hmacHex(key, "")),
			"padded":       signedAs(" "+strconv.FormatInt(now.Unix(), 10), hmacHex(key, strconv.FormatInt(now.Unix(), 10))+"00"),
			"another body": signedRequest(key, "POST", w.info.Routes.StoreAuth, `{"a":2}`, now),
			"admin":        w.as("admin"),
		} {
			if r := w.gate(storeAuth, `{"a":1}`, e).refusedWith(401, "rest_invalid_signature"); t.Failed() {
				t.Fatalf("%s: %s", name, r.body)
			}
		}
	})
}

// TestDemo_Orders: what is not an order is not updated as one, however its id
// is written; what is, is.
func TestDemo_Orders(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
		sub, order := w.info.Subscriptions[0], w.info.Orders[0]
		before := w.record(sub)
		note, at := `{"customer_note":"x"}`, func(route string, id int) string { return fmt.Sprintf("/cms-json/shop/%s/orders/%d", route, id) }
		hidden := fmt.Sprintf(`{"customer_note":"x","id":%d}`, sub)
		form := fmt.Sprintf("customer_note=x&id=%d", sub)
		batch := fmt.Sprintf(`{"update":[{"id":%d,"customer_note":"x"},{"id":%d,"customer_note":"x"}]}`, order, sub)
		for _, r := range []reply{
			w.gate("PUT "+at("v3", sub), note, w.as("admin")),
			w.gate("PATCH "+at("v3", sub), note, w.as("admin")),
			w.gate("POST "+at("v3", sub), note, w.as("admin")),
			w.gate("PUT "+at("v2", sub), note, w.as("manager")),
			w.gate("POST /cms-json/shop/v3/orders/batch", batch, w.as("admin")),
			w.gate("POST /cms-json/shop/v2/orders/batch", batch, w.as("admin")),
			w.gate("PUT "+at("v3", order), hidden, w.as("admin")),
			w.gate("PUT "+at("v3", order), form, w.as("admin")),
			w.gate(fmt.Sprintf("PUT %s?id=%d", at("v3", order), sub), note, w.as("admin")),
		} {
			r.refusedWith(400, "shop_rest_shop_order_invalid_id").want(400, `"ID is invalid."`)
		}
		if after := w.record(sub); !reflect.DeepEqual(before, after) {
			t.Errorf("the subscription changed: %+v", after)
		}
		if w.record(order).CustomerNote != "" {
			t.Error("a refused request changed an order")
		}
		w.gate("PUT "+at("v3", order), note, w.as("admin")).want(200, `"customer_note":"x"`).passed()
		if w.record(order).CustomerNote != "x" {
			t.Error("the order was not updated")
		}
		// The same on the bare platform: this is what was refused.
		w.bare("PUT "+at("v3", w.info.Subscriptions[1]), note, w.as("admin")).want(200)
		if w.record(w.info.Subscriptions[1]).Type != "shop_order" {
			t.Error("the bare platform did not convert")
		}
	})
}

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

// orders counts the orders there are.
func (w *world) orders() int { return len(w.site.Info().Orders) }

// TestDemo_CheckoutAndRefunds: what a release below 11.1 would get wrong.
func TestDemo_CheckoutAndRefunds(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
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

// TestDemo_Revocation: revoking an application password (E4) locks its owner
// out at once, though the gateway remembers who it was.
func TestDemo_Revocation(t *testing.T) {
	demos(t, func(t *testing.T, w *world) {
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
		form, multipart := multipartBody("rest", "no", "text", "ünïcode")
		for _, r := range []struct {
			line, body string
			edits      []edit
		}{
			{"GET /", "", nil}, {"GET /shop/", "", nil}, {"GET /robots.txt", "", nil}, {"GET /no-such-page/", "", nil},
			{"GET /my-account/withdraw-order/", "", nil}, {"GET /cms-content/themes/plain/style.css", "", nil},
			{"GET /cms-content/themes/plain/style.css", "", []edit{header("Range", "bytes=2-9")}},
			{"GET /cms-login.php", "", nil}, {"POST /", "a=b&a=c", nil}, {"POST /shop/", form, []edit{multipart}},
			{"GET /slug-with-cms-json-in-it/", "", nil}, {"GET /?rest_route=", "", nil}, {"HEAD /", "", nil},
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
		io.WriteString(rw, "first")
		http.NewResponseController(rw).Flush()
		select {
		case <-seen:
			io.WriteString(rw, "second")
		case <-r.Context().Done():
		}
		return true
	})
	defer w.tap.answerWith(nil)
	res, err := client.Do(w.request(w.gateway, line, "", w.as("admin")))
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
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

// TestDemo_MetricsCountEachRefusal: what the tests above saw is counted.
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
		{"access", "rest_not_logged_in"}, {"access", "rest_forbidden"}, {"access", "platform"}, {"signature", "rest_invalid_signature"},
		{"order_type", "shop_rest_shop_order_invalid_id"}, {"checkout_total", "shop_rest_checkout_total_mismatch"},
		{"refund_totals", "shop_rest_compute_totals_unsupported"}, {"call", "rest_ambiguous_request"},
	} {
		if n := w.decisions(c.policy, c.code, "refused"); n != 1 {
			t.Errorf("%s %s: %v refusals counted", c.policy, c.code, n)
		}
	}
	if n := w.decisions("none", "none", "pass"); n != 2 {
		t.Errorf("%v calls counted as passed, want those that fill the cart", n)
	}
}
