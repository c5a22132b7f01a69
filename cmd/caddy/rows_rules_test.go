package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// recordRows are section 3.
func recordRows() []row {
	var all []row
	for _, line := range []string{"PUT /cms-json/shop/v2/orders/<sub>", "PATCH /cms-json/shop/v2/orders/<sub>", "PUT /cms-json/shop/v3/orders/<sub>", "PATCH /cms-json/shop/v3/orders/<sub>"} {
		all = append(all, row{
			of: "3 the id's record; names shop error codes", says: "order update of a subscription, " + strings.Fields(line)[0] + " " + line[strings.Index(line, "shop/"):len(line)-13],
			line: line, body: `{"status":"processing"}`, as: "manager", bare: since("10.8", "200", notAnOrder),
			gate: func(release string) verdict {
				return map[string]verdict{"10.7": noOrder, "10.8": words, "11.1": words}[release]
			},
		})
	}
	for _, flag := range []struct{ id, name string }{
		{"unified_editor_assets", "2 unified editor assets"}, {"product_gallery_video", "2 product gallery video"}, {"order_withdrawal", "2 order withdrawal"},
	} {
		there, enabled := ok, ok
		off, isOn := always(`{"enabled":false,"id":"`+flag.id+`"`), always(`{"enabled":true,"id":"`+flag.id+`"`)
		if flag.id == "order_withdrawal" { // comes with 11.1 (docs/project/interface 9)
			there = since("11.1", `400 rest_invalid_param "Invalid parameter(s): feature"`, "200")
			enabled = since("11.1", `400 rest_invalid_param "Invalid parameter(s): order_withdrawal"`, "200")
			off, isOn = since("11.1", "", off("")), since("11.1", "", isOn(""))
		}
		of := "3 A feature flag goes; " + flag.name
		all = append(all,
			row{of: of, says: flag.id + " is off at first", line: "GET /cms-json/shop-admin/v1/features/" + flag.id, as: "admin", bare: there, shows: off},
			row{of: of, says: "an administrator enables " + flag.id, line: "PUT /cms-json/shop-admin/v1/features", body: `{"` + flag.id + `":true}`, as: "admin", bare: enabled, shows: isOn},
		)
	}
	return append(all,
		row{of: "3 the id's record", says: "order update of a product's id", line: "PUT /cms-json/shop/v3/orders/<mug>", body: `{}`, as: "manager", bare: since("10.8", oldInvalidID, notAnOrder), gate: since("10.8", noOrder, words)},
		row{of: "3 the same on the order route", says: "the same on the v1 order route", line: "PUT /cms-json/shop/v1/orders/<sub>", body: `{"status":"processing"}`, as: "manager", bare: always(notAnOrder), text: `"ID is invalid."`},
		row{of: "3 the id's record", says: "order update of an id that is no number", line: "PUT /cms-json/shop/v3/orders/abc", body: `{}`, as: "manager", bare: always(noRoute), gate: always(oddID)},
		row{of: "3 the id's record", says: "order update of an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "manager", bare: ok},
		row{of: "3 the id's record", says: "first update of an order, with a key that only writes", line: "PUT /cms-json/shop/v3/orders/<second>", body: `{"status":"completed"}`, as: "write-only", bare: ok, gate: always(writeOnlyKey)},
		row{of: "3 the id's record", says: "first update of an order, by an editor", line: "PUT /cms-json/shop/v3/orders/<second>", body: `{"status":"completed"}`, as: "editor", bare: since("11.1", "200", `403 shop_rest_cannot_edit "Sorry, you are not allowed to edit this resource."`), gate: since("11.1", mayNotSee, words)},
		row{of: "3 A feature flag goes", says: "nobody else does", line: "PUT /cms-json/shop-admin/v1/features/product_gallery_video", body: `{"enabled":true}`, as: "manager", bare: always(noRight)},
		row{of: "3 A feature flag goes; 1 rule 9", says: "all are off by default", line: "GET /cms-json/shop-admin/v1/features", as: "admin", bare: ok, text: `"enabled":false`, lacks: always(`"enabled":true`)},
		row{of: "3 A feature flag goes", says: "a flag that does not exist", line: "PUT /cms-json/shop-admin/v1/features", body: `{"nosuch":true}`, as: "admin", bare: always(`400 rest_invalid_param "Invalid parameter(s): nosuch"`)},
	)
}

// addressingRows are the rules below section 4's table.
func addressingRows() []row {
	return []row{
		{of: "4 rule 1; names REST prefix; 4 Paths are relative", says: "the path contains the prefix", line: "GET /cms-json/cms/v2/posts", bare: ok, text: "Hello world"},
		{of: "4 rule 1; names query variable; 1 rule 8", says: "rest_route in the query", line: "GET /?rest_route=/cms/v2/posts", bare: ok, text: "Hello world"},
		{of: "4 rule 1", says: "an empty rest_route is a page", line: "GET /?rest_route=", bare: ok, text: "<html", page: true},
		{of: "4 rule 1", says: "a slug that contains the prefix's word is a page", line: "GET /about-cms-json/", bare: always(`404 page`), text: "<html", page: true},
		{of: "4 rule 1", says: "the prefix further down in the path, outside of the REST root", line: "GET /more/cms-json/cms/v2/posts", bare: always("404 page")},
		{of: "4 rule 1", says: "index permalinks", line: "GET /index.php/cms-json/cms/v2/posts", as: "customer", bare: ok, gate: always(indexForm)},
		{of: "4 rule 1", says: "a rest_route that is a list", line: "GET /?rest_route[]=/cms/v2/posts", bare: always("400 page"), gate: always(noMeaning), loginOnly: always(noMeaning)},
		{of: "4 rule 2; names Addresses are", says: "in a sub-folder, with it", line: "GET /cms-json/cms/v2/posts", base: true, bare: ok, text: "Hello world"},
		{of: "4 rule 2", says: "in a sub-folder, without it", line: "GET /cms-json/cms/v2/posts", base: true, prepare: withoutBase, bare: always(`404 page`), gate: always(notHere), loginOnly: always(notHere)},
		{of: "4 rule 2", says: "in a sub-folder, without it, logged in", line: "GET /cms-json/cms/v2/posts", base: true, as: "admin", prepare: withoutBase, bare: always(`404 page`), gate: always(notHere)},
		{of: "4 rule 3", says: "plain permalinks, query form", line: "GET /index.php?rest_route=/cms/v2/posts", options: plain, bare: ok, text: "Hello world"},
		{of: "4 rule 3", says: "plain permalinks, pretty form", line: "GET /cms-json/cms/v2/posts", options: plain, bare: always(`404 page`), text: "<html"},
		{of: "4 rule 3", says: "pretty permalinks, query form", line: "GET /index.php?rest_route=/cms/v2/posts", as: "editor nonce", bare: ok},
		{of: "4 rule 4", says: "saving the permalinks regenerates the rules", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), prepare: savePermalinks, bare: ok},
		{of: "4 rule 5", says: "the language parameter", line: "GET /cms-json/cms/v2/posts?lang=de", bare: ok, text: "Hello world"},
		{of: "4 rule 6", says: "blocks in a product's description", line: "GET /cms-json/shop/v3/products/<shirt>", as: "manager", bare: ok, text: "cms-block-shop-product-rating"},
		{of: "4 rule 6", says: "blocks in the checkout API", line: "GET /cms-json/shop/store/v1/products", bare: ok, text: "cms-block-shop-product-rating"},
		{of: "4 rule 6", says: "blocks in the variation AJAX route", line: "POST /?shop-ajax=get_variation", body: "product_id=<shirt>", bare: ok, text: "cms-block-shop-product-rating", page: true},
	}
}

