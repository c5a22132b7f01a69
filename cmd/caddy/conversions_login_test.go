package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// unknownLogins are updates by callers whom a plugin logs in by a variable of the query or by a cookie
// of its own, with the id of a record as <id>.
var unknownLogins = []struct{ line, body, cookie string }{
	{"PUT /cms-json/shop/v3/orders/<id>?JWT=x", `{"customer_note":"x"}`, ""},
	{"PATCH /cms-json/shop/v2/orders/<id>?JWT=x", `{"customer_note":"x"}`, ""},
	{"POST /cms-json/shop-analytics/orders/<id>?JWT=x", `{"customer_note":"x"}`, ""},
	{"PUT /?rest_route=/shop/v3/orders/<id>&JWT=x", `{"customer_note":"x"}`, ""},
	{"POST /cms-json/shop/v3/orders/batch?JWT=x&n=<id>", `{"update":[{"id":<id>,"customer_note":"x"}]}`, ""},
	{"PUT /cms-json/shop/v3/orders/<id>", `{"customer_note":"x"}`, "staff=x"},
}

// TestConversions_UnknownLogins: whom the gateway takes for nobody updates no order, although the
// platform takes the same caller for an administrator.
func TestConversions_UnknownLogins(t *testing.T) {
	w := newPlatform(t, site.Options{Release: "10.7", Platform: "cms"})
	w.tap.answerWith(func(_ http.ResponseWriter, r *http.Request) bool {
		if _, err := r.Cookie("staff"); err == nil || r.URL.Query().Get("JWT") == "x" {
			w.as("admin")(r)
		}
		return false
	})
	for directive, converts := range map[string]bool{"": false, "order_type off": true, "mode observe": true} {
		w.start(directive)
		for _, login := range unknownLogins {
			sub := w.newSubscription()
			r := w.gate(strings.ReplaceAll(login.line, "<id>", strconv.Itoa(sub)), strings.ReplaceAll(login.body, "<id>", strconv.Itoa(sub)), header("Cookie", login.cookie))
			if got := w.record(sub).Type == "shop_order"; got != converts || !got && (r.status != 401 || r.reached+r.asked > 0) {
				t.Errorf("%q, %s: converted %t (%d %.200s), %d questions", directive, login.line, got, r.status, r.body, r.asked)
			}
		}
	}
	w.start("credentials cookie staff")
	staff := header("Cookie", "staff=x")
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", w.newSubscription()), `{}`, staff).refusedWith(400, invalidID)
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", w.newOrder()), `{}`, staff).want(200).passed()
}
