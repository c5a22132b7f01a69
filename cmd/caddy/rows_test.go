package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

const coverageHead = `# Coverage of the interface document

Each row below is a request that the tests send to the bare reference platform and through the gateway, for the releases
10.7, 10.8 and 11.1 (` + "`go test ./cmd/caddy -run TestDocument`" + `, which also keeps this page as it is). The last two columns say what
the gateway makes of it with its defaults, and with ` + "`login_only`" + `:

- **same**: forwarded, and answered byte for byte as the bare platform answers (addresses and random keys aside)
- **words**: refused by the gateway in the words of the bare platform
- **redacted**: forwarded, the stored secrets of the answer hidden
- a status and a code: refused by the gateway, nothing reached the platform, no record changed

`

// outOfReach are the rows that no REST request shows.
var outOfReach = [][3]string{
	{"1.6", "the command line", "no HTTP"},
	{"2, meta key", "where application passwords are stored", "inside the platform"},
	{"4, rules 4.7", "registration of block types and patterns, and the filter shop_should_register_blocks", "inside the platform"},
	{"4, rules 4.6 (part)", "blocks in product webhooks", "sent by the platform, not through the gateway"},
	{"5.2", "the hook rest_authentication_errors", "inside the platform"},
	{"5.5", "mixed schemes of site and platform address", "a setting; the gateway reports it (log and metric, tested with the adapter)"},
	{"6 (part)", "product webhooks", "sent by the platform, not through the gateway"},
	{"8", "rate limits, maximum per_page, sizes, clock tolerance", "not shown by the document; the gateway's own limits are tested with their policies"},
	{"9.4 analytics page", "request-derived properties of the analytics page's output", "a page of the dashboard"},
	{"9.4 embed block", "the embed block in the e-mail editor", "an editor's block and e-mails"},
	{"9.4 tags", "personalization-tag callbacks", "inside the platform"},
	{"9.7", "the policy for retiring old versions", "not shown by the document"},
	{"2, flags (part)", "unified editor assets (script bundles) and product gallery video", "no route; the flags themselves are set and read in 3"},
}

func core(version string) func(*site.Options) { return func(o *site.Options) { o.Core = version } }
func cookie(version string) func(*site.Options) {
	return func(o *site.Options) { o.CookiePlugin = version }
}
func fault(name string) func(*site.Options) { return func(o *site.Options) { o.Fault = name } }
func plain(o *site.Options)                 { o.Permalinks = "plain" }
func ownLoginOnly(o *site.Options)          { o.LoginOnly = true }

// on enables a feature flag, as an administrator does.
func on(flag string) func(*world) []edit {
	return func(w *world) []edit {
		w.bare("PUT /cms-json/shop-admin/v1/features/"+flag, `{"enabled":true}`, w.as("admin")).want(200)
		return nil
	}
}

// filledCart puts two mugs, 20.00, into a guest's cart.
func filledCart(w *world) []edit {
	session := []edit{header("Cart-Token", w.bare("GET /cms-json/shop/store/v1/cart", "").want(200).header.Get("Cart-Token"))}
	w.bare("POST /cms-json/shop/store/v1/cart/add-item", fmt.Sprintf(`{"id":%d,"quantity":2}`, w.info.Products[1]), session...).want(201)
	return session
}

// newestPassword makes the author's application password the target of a row.
func newestPassword(w *world) []edit {
	uuid, _ := w.bare("GET /cms-json/cms/v2/users/me/application-passwords", "", w.as("author")).at("0", "uuid").(string)
	return []edit{func(r *http.Request) {
		r.URL.Path, r.URL.RawPath = strings.Replace(r.URL.Path, "UUID", uuid, 1), ""
	}}
}

// rows are the statements of the interface document that a request can show.
func rows() []row {
	var all []row
	for _, section := range [][]row{recordRows(), endpointRows(), shopRows(), pluginRows(), addressingRows(), authenticationRows(), errorRows(), versionRows()} {
		all = append(all, section...)
	}
	return all
}

const refundUnsupported = "400 shop_rest_compute_totals_unsupported"