// withoutBase sends a row to the address without the sub-folder.
func withoutBase(*world) []edit {
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
		{of: "5 application password", says: "a right one", line: me, as: "admin", bare: ok, text: `"slug":"admin"`},
		{of: "5 application password", says: "a wrong one", line: me, as: "admin wrong password", bare: always(`401 incorrect_password "The provided password is an invalid application password."`), loginOnly: always(noLogin)},
		{of: "5 application password", says: "one of a name that does not exist", line: me, as: "nobody wrong password", bare: always(`401 invalid_username "Unknown username. Check again or try your email address."`), loginOnly: always(noLogin)},
		{of: "5 session cookie and nonce; names nonce header; names cookies that", says: "both", line: me, as: "admin nonce", bare: ok, text: `"slug":"admin"`},
		{of: "5 session cookie and nonce; names nonce variable", says: "the nonce as a variable", line: me, as: "admin nonce variable", bare: ok, text: `"slug":"admin"`},
		{of: "5 session cookie and nonce", says: "a missing nonce", line: me, as: "admin cookie", bare: always(onlyUsers), wordpress: realNoLogin, loginOnly: always(loggedOut)},
		{of: "5 session cookie and nonce; 1 rule 10", says: "a missing nonce on the index of a namespace, which the core's own script reads", line: "GET /cms-json/cms/v2/", as: "admin cookie", bare: ok, text: `"namespace":"cms/v2"`},
		{of: "5 session cookie and nonce", says: "an invalid nonce", line: me, as: "admin bad nonce", bare: always(`400 rest_cookie_invalid_nonce "Cookie check failed: the cookie nonce is invalid."`), text: "cookie nonce is invalid", wordpress: `403 rest_cookie_invalid_nonce "Cookie check failed"`, loginOnly: always(words)},
		{of: "5 OAuth", says: "a signed call of the shop", line: "GET /cms-json/shop/v3/orders", as: "oauth", bare: ok},
		{of: "5 OAuth", says: "a bearer token", line: me, as: "editor bearer", bare: ok, text: `"slug":"editor"`},
		{of: "5 anonymous", says: "the consent log write", line: "POST /cms-json/consent/v1/consent", body: "{}", bare: ok},
		{of: "5 anonymous; 1 rule 2; 6 A payment gateway", says: "a payment notification", line: "POST /cms-json/pay/v1/notify", body: `{"event":"paid"}`, bare: ok},
		{of: "5 anonymous", says: "the withdrawal page", line: "GET /my-account/withdraw-order/", options: func(o *site.Options) { o.Release = "11.1" }, prepare: on("order_withdrawal"), bare: ok, text: "Withdraw from an order", page: true},
		{of: "5 request signature", says: "of the cookie plugin, where none is set up", line: "POST /cms-json/cookie/v1/store-auth", body: "{}", as: "plugin", bare: ok, gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "5 rule 1", says: "the site's own restriction breaks the consent log", line: "POST /cms-json/consent/v1/consent", body: "{}", options: ownLoginOnly, bare: always(onlyUsers), loginOnly: always(words)},
		{of: "5 rule 1", says: "and notifications", line: "POST /cms-json/pay/v1/notify", body: "{}", options: ownLoginOnly, bare: always(onlyUsers), loginOnly: always(words)},
		{of: "5 rule 1", says: "its own list of allowed routes restores the consent log", line: "POST /cms-json/consent/v1/consent", body: "{}", options: ownAllowList, bare: ok},
		{of: "5 rule 1", says: "its own list restores notifications", line: "POST /cms-json/pay/v1/notify", body: "{}", options: ownAllowList, bare: ok},
		{of: "5 rule 1", says: "its own list restores nothing else", line: "GET /cms-json/cms/v2/posts", options: ownAllowList, bare: always(onlyUsers), loginOnly: always(words)},
		{of: "5 rule 1", says: "and lets users in", line: "GET /cms-json/cms/v2/posts", as: "customer", options: ownLoginOnly, bare: ok},
		{of: "5 rule 3", says: "in a sub-folder the cookie is issued for the install path", line: "POST /cms-login.php", body: "log=admin&pwd=<password>", base: true, bare: always("302"), cookie: `^(cms|wordpress)_logged_in_.*; Path=/blog/;`, page: true},
		{of: "5 rule 3", says: "a cookie that reaches the call counts", line: me, as: "admin nonce", base: true, bare: ok, text: `"slug":"admin"`},
		{of: "5 rule 3", says: "an install path beside the site's address: the cookie is issued for the install path", line: "POST /core/cms-login.php", body: "log=admin&pwd=<password>", options: installed, bare: always("302"), cookie: `^(cms|wordpress)_logged_in_.*; Path=/core/;`, page: true},
		{of: "5 rule 3", says: "so the cookie of an administrator does not reach the call", line: me, as: "admin lost", options: installed, bare: always(onlyUsers), wordpress: lostNonce, loginOnly: always(loggedOut)},
		{of: "5 rule 4", says: "the four settings set path and domain", line: "POST /core/cms-login.php", body: "log=admin&pwd=<password>", options: repaired, bare: always("302"), cookie: `^(cms|wordpress)_logged_in_.*; Path=/; Domain=127\.0\.0\.1;`, page: true},
		{of: "5 rule 4", says: "of the dashboard's cookie, too", line: "POST /core/cms-login.php", body: "log=admin&pwd=<password>", options: repaired, bare: always("302"), cookie: `^(cms|wordpress)_[0-9a-f]+=.*; Path=/; Domain=127\.0\.0\.1;`, page: true},
		{of: "5 rule 4", says: "so the call is logged in", line: me, as: "admin nonce", options: repaired, bare: ok, text: `"slug":"admin"`},
		{of: "5 rule 3", says: "where it does not, nobody is logged in", line: me, base: true, bare: always(onlyUsers), wordpress: realNoLogin},
	}
}

