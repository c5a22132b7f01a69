package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
		"default":    {Release: "10.7", Platform: "wordpress"},
		"sub-folder": {Release: "10.7", Platform: "cms", Base: "/blog"},
		"cms":        {Release: "10.7", Platform: "cms"},
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

// TestDemo_Callers: what each kind of caller may do, and what passes for everybody.
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

// TestDemo_Orders: a record that is not an order is not updated as one, however its id is
// written. An order is.
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
		// The same request converts on the bare platform.
		w.bare("PUT "+at("v3", w.info.Subscriptions[1]), note, w.as("admin")).want(200)
		if w.record(w.info.Subscriptions[1]).Type != "shop_order" {
			t.Error("the bare platform did not convert")
		}
	})
}
