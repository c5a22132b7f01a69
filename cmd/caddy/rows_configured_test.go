package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// configurations are lines of the directive that some rows have, by name. <cookie plugin>
// and <read key> stand for keys of the row's platform.
var configurations = []struct{ name, lines string }{
	{"allow-list", "login_only\nallow anyone POST /consent/v1/consent /pay/v1/notify\nallow anyone /shop/store/v1/**"},
	{"signature", "login_only\nallow signed cookie_plugin POST /cookie/v1/store-auth\nsignature cookie_plugin {\n\tscheme request\n\tkey <cookie plugin>\n\tonce\n}"},
	{"no credential", "login_only"},
	{"credential", "order_type {\n\tcredential <read key>\n}"},
	{"cookies", "login_only\nsession_cookies {\n\tpath /\n\tdomain 127.0.0.1\n}"},
}

// configuredRows show what lines of the directive open, and what they leave closed.
func configuredRows() []row {
	return slices.Concat(allowListRows(), signatureRows(), []row{
		{of: "5 OAuth", with: "no credential", says: "an update of an order that the gateway has not seen in an answer", line: "PUT /cms-json/shop/v3/orders/<third>", body: `{"status":"completed"}`, as: "oauth", bare: ok, gate: always(unchecked)},
		{of: "5 OAuth", with: "credential", says: "an order update signed by OAuth 1", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "oauth", bare: ok, text: `"status":"completed"`},
		{of: "5 OAuth", with: "credential", says: "over plain http, to a shop that takes signed keys alone there", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "oauth", options: func(o *site.Options) { o.KeysNeedTLS = true }, bare: ok, text: `"status":"completed"`},
		{of: "5 OAuth", with: "credential", says: "one of a subscription", line: "PUT /cms-json/shop/v3/orders/<sub>", body: `{"status":"completed"}`, as: "oauth", bare: since("10.8", "200", notAnOrder), gate: always(hidden)},
		{of: "5 rule 4", with: "cookies", says: "the gateway gives a login's cookie the path and the domain that reach REST", line: "POST /core/cms-login.php", body: "log=admin&pwd=<password>", options: installed, bare: always("302"), cookie: `^(cms|wordpress)_logged_in_.*; Path=/core/;`, gateCookie: `^(cms|wordpress)_logged_in_.*; Path=/; Domain=127\.0\.0\.1$`, page: true},
		{of: "5 rule 4", with: "cookies", says: "and the dashboard's cookie, too", line: "POST /core/cms-login.php", body: "log=admin&pwd=<password>", options: installed, bare: always("302"), cookie: `^(cms|wordpress)_[0-9a-f]+=.*; Path=/core/(cms|wp)-admin;`, gateCookie: `^(cms|wordpress)_[0-9a-f]+=.*; Path=/; Domain=127\.0\.0\.1$`, page: true},
	})
}

// allowListRows are section 5, rule 1: the list of allowed routes under login_only
// restores the consent log and notifications.
func allowListRows() []row {
	const with = "allow-list"
	consent, notify := "/consent/v1/consent", "/pay/v1/notify"
	return []row{
		{of: "5 rule 1; 4 E12", with: with, says: "the list restores the consent log", line: "POST /cms-json" + consent, body: `{"choice":"all"}`, bare: ok, text: `"success":true`},
		{of: "5 rule 1; 4 E12", with: with, says: "in the query form, too", line: "POST /?rest_route=" + consent, body: `{"choice":"all"}`, bare: ok, text: `"success":true`},
		{of: "5 rule 1; 6 A payment gateway", with: with, says: "the list restores notifications", line: "POST /cms-json" + notify, body: `{"event":"paid"}`, bare: ok, text: `"received":true`},
		{of: "5 rule 1; 6 A payment gateway", with: with, says: "in the query form, too", line: "POST /?rest_route=" + notify, body: `{"event":"paid"}`, bare: ok, text: `"received":true`},
		{of: "5 rule 1", with: with, says: "the consent log stays closed to visitors", line: "GET /cms-json/consent/v1/log", bare: always(noRight), gate: always(loggedOut)},
		{of: "5 rule 1", with: with, says: "and so does all else", line: "GET /cms-json/cms/v2/posts", bare: ok, gate: always(loggedOut)},
		{of: "5 rule 1; 4 E2", with: with, says: "user names, too", line: "GET /cms-json/cms/v2/users", bare: ok, gate: always(loggedOut)},
		{of: "5 rule 1", with: with, says: "users are let in", line: "GET /cms-json/cms/v2/posts", as: "customer", bare: ok},
		{of: "5 rule 1; 4 E10", with: with, says: "the list opens the checkout", line: checkout, body: `{"expected_total":2000}`, prepare: filledCart, bare: ok, text: `"order_id"`},
		{of: "7 409 shop_rest_checkout_total_mismatch", with: with, says: "where the total is still checked", line: checkout, body: `{"expected_total":1999}`, prepare: filledCart, bare: since("11.1", "200", mismatched(1999)), gate: always(staleTotal)},
	}
}

// mismatched is the platform's answer to a checkout of filledCart at another total.
func mismatched(expected int) answer {
	return fmt.Sprintf(`409 %s "The total has changed from %d to 2000. Please review your order."`, mismatch, expected)
}

const (
	storeAuth     = "POST /cms-json/cookie/v1/store-auth"
	storeAuthBody = `{"a":1}`
)