// inBatch is the error of an id in the answer to a batch.
func inBatch(message string) string {
	return `"error":{"code":"` + invalidID + `","data":{"status":400},"message":"` + message + `"}`
}

// errorRows are section 7.
func errorRows() []row {
	return []row{
		{of: "7 400 shop_rest_shop_order_invalid_id", says: "400, ID is invalid.", line: "PUT /cms-json/shop/v3/orders/999999", body: "{}", as: "manager", bare: since("10.8", oldInvalidID, notAnOrder), gate: since("10.8", noOrder, words)},
		{of: "7 400 shop_rest_shop_order_invalid_id", says: "in a batch each item has its own", line: "POST /cms-json/shop/v3/orders/batch", body: `{"update":[{"id":999999}]}`, as: "manager", bare: ok, shows: since("10.8", inBatch("Invalid ID."), inBatch("ID is invalid."))},
		{of: "7 409 shop_rest_checkout_total_mismatch", says: "409, no order is confirmed", line: checkout, body: `{"expected_total":"1"}`, prepare: filledCart, bare: since("11.1", "200", `409 shop_rest_checkout_total_mismatch "The total has changed from 1 to 2000. Please review your order."`), gate: always(staleTotal)},
		{of: "7 403 rest_forbidden; 2 error; 7 The body of an error", says: "403, a guard that requires a right", line: "GET /cms-json/consent/v1/log", as: "customer", bare: always(noRight)},
		{of: "7 401 or 403 rest_not_logged_in", says: "401, REST is limited to logged-in users", line: "GET /cms-json/cms/v2/posts", options: ownLoginOnly, bare: always(onlyUsers), loginOnly: always(words)},
		{of: "7 400 a nonce error", says: "400, an outdated nonce", line: "POST /cms-json/cms/v2/posts", body: `{"title":"x"}`, as: "editor bad nonce", bare: always(`400 rest_cookie_invalid_nonce "Cookie check failed: the cookie nonce is invalid."`), text: "nonce is invalid", wordpress: `403 rest_cookie_invalid_nonce "Cookie check failed"`, loginOnly: always(words)},
		{of: "7 404 left open", says: "an unknown route", line: "GET /cms-json/no/such/route", as: "customer", bare: always(noRoute)},
		{of: "7 404 left open", says: "stale rewrite rules", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: always(`404 page`), text: "<html"},
		{of: "7 404 left open", says: "stale rewrite rules, query form", line: "GET /?rest_route=/cms/v2/posts", as: "customer", options: fault("stale-rewrites"), bare: ok},
		{of: "7 404 left open", says: "a blocked REST root", line: "GET /cms-json/", as: "customer", options: fault("blocked-root"), bare: always(noRoute)},
		{of: "7 404 left open", says: "a blocked REST root, query form", line: "GET /?rest_route=/", as: "customer", options: fault("blocked-root"), bare: always(noRoute)},
		{of: "7 404 left open", says: "a blocked REST root, its schema", line: "OPTIONS /cms-json/", as: "customer", options: fault("blocked-root"), bare: always(noRoute)},
		{of: "7 500 left open", says: "500, the language parameter and editor calls", line: "GET /cms-json/cms/v2/taxonomies?lang=de", as: "editor nonce", options: fault("multilingual"), bare: always(`500 internal_server_error "There has been a critical error on this website."`)},
		{of: "7 500 left open", says: "500, in a form body", line: "POST /cms-json/cms/v2/posts", body: "title=x&lang=de", as: "editor nonce", options: fault("multilingual"), bare: always(`500 internal_server_error "There has been a critical error on this website."`)},
		{of: "7 500 left open", says: "without the parameter", line: "GET /cms-json/cms/v2/taxonomies", as: "editor nonce", options: fault("multilingual"), bare: ok},
		{of: "7 403 none", says: "403, a firewall blocks the REST root", line: "GET /cms-json/cms/v2/posts", options: fault("firewall"), bare: always(`403 page`), text: "Forbidden"},
		{of: "7 403 none", says: "403, query form", line: "GET /?rest_route=/", options: fault("firewall"), bare: always(`403 page`), text: "Forbidden"},
		{of: "7 403 none", says: "403, so that nobody can be asked about", line: "GET /cms-json/cms/v2/posts", as: "customer", options: fault("firewall"), bare: always(`403 page`), loginOnly: always(words)},
	}
}

