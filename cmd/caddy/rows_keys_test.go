package main

import "github.com/restwarden/restwarden/cmd/platform/site"

// keyRows are the keys of the shop: on which addresses they count, by release (docs/project/interface
// 9, REST-request detection).
func keyRows() []row {
	const of = "9 REST-request detection"
	noKey := since[answer]("11.1", `401 invalid_username "Unknown username. Check again or try your email address."`, "200")
	either, closed := since("11.1", words, same), since("11.1", noLogin, same)
	orders, notes := "/shop/v3/orders", "/shop-analytics/admin/notes"
	return []row{
		{of: of, says: "a key of the shop, pretty form", line: "GET /cms-json" + orders, as: "key", bare: ok, text: `"line_items"`},
		{of: of, says: "on a namespace beside the shop's, pretty form", line: "GET /cms-json" + notes, as: "key", bare: ok, text: "[]"},
		{of: of, says: "on one of another plugin for the shop, pretty form", line: "GET /cms-json/shop-admin/v1/features", as: "key", bare: always(noRight)},
		{of: of, says: "a key counts in the query form from 11.1 on", line: "GET /?rest_route=" + orders, as: "key", bare: noKey, loginOnly: closed},
		{of: of, says: "on a namespace beside the shop's, query form", line: "GET /?rest_route=" + notes, as: "key", bare: noKey, loginOnly: closed},
		{of: of, says: "on one of another plugin for the shop, query form", line: "GET /?rest_route=/shop-admin/v1/features", as: "key", bare: since("11.1", noKey(""), noRight), loginOnly: closed},
		{of: of, says: "plain permalinks, query form", line: "GET /?rest_route=" + orders, as: "key", options: plain, bare: noKey, loginOnly: closed},
		{of: of, says: "a write in the query form", line: "PUT /?rest_route=/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "key", bare: noKey, gate: either, loginOnly: closed},
		{of: of, says: "a write to a subscription as an order, query form", line: "PUT /?rest_route=/shop/v3/orders/<sub>", body: `{"status":"completed"}`, as: "key", bare: since("11.1", noKey(""), notAnOrder), gate: always(words), loginOnly: since("11.1", noLogin, words)},
		{of: of, says: "a key does not count for the core's routes", line: "GET /cms-json/cms/v2/users/me", as: "key", bare: always(noKey("")), loginOnly: always(noLogin)},
		{of: "5 OAuth", says: "an update, signed by OAuth 1, of an order that a list of orders has shown", line: "PUT /cms-json/shop/v3/orders/<third>", body: `{"status":"completed"}`, as: "oauth", prepare: listed, bare: ok},
		{of: "names text that makes", says: "in a query, a key counts on the core's route, too", line: "GET /cms-json/cms/v2/posts?x=cms-json/shop/", as: "key", bare: ok, gate: always(marker)},
		{of: "names the shop's tool server", says: "its tools", line: "POST /cms-json/shop/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, as: "tools", options: func(o *site.Options) { o.ToolServer = true }, bare: ok, text: "orders-update"},
	}
}

// listed lets the gateway see a list of orders at each address of the shop.
func listed(w *world) []edit {
	if w.gateway != "" {
		w.gate("GET /cms-json/shop/v3/orders", "", w.as("admin")).want(200)
		w.gate("GET /?rest_route=/shop/v3/orders", "", w.as("admin")).want(200)
	}
	return nil
}