// signatureRows are the route of E14 that wants a signature.
func signatureRows() []row {
	const of, with = "4 E14; 5 request signature", "signature"
	bad, old := always[answer](`401 rest_invalid_signature "The request signature is missing or invalid."`), cookie("4.4.1")
	return []row{
		{of: of, with: with, says: "a good signature", line: storeAuth, body: storeAuthBody, as: "plugin request", bare: ok, text: `"success":true`},
		{of: of, with: with, says: "no signature", line: storeAuth, body: storeAuthBody, bare: bad, gate: always(badSignature)},
		{of: of, with: with, says: "one by another key", line: storeAuth, body: storeAuthBody, as: "feed", bare: bad, gate: always(badSignature)},
		{of: of, with: with, says: "one for another body", line: storeAuth, body: `{"a":2}`, as: "plugin request", bare: bad, gate: always(badSignature)},
		{of: of, with: with, says: "one of six minutes ago", line: storeAuth, body: storeAuthBody, prepare: signedBefore, bare: bad, gate: always(badSignature)},
		{of: of, with: with, says: "one that was used before", line: storeAuth, body: storeAuthBody, prepare: replayed, bare: ok, gate: always(badSignature)},
		{of: of, with: with, says: "one of the timestamp alone", line: storeAuth, body: storeAuthBody, as: "plugin", bare: ok, gate: always(badSignature)},
		{of: of, with: with, says: "an administrator without a signature", line: storeAuth, body: storeAuthBody, as: "admin", bare: bad, gate: always(badSignature)},
		{of: of, with: with, says: "4.4.1 takes anything, the gateway a good signature alone", line: storeAuth, body: storeAuthBody, options: old, bare: ok, gate: always(badSignature)},
		{of: of, with: with, says: "4.4.1, a good signature", line: storeAuth, body: storeAuthBody, as: "plugin request", options: old, bare: ok},
		{of: "4 E14; 9 rule 5", with: with, says: "upload-logo stays closed", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", as: "plugin", options: old, bare: ok, gate: always(unsigned)},
	}
}

// signedStoreAuth signs a call of store-auth as the plugin does.
func (w *world) signedStoreAuth(at time.Time) edit {
	return signedRequest(w.info.Keys.CookiePlugin, http.MethodPost, w.info.Routes.StoreAuth, storeAuthBody, at)
}

func signedBefore(w *world) []edit {
	return []edit{w.signedStoreAuth(time.Now().Add(-6 * time.Minute))}
}

// replayed sends a good call, and then the same one as the row.
func replayed(w *world) []edit {
	good, send := []edit{w.signedStoreAuth(time.Now())}, (*world).bare
	if w.gateway != "" {
		send = (*world).gate
	}
	send(w, storeAuth, storeAuthBody, good...).want(http.StatusOK)
	return good
}

// eventRows are section 6.
func eventRows() []row {
	const page = "/my-account/withdraw-order/"
	const of = "6 A customer submits; 2 withdrawal request"
	there := since[answer]("11.1", "404 page", "200")
	return []row{
		{of: of, says: "the operator gets an e-mail and a notification in the inbox", line: "POST " + page, prepare: withdrawing, bare: there, shows: since("11.1", "", "We received your withdrawal request"), page: true, after: withdrawn},
		{of: of, says: "the notification", line: "GET /cms-json/shop-analytics/admin/notes", as: "manager", prepare: func(w *world) []edit {
			if w.info.Release == "11.1" {
				w.bare("POST "+page, "", withdrawing(w)...).want(http.StatusOK)
			}
			return nil
		}, bare: ok, shows: since("11.1", "[]", "-order-withdrawal-requested-order-<order>")},
		{of: of, says: "the inbox is for the operator", line: "GET /cms-json/shop-analytics/admin/notes", as: "customer", bare: always(`403 shop_rest_cannot_view "Sorry, you cannot list resources."`)},
		{of: of, says: "not with the flag off", line: "POST " + page, body: "order_withdrawal_action=confirm", bare: always[answer]("404 page"), page: true},
	}
}

// withdrawing fills in the withdrawal form.
func withdrawing(w *world) []edit {
	if w.info.Release != "11.1" {
		return nil
	}
	on("order_withdrawal")(w)
	form := w.bare("GET /my-account/withdraw-order/", "").want(http.StatusOK).body
	nonce := regexp.MustCompile(`name="(\S+-nonce)" value="(\w+)"`).FindStringSubmatch(form)
	if nonce == nil {
		w.t.Fatalf("no nonce in %s", form)
	}
	fields := url.Values{
		nonce[1]: {nonce[2]}, "order_withdrawal_first_name": {"Ada"}, "order_withdrawal_last_name": {"Lovelace"},
		"order_withdrawal_email": {"customer@example.test"}, "order_withdrawal_email_confirmation": {"customer@example.test"},
		"order_withdrawal_order_number": {fmt.Sprint(w.info.Orders[0])}, "order_withdrawal_withdrawal_type": {"full_order"},
		"order_withdrawal_action": {"confirm"},
	}.Encode()
	return []edit{contentType(asForm), func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(fields)), int64(len(fields))
	}}
}

// withdrawn checks what a withdrawal has caused on one of the platforms.
func withdrawn(d *document, w *world) {
	if d.release != "11.1" {
		return
	}
	for {
		select {
		case m := <-d.mails:
			if !slices.Equal(m.To, []string{"admin@example.test"}) {
				continue
			}
		case <-time.After(10 * time.Second):
			w.t.Error("no mail to the operator")
		}
		break
	}
	w.bare("GET /cms-json/shop-analytics/admin/notes", "", w.as("manager")).want(http.StatusOK, fmt.Sprintf("order-withdrawal-requested-order-%d", w.info.Orders[0]))
}