// versionRows are section 9.
func versionRows() []row {
	item := `{"line_items":[{"id":<item>,"product_id":%s}]}`
	refundSchema, refundSchemaLacks := since("11.1", `"amount"`, `"compute_totals":{`), since("11.1", "compute_totals", "")
	namespaces := map[string]string{"shop/v1": "shop namespaces", "shop/v2": "shop namespaces", "shop/v3": "shop namespaces", "cms/v2": "core namespace", "cms-abilities/v1": "abilities namespace"}
	searches := map[string]string{"exclude=<shirt>": `"name":"Mug"`, "include=<mug>": `"name":"Mug"`, "type=simple": `"name":"Mug"`, "status=draft": "[]"}
	all := []row{
		{of: "9 rule 1", says: "v1 validates the record type", line: "PATCH /cms-json/shop/v1/orders/<sub>", body: "{}", as: "manager", bare: always(notAnOrder)},
		{of: "9 rule 2", says: "compute_totals in the schema of refunds", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", bare: ok, shows: refundSchema, lacks: refundSchemaLacks},
		{of: "9 rule 2", says: "compute_totals in the schema of refunds, logged in", line: "OPTIONS /cms-json/shop/v3/orders/0/refunds", as: "manager", bare: ok, shows: refundSchema, lacks: refundSchemaLacks},
		{of: "9 rule 2", says: "the withdrawal flow is off by default", line: "GET /my-account/withdraw-order/", bare: always(`404 page`), page: true},
		{of: "9 rule 3", says: "abilities before core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.8"), bare: always(noRoute)},
		{of: "9 rule 3", says: "abilities before core 6.9, by the plugin", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: func(o *site.Options) { o.Core, o.Abilities = "6.8", true }, bare: ok, text: "shop/orders-query"},
		{of: "9 rule 3", says: "abilities from core 6.9", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", options: core("6.9"), bare: ok},
		{of: "9 product of an order item", says: "another product resets the variation from 11.1", line: "PUT /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<mug>"), as: "manager", bare: ok, shows: since("11.1", `"variation_id":<size>},{`, `"variation_id":0},{`)},
		{of: "9 product of an order item", says: "the same product keeps it", line: "PATCH /cms-json/shop/v3/orders/<order>", body: fmt.Sprintf(item, "<shirt>"), as: "manager", bare: ok, text: `"variation_id":<size>},{`},
		{of: "9 product of an order item", says: "an update that leaves the product keeps it", line: "PATCH /cms-json/shop/v3/orders/<order>", body: `{"line_items":[{"id":<item>,"quantity":3}]}`, as: "manager", bare: ok, text: `"variation_id":<size>},{`},
		{of: "9 currency symbols", says: "the symbol of MOP", line: "GET /cms-json/shop/v3/data/currencies/mop", as: "manager", bare: ok, shows: since("11.1", `"symbol":"P"`, `"symbol":"MOP$"`)},
		{of: "9 currency symbols", says: "the symbol of ZMW", line: "GET /cms-json/shop/v3/data/currencies/zmw", as: "manager", bare: ok, shows: since("11.1", `"symbol":"ZK"`, `"symbol":"K"`)},
		{of: "9 currency symbols", says: "the symbol of MOP in an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"currency":"MOP"}`, as: "manager", bare: ok, shows: since("11.1", `"currency_symbol":"P"`, `"currency_symbol":"MOP$"`)},
		{of: "9 currency symbols", says: "the symbol of ZMW in an order", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"currency":"ZMW"}`, as: "manager", bare: ok, shows: since("11.1", `"currency_symbol":"ZK"`, `"currency_symbol":"K"`)},
		{of: "9 currency symbols", says: "a filter's symbol stays", line: "GET /cms-json/shop/v3/data/currencies/mop", as: "manager", options: func(o *site.Options) { o.Symbols = map[string]string{"MOP": "$M"} }, bare: ok, text: `"symbol":"$M"`},
		{of: "9 rule 5", says: "4.4.1 exposes the upload route", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.1"), bare: ok, gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "9 rule 5", says: "4.4.2 does not", line: "POST /cms-json/cookie/v1/upload-logo", body: "x", options: cookie("4.4.2"), bare: always(noRoute), gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "9 rule 6", says: "not before the platform's 7.0", line: "POST /cms-json/cms/v2/posts?lang=de", body: `{"title":"x"}`, as: "editor nonce", options: func(o *site.Options) { o.Core, o.Fault = "6.9", "multilingual" }, bare: made},
		{of: "9 rule 6", says: "the multilingual plugin and the block editor", line: "POST /cms-json/cms/v2/posts?lang=de", body: `{"title":"x"}`, as: "editor nonce", options: fault("multilingual"), bare: always(`500 internal_server_error "There has been a critical error on this website."`)},
	}
	for _, condition := range slices.Sorted(maps.Keys(searches)) {
		all = append(all, row{
			of: "9 product search", says: "OR groups in parentheses from 11.1, with " + condition[:strings.Index(condition, "=")], line: "GET /cms-json/shop/v3/products?search=shirt+or+mug&" + condition,
			as: "manager", bare: ok, shows: since("11.1", `"name":"Shirt"`, searches[condition]), lacks: since("11.1", "", `"name":"Shirt"`),
		})
	}
	for _, version := range slices.Sorted(maps.Keys(namespaces)) {
		all = append(all, row{of: "9 rule 1; names " + namespaces[version], says: "the namespace " + version, line: "GET /cms-json/" + version, as: "customer", bare: ok, text: `"namespace":"` + version + `"`})
	}
	return all
}
