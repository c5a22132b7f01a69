package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/mailsink"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestDocument_OwnRestriction: login_only answers like the site's own restriction
// (docs/project/interface 5, rule 1), and its exceptions restore what that breaks.
func TestDocument_OwnRestriction(t *testing.T) {
	own := newPlatform(t, site.Options{LoginOnly: true})
	w := newWorld(t, site.Options{}, "login_only\nallow anyone POST /consent/v1/consent /pay/v1/notify")
	for _, c := range []struct{ line, body string }{
		{"GET /cms-json/", ""},
		{"GET /cms-json/cms/v2/taxonomies", ""},
		{"GET /cms-json/cms/v2/users/me", ""},
		{"GET /?rest_route=/cms/v2/posts", ""},
		{"POST /", "rest_route=/cms/v2/posts"},
		{"GET /cms-json/shop/store/v1/cart", ""},
		{"GET /cms-json/no/such/route", ""},
		{"PUT /cms-json/shop/v3/orders/1", "{}"},
		{"DELETE /cms-json/cms/v2/users/1", ""},
		{"OPTIONS /cms-json/cms/v2/posts", ""},
	} {
		theirs, ours := own.bare(c.line, c.body).want(401), w.gate(c.line, c.body).refusedWith(401, "rest_not_logged_in")
		if theirs.code() != ours.code() || theirs.at("message") != ours.at("message") || fmt.Sprint(theirs.at("data")) != fmt.Sprint(ours.at("data")) {
			t.Errorf("%s: the site says %s, the gateway %s", c.line, theirs.body, ours.body)
		}
	}
	for _, line := range []string{"POST /cms-json/consent/v1/consent", "POST /cms-json/pay/v1/notify"} {
		own.bare(line, "{}").want(401, "Only authenticated users can access the REST API.")
		w.gate(line, "{}").want(200).passed().unasked()
	}
	own.bare("GET /", "").want(200)
	w.gate("GET /", "").want(200)
}

// operatorsMail takes the one mail about a withdrawal: to the operator, and to nobody else.
func operatorsMail(t *testing.T, mails <-chan mailsink.Mail) {
	t.Helper()
	select {
	case m := <-mails:
		if !slices.Equal(m.To, []string{"admin@example.test"}) || !strings.Contains(m.Text, "Subject: Order withdrawal requested") {
			t.Errorf("mail to %s: %s", m.To, m.Text)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no mail to the operator")
	}
	if len(mails) > 0 { // the platform sends before it answers
		t.Errorf("one mail more: %+v", <-mails)
	}
}

// TestDocument_Withdrawal: a customer without a login withdraws from an order
// through a gateway with login_only; the shop gets a mail and an inbox entry
// (docs/project/interface 6).
func TestDocument_Withdrawal(t *testing.T) {
	mail, mails := mailsink.Start(t)
	const page = "/my-account/withdraw-order/"
	for _, options := range []site.Options{{SMTP: mail}, {SMTP: mail, Base: "/blog"}, {SMTP: mail, Platform: "wordpress"}} {
		w := newWorld(t, options, "login_only")
		w.gate("GET "+page, "").want(404).passed()
		w.gate("PUT /cms-json/shop-admin/v1/features/order_withdrawal", `{"enabled":true}`).refusedWith(401, "rest_not_logged_in")
		w.gate("PUT /cms-json/shop-admin/v1/features/order_withdrawal", `{"enabled":true}`, w.as("admin")).want(200)
		form := w.gate("GET "+page, "").want(200, "Withdraw from an order").passed().body
		nonce := regexp.MustCompile(`name="(\S+-nonce)" value="(\w+)"`).FindStringSubmatch(form)
		if nonce == nil {
			t.Fatalf("no nonce in %s", form)
		}
		fields := url.Values{
			nonce[1]: {nonce[2]}, "order_withdrawal_first_name": {"Ada"}, "order_withdrawal_last_name": {"Lovelace"},
			"order_withdrawal_email": {"customer@example.test"}, "order_withdrawal_email_confirmation": {"customer@example.test"},
			"order_withdrawal_order_number": {fmt.Sprint(w.info.Orders[0])}, "order_withdrawal_withdrawal_type": {"full_order"},
			"order_withdrawal_action": {"confirm"},
		}
		w.gate("POST "+page, fields.Encode()).want(200, "We received your withdrawal request").passed().unasked()
		operatorsMail(t, mails)
		w.gate("GET /cms-json/shop-analytics/admin/notes", "", w.as("manager")).want(200, fmt.Sprintf("order-withdrawal-requested-order-%d", w.info.Orders[0]))
		if w.record(w.info.Orders[0]).Meta["_order_withdrawal_requested"] != "yes" {
			t.Error("the order is not marked")
		}
	}
}