// recordRows are section 3.
func recordRows() []row {
	var all []row
	for _, line := range []string{"PUT /cms-json/shop/v2/orders/<sub>", "PATCH /cms-json/shop/v2/orders/<sub>", "PUT /cms-json/shop/v3/orders/<sub>", "PATCH /cms-json/shop/v3/orders/<sub>"} {
		all = append(all, row{
			of: "3 record type", says: "order update of a subscription, " + strings.Fields(line)[0] + " " + line[strings.Index(line, "shop/"):len(line)-13],
			line: line, body: `{"status":"processing"}`, as: "manager", bare: since("10.8", 200, 400),
			gate: func(release string) verdict {
				return map[string]verdict{"10.7": "400 " + invalidID, "10.8": words, "11.1": same}[release]
			},
		})
	}
	return append(all,
		row{of: "3 record type", says: "order update of a product's id", line: "PUT /cms-json/shop/v3/orders/<mug>", body: `{}`, as: "manager", bare: always(400), text: invalidID},
		row{of: "3 record type", says: "the same on the v1 order route", line: "PUT /cms-json/shop/v1/orders/<sub>", body: `{"status":"processing"}`, as: "manager", bare: always(400), text: `"ID is invalid."`},
		row{of: "3 record type", says: "order update of an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "manager", bare: always(200)},
		row{of: "3 flags", says: "an administrator enables a feature", line: "PUT /cms-json/shop-admin/v1/features/mcp_integration", body: `{"enabled":true}`, as: "admin", bare: always(200), text: `"enabled":true`},
		row{of: "3 flags", says: "nobody else does", line: "PUT /cms-json/shop-admin/v1/features/mcp_integration", body: `{"enabled":true}`, as: "manager", bare: always(403)},
		row{of: "3 flags", says: "all are off by default", line: "GET /cms-json/shop-admin/v1/features", as: "admin", bare: always(200), text: `"enabled":false`},
	)
}

// endpointRows are the core's of section 4.
func endpointRows() []row {
	passwords := "/cms-json/cms/v2/users/5/application-passwords"
	return []row{
		{of: "4 E1", says: "the REST root", line: "GET /cms-json/", bare: always(200), text: `"namespaces"`},
		{of: "4 E1", says: "the REST root, logged in", line: "GET /cms-json/", as: "customer", bare: always(200), text: `"name":"Reference shop"`},
		{of: "4 E2", says: "users without login", line: "GET /cms-json/cms/v2/users?per_page=2", bare: always(200), text: `"slug":"admin"`, gate: always(forbidden)},
		{of: "4 E2", says: "a user without login", line: "GET /cms-json/cms/v2/users/1", bare: always(200), text: `"slug":"admin"`, gate: always(forbidden)},
		{of: "4 E2", says: "users, logged in", line: "GET /cms-json/cms/v2/users?per_page=2", as: "customer", bare: always(200), text: `"slug":"admin"`},
		{of: "4 E2", says: "oneself with roles", line: "GET /cms-json/cms/v2/users/me?context=edit", as: "admin", bare: always(200), text: `"administrator"`},
		{of: "4 E2", says: "oneself without login", line: "GET /cms-json/cms/v2/users/me", bare: always(401), text: "rest_not_logged_in"},
		{of: "4 E3", says: "taxonomies", line: "GET /cms-json/cms/v2/taxonomies", bare: always(200), text: `"category"`},
		{of: "4 E3", says: "taxonomies in the editor", line: "GET /cms-json/cms/v2/taxonomies?context=edit", as: "editor nonce", bare: always(200), text: `"product_cat"`},
		{of: "4 E4", says: "revoke one's own application password", line: "DELETE " + passwords + "/UUID", as: "author", prepare: newestPassword, bare: always(200), text: `"deleted":true`},
		{of: "4 E4", says: "an administrator revokes another's", line: "DELETE " + passwords + "/UUID", as: "admin", prepare: newestPassword, bare: always(200), text: `"deleted":true`},
		{of: "4 E4", says: "a customer does not", line: "DELETE " + passwords + "/UUID", as: "customer", prepare: newestPassword, bare: always(403)},
		{of: "4 E4", says: "nor somebody without login", line: "DELETE " + passwords + "/UUID", prepare: newestPassword, bare: always(401)},
		{of: "4 E4", says: "an unknown one", line: "DELETE " + passwords + "/none", as: "admin", bare: always(404)},
		{of: "4 E11", says: "abilities without login", line: "GET /cms-json/cms-abilities/v1/abilities", bare: always(401)},
		{of: "4 E11", says: "abilities that are shown in REST", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", bare: always(200), text: "shop/orders-query"},
		{of: "4 E11", says: "one that is not shown", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-environment-info", as: "admin", bare: always(404)},
		{of: "4 E11", says: "running one", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-user-info/run", as: "customer", bare: always(200), text: `"customer"`},
		{of: "4 E11", says: "running one without the right", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-site-info/run", as: "customer", bare: always(403), text: "rest_ability_cannot_execute"},
		{of: "4 E11", says: "running one with the wrong method", line: "POST /cms-json/cms-abilities/v1/abilities/core/get-user-info/run", as: "customer", bare: always(405)},
		{of: "4 E11", says: "input against the schema", line: "POST /cms-json/cms-abilities/v1/abilities/shop/order-update-status/run", body: `{"input":{"id":"x"}}`, as: "admin", bare: always(400)},
	}
}

// shopRows are the shop's of section 4.
func shopRows() []row {
	refunds := "POST /cms-json/shop/v3/orders/<second>/refunds"
	all := []row{
		{of: "4 E5", says: "a refund of an amount", line: refunds, body: `{"amount":"5.00","reason":"late"}`, as: "manager", bare: always(201), text: `"amount":"5.00"`},
		{of: "4 E5", says: "a computed refund", line: refunds, body: `{"compute_totals":true}`, as: "manager", bare: always(201), gate: since("11.1", refundUnsupported, same)},
		{of: "4 E5", says: "compute_totals false", line: refunds, body: `{"compute_totals":false,"amount":"5.00"}`, as: "manager", bare: always(201)},
		{of: "4 E5", says: "a refund without login", line: refunds, body: `{"amount":"5.00"}`, bare: always(401)},
		{of: "4 E6", says: "a refund's preview", line: refunds + "/preview", body: `{}`, as: "manager", bare: since("11.1", 404, 200)},
		{of: "4 E8", says: "PUT of a subscription", line: "PUT /cms-json/shop/v3/subscriptions/<sub>", body: `{"status":"on-hold","billing_period":"year"}`, as: "manager", bare: always(200), text: `"billing_period":"year"`},
		{of: "4 E8", says: "PATCH of a subscription", line: "PATCH /cms-json/shop/v3/subscriptions/<sub>", body: `{"next_payment_date":"2027-05-01"}`, as: "key", bare: always(200), text: `"next_payment_date":"2027-05-01"`},
		{of: "4 E8", says: "the subscription route with an order's id", line: "PUT /cms-json/shop/v3/subscriptions/<order>", body: `{}`, as: "manager", bare: always(400)},
		{of: "4 E9", says: "the counters in one call", line: "GET /cms-json/shop-analytics/activity-panel/counts", as: "manager", bare: since("11.1", 404, 200)},
		{of: "4 E9", says: "the counters without login", line: "GET /cms-json/shop-analytics/activity-panel/counts", bare: since("11.1", 404, 401)},
		{of: "4 E9", says: "the earlier route for orders", line: "GET /cms-json/shop-analytics/orders?status[]=processing&status[]=on-hold&per_page=1", as: "manager", bare: always(200)},
		{of: "4 E9", says: "the earlier route for reviews", line: "GET /cms-json/shop-analytics/products/reviews?status=hold&per_page=1", as: "manager", bare: always(200)},
		{of: "4 E9", says: "the earlier route for stock", line: "GET /cms-json/shop-analytics/products/count-low-in-stock?status=publish", as: "manager", bare: always(200), text: `"total"`},
		{of: "4 E10", says: "the cart", line: "GET /cms-json/shop/store/v1/cart", prepare: filledCart, bare: always(200), text: `"total_price":"2000"`},
		{of: "4 E10", says: "checkout without expected_total", line: checkout, body: `{}`, prepare: filledCart, bare: always(200), text: `"order_id"`},
		{of: "4 E10", says: "checkout at the right total", line: checkout, body: `{"expected_total":2000}`, prepare: filledCart, bare: always(200), text: `"order_id"`},
		{of: "4 E10", says: "checkout at a stale total", line: checkout, body: `{"expected_total":1999}`, prepare: filledCart, bare: since("11.1", 200, 409), gate: since("11.1", "409 "+mismatch, same)},
		{of: "4 E10", says: "checkout at a stale total, logged in", line: checkout, body: `{"expected_total":1999}`, as: "customer", prepare: filledCart, bare: since("11.1", 200, 409), gate: since("11.1", "409 "+mismatch, same)},
		{of: "4 E10", says: "checkout of an empty cart", line: checkout, body: `{"expected_total":1}`, prepare: func(w *world) []edit {
			return []edit{header("Cart-Token", w.bare("GET /cms-json/shop/store/v1/cart", "").header.Get("Cart-Token"))}
		}, bare: always(409), text: "cart_empty"},
		{of: "4 E10", says: "checkout without nonce and token", line: checkout, body: `{}`, bare: always(401), text: "missing_nonce"},
	}
	for _, method := range []string{"PUT", "PATCH"} {
		for _, version := range []string{"v2", "v3"} {
			all = append(all, row{
				of: "4 E7", says: method + " of an order, " + version, line: method + " /cms-json/shop/" + version + "/orders/<order>",
				body: `{"customer_note":"please ring"}`, as: "manager", bare: always(200), text: `"customer_note":"please ring"`,
			})
		}
	}
	return append(all,
		row{of: "4 E7", says: "an order update by a shop key", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "key", bare: always(200)},
		row{of: "4 E7", says: "an order update without login", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{}`, bare: always(401)},
		row{of: "4 E7", says: "an order update by a customer", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{}`, as: "customer", bare: always(403)},
	)
}

// pluginRows are E12 to E14 and the notification route.
func pluginRows() []row {
	return []row{
		{of: "4 E12", says: "a visitor's consent", line: "POST /cms-json/consent/v1/consent", body: `{"choice":"all"}`, bare: always(200), text: `"success":true`},
		{of: "4 E12", says: "the consent log", line: "GET /cms-json/consent/v1/log", as: "admin", bare: always(200), text: `"choice"`, prepare: func(w *world) []edit {
			w.bare("POST /cms-json/consent/v1/consent", `{"choice":"none"}`).want(200)
			return nil
		}},
		{of: "4 E12", says: "the consent log without login", line: "GET /cms-json/consent/v1/log", bare: always(401)},
		{of: "4 E13", says: "stored options for whoever knows the public id", line: "GET /cms-json/feed/troubleshooting", as: "feed", bare: always(200), text: `"access_token"`, gate: always(forbidden), loginOnly: always(loggedOut)},
		{of: "4 E13", says: "without a signature", line: "GET /cms-json/feed/troubleshooting", bare: always(401), gate: always(forbidden)},
		{of: "4 E13", says: "for a customer", line: "GET /cms-json/feed/troubleshooting", as: "customer", bare: always(403), gate: always(forbidden)},
		{of: "4 E13", says: "for an administrator", line: "GET /cms-json/feed/troubleshooting", as: "admin", bare: always(200), text: `"access_token"`, gate: always(redacted)},
		{of: "4 E14", says: "store-auth up to 4.4.1, unsigned", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, options: cookie("4.4.1"), bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "4 E14", says: "store-auth from 4.4.2, unsigned", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, bare: always(401), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "4 E14", says: "store-auth from 4.4.2, signed, no signature set up here", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, as: "plugin", bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "4 E14", says: "upload-logo up to 4.4.1", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, options: cookie("4.4.1"), bare: always(200), text: `"url"`, gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "4 E14", says: "upload-logo up to 4.4.1, as an administrator", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, as: "admin", options: cookie("4.4.1"), bare: always(200), gate: always(forbidden)},
		{of: "4 E14", says: "upload-logo from 4.4.2", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, bare: always(404), gate: always(forbidden), loginOnly: always(forbidden)},
	}
}

// addressingRows are the rules below section 4's table.
func addressingRows() []row {
	return []row{
		{of: "4 rule 1", says: "the path contains the prefix", line: "GET /cms-json/cms/v2/posts", bare: always(200), text: "Hello world"},
		{of: "4 rule 1", says: "rest_route in the query", line: "GET /?rest_route=/cms/v2/posts", bare: always(200), text: "Hello world"},
		{of: "4 rule 1", says: "an empty rest_route is a page", line: "GET /?rest_route=", bare: always(200), text: "<html", page: true},
		{of: "4 rule 1", says: "a slug that contains the prefix's word is a page", line: "GET /about-cms-json/", bare: always(404), text: "<html", page: true},
		{of: "4 rule 2", says: "in a sub-folder, with it", line: "GET /cms-json/cms/v2/posts", base: true, bare: always(200), text: "Hello world"},
		{of: "4 rule 2", says: "in a sub-folder, without it", line: "GET /cms-json/cms/v2/posts", base: true, prepare: outside, bare: always(404), gate: always("404 rest_no_route"), loginOnly: always("404 rest_no_route")},
		{of: "4 rule 2", says: "in a sub-folder, without it, logged in", line: "GET /cms-json/cms/v2/posts", base: true, as: "admin", prepare: outside, bare: always(404), gate: always("404 rest_no_route")},
		{of: "4 rule 3", says: "plain permalinks, query form", line: "GET /index.php?rest_route=/cms/v2/posts", options: plain, bare: always(200), text: "Hello world"},
		{of: "4 rule 3", says: "plain permalinks, pretty form", line: "GET /cms-json/cms/v2/posts", options: plain, bare: always(404), text: "<html"},
		{of: "4 rule 3", says: "pretty permalinks, query form", line: "GET /index.php?rest_route=/cms/v2/posts", as: "editor nonce", bare: always(200)},
		{of: "4 rule 4", says: "saving the permalinks regenerates the rules", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), prepare: savePermalinks, bare: always(200)},
		{of: "4 rule 5", says: "the language parameter", line: "GET /cms-json/cms/v2/posts?lang=de", bare: always(200), text: "Hello world"},
		{of: "4 rule 6", says: "blocks in a product's description", line: "GET /cms-json/shop/v3/products/<shirt>", as: "manager", bare: always(200), text: "cms-block-shop-product-rating"},
		{of: "4 rule 6", says: "blocks in the checkout API", line: "GET /cms-json/shop/store/v1/products", bare: always(200), text: "cms-block-shop-product-rating"},
		{of: "4 rule 6", says: "blocks in the variation AJAX route", line: "POST /?shop-ajax=get_variation", body: "product_id=<shirt>", bare: always(200), text: "cms-block-shop-product-rating", page: true},
	}
}

// outside sends a row to the address without the sub-folder.
func outside(*world) []edit {
	return []edit{func(r *http.Request) { r.URL.Path = strings.TrimPrefix(r.URL.Path, "/blog") }}
}

func savePermalinks(w *world) []edit {
	w.bare("GET /cms-json/cms/v2/posts", "").want(404)
	cookie, nonce := w.site.Nonce("admin")
	w.bare("POST /cms-admin/options-permalink.php", "_cmsnonce="+nonce, func(r *http.Request) { r.AddCookie(cookie) }).want(200)
	return nil
}

// authenticationRows are section 5.
func authenticationRows() []row {
	const me = "GET /cms-json/cms/v2/users/me"
	return []row{
		{of: "5 application password", says: "a right one", line: me, as: "admin", bare: always(200)},
		{of: "5 application password", says: "a wrong one", line: me, as: "admin wrong password", bare: always(401), text: "incorrect_password", loginOnly: always(words)},
		{of: "5 cookie and nonce", says: "both", line: me, as: "admin nonce", bare: always(200)},
		{of: "5 cookie and nonce", says: "a missing nonce", line: me, as: "admin cookie", bare: always(401), text: "rest_not_logged_in", loginOnly: always(loggedOut)},
		{of: "5 cookie and nonce", says: "an invalid nonce", line: me, as: "admin bad nonce", bare: always(400), text: "cookie nonce is invalid", loginOnly: always(words)},
		{of: "5 OAuth", says: "a signed call of the shop", line: "GET /cms-json/shop/v3/orders", as: "oauth", bare: always(200)},
		{of: "5 OAuth", says: "a bearer token", line: me, as: "editor bearer", bare: always(200)},
		{of: "5 anonymous", says: "the consent log write", line: "POST /cms-json/consent/v1/consent", body: "{}", bare: always(200)},
		{of: "5 anonymous", says: "a payment notification", line: "POST /cms-json/pay/v1/notify", body: `{"event":"paid"}`, bare: always(200)},
		{of: "5 anonymous", says: "the withdrawal page", line: "GET /my-account/withdraw-order/", options: func(o *site.Options) { o.Release = "11.1" }, prepare: on("order_withdrawal"), bare: always(200), text: "Withdraw from an order", page: true},
		{of: "5 signature", says: "of the cookie plugin, where none is set up", line: "POST /cms-json/cookie/v1/store-auth", body: "{}", as: "plugin", bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "5.1", says: "the site's own restriction breaks the consent log", line: "POST /cms-json/consent/v1/consent", body: "{}", options: ownLoginOnly, bare: always(401), text: "Only authenticated users can access the REST API.", loginOnly: always(words)},
		{of: "5.1", says: "and notifications", line: "POST /cms-json/pay/v1/notify", body: "{}", options: ownLoginOnly, bare: always(401), text: "Only authenticated users can access the REST API.", loginOnly: always(words)},
		{of: "5.1", says: "and lets users in", line: "GET /cms-json/cms/v2/posts", as: "customer", options: ownLoginOnly, bare: always(200)},
		{of: "5.3", says: "in a sub-folder the cookie is issued for the install path", line: "POST /cms-login.php", body: "log=admin&pwd=wrong", base: true, bare: always(200), page: true},
		{of: "5.3", says: "a cookie that reaches the call counts", line: me, as: "admin nonce", base: true, bare: always(200)},
		{of: "5.3", says: "where it does not, nobody is logged in", line: me, base: true, bare: always(401), text: "rest_not_logged_in"},
	}
}

// errorRows are section 7.
func errorRows() []row {
	return []row{
		{of: "7 invalid id", says: "400, ID is invalid.", line: "PUT /cms-json/shop/v3/orders/999999", body: "{}", as: "manager", bare: always(400), text: invalidID},
		{of: "7 invalid id", says: "in a batch each item has its own", line: "POST /cms-json/shop/v3/orders/batch", body: `{"update":[{"id":999999}]}`, as: "manager", bare: always(200), text: invalidID},
		{of: "7 total mismatch", says: "409, no order is confirmed", line: checkout, body: `{"expected_total":"1"}`, prepare: filledCart, bare: since("11.1", 200, 409), gate: since("11.1", "409 "+mismatch, same)},
		{of: "7 rest_forbidden", says: "403, a guard that requires a right", line: "GET /cms-json/consent/v1/log", as: "customer", bare: always(403), text: "rest_forbidden"},
		{of: "7 rest_not_logged_in", says: "401, REST is limited to logged-in users", line: "GET /cms-json/cms/v2/posts", options: ownLoginOnly, bare: always(401), text: "rest_not_logged_in", loginOnly: always(words)},
		{of: "7 nonce error", says: "400, an outdated nonce", line: "POST /cms-json/cms/v2/posts", body: `{"title":"x"}`, as: "editor bad nonce", bare: always(400), text: "nonce is invalid", loginOnly: always(words)},
		{of: "7 not found", says: "an unknown route", line: "GET /cms-json/no/such/route", as: "customer", bare: always(404), text: "rest_no_route"},
		{of: "7 not found", says: "stale rewrite rules", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: always(404), text: "<html", loginOnly: always("503 rest_policy_unavailable")},
		{of: "7 not found", says: "stale rewrite rules, query form", line: "GET /?rest_route=/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: always(200)},
		{of: "7 not found", says: "a blocked REST root", line: "GET /cms-json/", as: "customer", options: fault("blocked-root"), bare: always(404)},
		{of: "7 fatal", says: "500, the language parameter and editor calls", line: "GET /cms-json/cms/v2/taxonomies?lang=de", as: "editor nonce", options: fault("multilingual"), bare: always(500)},
		{of: "7 fatal", says: "without the parameter", line: "GET /cms-json/cms/v2/taxonomies", as: "editor nonce", options: fault("multilingual"), bare: always(200)},
		{of: "7 firewall", says: "403, a firewall blocks the REST root", line: "GET /cms-json/cms/v2/posts", options: fault("firewall"), bare: always(403), text: "Forbidden"},
		{of: "7 firewall", says: "403, so that nobody can be asked about", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("firewall"), bare: always(403), loginOnly: always("503 rest_policy_unavailable")},
	}
}

// versionRows are section 9.
func versionRows() []row {
	item := `{"line_items":[{"id":<item>,"product_id":%s}]}`
	all := []row{
		{of: "9.1", says: "v1 validates the record type", line: "PATCH /cms-json/shop/v1/orders/<sub>", body: "{}", as: "manager", bare: always(400), text: invalidID},
		{of: "9.2", says: "the schema of refunds", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", bare: always(200)},
		{of: "9.2", says: "the schema of refunds, logged in", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", as: "manager", bare: always(200)},
		{of: "9.2", says: "the withdrawal flow is off by default", line: "GET /my-account/withdraw-order/", bare: always(404), page: true},
		{of: "9.3", says: "abilities before core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.8"), bare: always(404), text: "rest_no_route"},
		{of: "9.3", says: "abilities from core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.9"), bare: always(200)},
		{of: "9.4 detection", says: "rest_route on any page", line: "GET /shop/?rest_route=/cms/v2/posts", as: "customer", bare: always(200), text: "Hello world"},
		{of: "9.4 item's product", says: "another product resets the variation from 11.1", line: "PUT /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<mug>"), as: "manager", bare: always(200), shows: since("11.1", `"variation_id":<size>},{`, `"variation_id":0},{`)},
		{of: "9.4 item's product", says: "the same product keeps it", line: "PATCH /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<shirt>"), as: "manager", bare: always(200), text: `"variation_id":<size>},{`},
		{of: "9.4 product search", says: "OR groups in parentheses from 11.1", line: "GET /cms-json/shop/v3/products?search=shirt+or+mug&exclude=<shirt>", as: "manager", bare: always(200), shows: since("11.1", `"name":"Shirt"`, `"name":"Mug"`)},
		{of: "9.4 MOP", says: "the symbol", line: "GET /cms-json/shop/v3/data/currencies/mop", as: "manager", bare: always(200), shows: since("11.1", `"symbol":"P"`, `"symbol":"MOP$"`)},
		{of: "9.4 ZMW", says: "the symbol", line: "GET /cms-json/shop/v3/data/currencies/zmw", as: "manager", bare: always(200), shows: since("11.1", `"symbol":"ZK"`, `"symbol":"K"`)},
		{of: "9.5", says: "4.4.1 exposes the upload route", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.1"), bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "9.5", says: "4.4.2 does not", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.2"), bare: always(404), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "9.6", says: "the multilingual plugin and the block editor", line: "POST /cms-json/cms/v2/posts?lang=de", body: `{"title":"x"}`, as: "editor nonce", options: fault("multilingual"), bare: always(500)},
	}
	for _, version := range []string{"shop/v1", "shop/v2", "shop/v3", "cms/v2"} {
		all = append(all, row{of: "9.1", says: "the namespace " + version, line: "GET /cms-json/" + version, as: "customer", bare: always(200), text: `"namespace":"` + version + `"`})
	}
	return all
}
