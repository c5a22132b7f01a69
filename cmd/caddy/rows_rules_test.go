package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// recordRows are section 3.
func recordRows() []row {
	var all []row
	for _, line := range []string{"PUT /cms-json/shop/v2/orders/<sub>", "PATCH /cms-json/shop/v2/orders/<sub>", "PUT /cms-json/shop/v3/orders/<sub>", "PATCH /cms-json/shop/v3/orders/<sub>"} {
		all = append(all, row{
			of: "3 record type", says: "order update of a subscription, " + strings.Fields(line)[0] + " " + line[strings.Index(line, "shop/"):len(line)-13],
			line: line, body: `{"status":"processing"}`, as: "manager", bare: since("10.8", 200, 400),
			gate: func(release string) verdict {
				return map[string]verdict{"10.7": "400 " + invalidID, "10.8": words, "11.1": words}[release]
			},
		})
	}
	for _, flag := range []string{"unified_editor_assets", "product_gallery_video", "order_withdrawal"} {
		there := always(200)
		off, enabled := always(`{"enabled":false,"id":"`+flag+`"`), always(`{"enabled":true,"id":"`+flag+`"`)
		if flag == "order_withdrawal" { // comes with 11.1 (section 9)
			there = since("11.1", 400, 200)
			off, enabled = since("11.1", "rest_invalid_param", off("")), since("11.1", "rest_invalid_param", enabled(""))
		}
		all = append(all,
			row{of: "3 flags", says: flag + " is off by default", line: "GET /cms-json/shop-admin/v1/features/" + flag, as: "admin", bare: there, shows: off},
			row{of: "3 flags", says: "an administrator enables " + flag, line: "PUT /cms-json/shop-admin/v1/features", body: `{"` + flag + `":true}`, as: "admin", bare: there, shows: enabled},
		)
	}
	return append(all,
		row{of: "3 record type", says: "order update of a product's id", line: "PUT /cms-json/shop/v3/orders/<mug>", body: `{}`, as: "manager", bare: always(400), text: invalidID},
		row{of: "3 record type", says: "the same on the v1 order route", line: "PUT /cms-json/shop/v1/orders/<sub>", body: `{"status":"processing"}`, as: "manager", bare: always(400), text: `"ID is invalid."`},
		row{of: "3 record type", says: "order update of an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "manager", bare: always(200)},
		row{of: "3 flags", says: "nobody else does", line: "PUT /cms-json/shop-admin/v1/features/product_gallery_video", body: `{"enabled":true}`, as: "manager", bare: always(403), text: "rest_forbidden"},
		row{of: "3 flags", says: "all are off by default", line: "GET /cms-json/shop-admin/v1/features", as: "admin", bare: always(200), text: `"enabled":false`, lacks: always(`"enabled":true`)},
		row{of: "3 flags", says: "a flag that does not exist", line: "PUT /cms-json/shop-admin/v1/features", body: `{"nosuch":true}`, as: "admin", bare: always(400), text: "rest_invalid_param"},
	)
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
		{of: "5 cookie and nonce", says: "an invalid nonce", line: me, as: "admin bad nonce", bare: always(400), text: "cookie nonce is invalid", wordpress: 403, loginOnly: always(words)},
		{of: "5 OAuth", says: "a signed call of the shop", line: "GET /cms-json/shop/v3/orders", as: "oauth", bare: always(200)},
		{of: "5 OAuth", says: "a bearer token", line: me, as: "editor bearer", bare: always(200)},
		{of: "5 anonymous", says: "the consent log write", line: "POST /cms-json/consent/v1/consent", body: "{}", bare: always(200)},
		{of: "5 anonymous", says: "a payment notification", line: "POST /cms-json/pay/v1/notify", body: `{"event":"paid"}`, bare: always(200)},
		{of: "5 anonymous", says: "the withdrawal page", line: "GET /my-account/withdraw-order/", options: func(o *site.Options) { o.Release = "11.1" }, prepare: on("order_withdrawal"), bare: always(200), text: "Withdraw from an order", page: true},
		{of: "5 signature", says: "of the cookie plugin, where none is set up", line: "POST /cms-json/cookie/v1/store-auth", body: "{}", as: "plugin", bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "5.1", says: "the site's own restriction breaks the consent log", line: "POST /cms-json/consent/v1/consent", body: "{}", options: ownLoginOnly, bare: always(401), text: "Only authenticated users can access the REST API.", loginOnly: always(words)},
		{of: "5.1", says: "and notifications", line: "POST /cms-json/pay/v1/notify", body: "{}", options: ownLoginOnly, bare: always(401), text: "Only authenticated users can access the REST API.", loginOnly: always(words)},
		{of: "5.1", says: "and lets users in", line: "GET /cms-json/cms/v2/posts", as: "customer", options: ownLoginOnly, bare: always(200)},
		{of: "5.3", says: "in a sub-folder the cookie is issued for the install path", line: "POST /cms-login.php", body: "log=admin&pwd=<password>", base: true, bare: always(302), cookie: `^(cms|wordpress)_logged_in_.*; Path=/blog/;`, page: true},
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
		{of: "7 nonce error", says: "400, an outdated nonce", line: "POST /cms-json/cms/v2/posts", body: `{"title":"x"}`, as: "editor bad nonce", bare: always(400), text: "nonce is invalid", wordpress: 403, loginOnly: always(words)},
		{of: "7 not found", says: "an unknown route", line: "GET /cms-json/no/such/route", as: "customer", bare: always(404), text: "rest_no_route"},
		{of: "7 not found", says: "stale rewrite rules", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: always(404), text: "<html", loginOnly: always("503 rest_policy_unavailable")},
		{of: "7 not found", says: "stale rewrite rules, query form", line: "GET /?rest_route=/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: always(200)},
		{of: "7 not found", says: "a blocked REST root", line: "GET /cms-json/", as: "customer", options: fault("blocked-root"), bare: always(404)},
		{of: "7 not found", says: "a blocked REST root, query form", line: "GET /?rest_route=/", as: "customer", options: fault("blocked-root"), bare: always(404)},
		{of: "7 not found", says: "a blocked REST root, its schema", line: "OPTIONS /cms-json/", as: "customer", options: fault("blocked-root"), bare: always(404)},
		{of: "7 fatal", says: "500, the language parameter and editor calls", line: "GET /cms-json/cms/v2/taxonomies?lang=de", as: "editor nonce", options: fault("multilingual"), bare: always(500)},
		{of: "7 fatal", says: "500, in a form body", line: "POST /cms-json/cms/v2/posts", body: "title=x&lang=de", as: "editor nonce", options: fault("multilingual"), bare: always(500)},
		{of: "7 fatal", says: "without the parameter", line: "GET /cms-json/cms/v2/taxonomies", as: "editor nonce", options: fault("multilingual"), bare: always(200)},
		{of: "7 firewall", says: "403, a firewall blocks the REST root", line: "GET /cms-json/cms/v2/posts", options: fault("firewall"), bare: always(403), text: "Forbidden"},
		{of: "7 firewall", says: "403, query form", line: "GET /?rest_route=/", options: fault("firewall"), bare: always(403), text: "Forbidden"},
		{of: "7 firewall", says: "403, so that nobody can be asked about", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("firewall"), bare: always(403), loginOnly: always("503 rest_policy_unavailable")},
	}
}

// versionRows are section 9.
func versionRows() []row {
	item := `{"line_items":[{"id":<item>,"product_id":%s}]}`
	refundSchema, refundSchemaLacks := since("11.1", `"amount"`, `"compute_totals":{`), since("11.1", "compute_totals", "")
	all := []row{
		{of: "9.1", says: "v1 validates the record type", line: "PATCH /cms-json/shop/v1/orders/<sub>", body: "{}", as: "manager", bare: always(400), text: invalidID},
		{of: "9.2", says: "compute_totals in the schema of refunds", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", bare: always(200), shows: refundSchema, lacks: refundSchemaLacks},
		{of: "9.2", says: "compute_totals in the schema of refunds, logged in", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", as: "manager", bare: always(200), shows: refundSchema, lacks: refundSchemaLacks},
		{of: "9.2", says: "the withdrawal flow is off by default", line: "GET /my-account/withdraw-order/", bare: always(404), page: true},
		{of: "9.3", says: "abilities before core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.8"), bare: always(404), text: "rest_no_route"},
		{of: "9.3", says: "abilities from core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.9"), bare: always(200)},
		{
			of: "9.4 detection", says: "from 11.1 the shop takes a non-empty rest_route for a REST request, so its keys count there",
			line: "GET /?rest_route=/shop/v3/orders", as: "key", bare: since("11.1", 401, 200), shows: since("11.1", "invalid_username", `"line_items"`),
			loginOnly: since("11.1", words, "401 invalid_username"), // the gateway accepts keys in the pretty form only
		},
		{of: "9.4 item's product", says: "another product resets the variation from 11.1", line: "PUT /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<mug>"), as: "manager", bare: always(200), shows: since("11.1", `"variation_id":<size>},{`, `"variation_id":0},{`)},
		{of: "9.4 item's product", says: "the same product keeps it", line: "PATCH /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<shirt>"), as: "manager", bare: always(200), text: `"variation_id":<size>},{`},
		{of: "9.4 product search", says: "OR groups in parentheses from 11.1", line: "GET /cms-json/shop/v3/products?search=shirt+or+mug&exclude=<shirt>", as: "manager", bare: always(200), shows: since("11.1", `"name":"Shirt"`, `"name":"Mug"`)},
		{of: "9.4 MOP", says: "the symbol", line: "GET /cms-json/shop/v3/data/currencies/mop", as: "manager", bare: always(200), shows: since("11.1", `"symbol":"P"`, `"symbol":"MOP$"`)},
		{of: "9.4 ZMW", says: "the symbol", line: "GET /cms-json/shop/v3/data/currencies/zmw", as: "manager", bare: always(200), shows: since("11.1", `"symbol":"ZK"`, `"symbol":"K"`)},
		{of: "9.4 MOP", says: "the symbol of an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"currency":"MOP"}`, as: "manager", bare: always(200), shows: since("11.1", `"currency_symbol":"P"`, `"currency_symbol":"MOP$"`)},
		{of: "9.4 ZMW", says: "the symbol of an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"currency":"ZMW"}`, as: "manager", bare: always(200), shows: since("11.1", `"currency_symbol":"ZK"`, `"currency_symbol":"K"`)},
		{of: "9.5", says: "4.4.1 exposes the upload route", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.1"), bare: always(200), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "9.5", says: "4.4.2 does not", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.2"), bare: always(404), gate: always(forbidden), loginOnly: always(forbidden)},
		{of: "9.6", says: "the multilingual plugin and the block editor", line: "POST /cms-json/cms/v2/posts?lang=de", body: `{"title":"x"}`, as: "editor nonce", options: fault("multilingual"), bare: always(500)},
	}
	for _, version := range []string{"shop/v1", "shop/v2", "shop/v3", "cms/v2"} {
		all = append(all, row{of: "9.1", says: "the namespace " + version, line: "GET /cms-json/" + version, as: "customer", bare: always(200), text: `"namespace":"` + version + `"`})
	}
	return all
}
