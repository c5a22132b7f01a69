package scopes

import "strings"

// known is a route that calls are made of, with the methods to try.
type known struct {
	route   string
	methods string
	rpc     bool // a door of agents: the body is a message
	// group is the parameter for which the platform takes the word of the route, and at its segment. A parameter of this name
	// takes its place.
	group string
	at    int
}

const all = "GET POST PUT PATCH DELETE OPTIONS"

// routes are those whose scopes differ most: near ones, other versions, what widens a scope.
var routes = []known{
	{route: "/wp/v2/posts", methods: "GET POST OPTIONS"},
	{route: "/wp/v2/posts/11", methods: all},
	{route: "/wp/v2/posts/11/autosaves", methods: "GET POST"},
	{route: "/wp/v2/users", methods: "GET POST"},
	{route: "/wp/v2/users/2", methods: "GET POST PUT DELETE"},
	{route: "/wp/v2/users/2/application-passwords", methods: "GET POST"},
	{route: "/wp/v2/settings", methods: "GET POST"},
	{route: "/wp/v2/users/me/application-passwords", methods: "GET POST", group: "user_id", at: 3},
	{route: "/wp/v2/plugins/akismet", methods: "GET PUT", group: "plugin", at: 3},
	{route: "/wp/v2/themes/twenty", methods: "GET POST", group: "stylesheet", at: 3},
	{route: "/wp/v2/types/page", methods: "GET", group: "type", at: 3},
	{route: "/wc/v3/orders", methods: "GET POST"},
	{route: "/wc/v3/orders/5", methods: all},
	{route: "/wc/v3/orders/5/notes", methods: "GET POST"},
	{route: "/wc/v3/orders/5/refunds", methods: "GET POST"},
	{route: "/wc/v2/orders/5", methods: all},
	{route: "/wc/v3/products", methods: "GET POST"},
	{route: "/wc/v3/products/7/variations/8", methods: "GET PUT DELETE"},
	{route: "/wc/v3/customers", methods: "GET POST"},
	{route: "/wc/v3/webhooks", methods: "GET POST"},
	{route: "/wc/v3/webhooks/3", methods: "GET PUT DELETE"},
	{route: "/wc/v3/settings/general", methods: "GET POST"},
	{route: "/wc/v3/payment_gateways/bacs", methods: "GET PUT"},
	{route: "/wc/v3/system_status/tools/clear", methods: "GET PUT"},
	{route: "/wc-admin/options", methods: "GET POST"},
	{route: "/wc-analytics/orders", methods: "GET"},
	{route: "/wc-analytics/settings/x", methods: "GET POST"},
	{route: "/wc/store/v1/cart", methods: "GET"},
	{route: "/wc/store/v1/cart/add-item", methods: "POST"},
	{route: "/", methods: "GET"},
	{route: "/wp/v2", methods: "GET"},
	{route: "/acme/v1/things/x", methods: all},
	{route: "/oembed/1.0/embed", methods: "GET"},
	{route: "/wp-abilities/v1/abilities", methods: "GET"},
	{route: "/mcp/mcp-adapter-default-server", methods: "POST", rpc: true},
	{route: "/woocommerce-agent/v1/mcp", methods: "POST", rpc: true},
	{route: "/woocommerce/mcp", methods: "POST", rpc: true},
}

// message is what an agent sends to its door, as members of a call and as they are sent.
const message = `{"id":1,"jsonrpc":"2.0","method":"tools/list"}`

// uncertain are targets of a route that have no certain reading (docs/reading, "What is
// refused"). %s is the route, without its slash.
var uncertain = []string{
	"/wp-json/./%s", "/wp-json//%s", "/wp-json/x/../%s", "/index.php/wp-json/%s", "/%%77p-json/%s", "/wp-json%%2F%s",
	"/WP-JSON/%s", "/?REST_ROUTE=/%s", "/?rest_route=/wp/v2/types&rest_route=/%s", "/wp-json/wp/v2/types?rest_route=/%s",
	"/?rest_route[]=/%s", "/?a=1;rest_route=/%s", "/?rest_route=//%s", "/?rest_route=/%s%%20", "/?rest_route=/%%2577p%s",
	"/wp-json/%s/../..", "/?rest_route=/x&utm_source=a/%s", "/wp-json/%s?x=wp-json/wc/",
}

// pages are targets that are no calls, the shop's older interface among them.
var pages = []string{
	"/", "/about/", "/?p=1", "/shop/mug/", "/index.php", "/wp-login.php", "/wp-cron.php", "/wp-admin/admin-ajax.php?action=x",
	"/wc-api/v3/orders", "/wc-api/v3/orders/5", "/wc-api/v1/", "/wc-api/WC_Gateway_Paypal/", "/WC-API/v3/orders", "//wc-api/v3/orders",
	"/?wc-api-version=3&wc-api-route=/orders", "/index.php?wc-api-version=3&wc-api-route=/orders", "/?wc-api=WC_Gateway_Paypal", "/about-wp-json/",
}

// xmlrpc are targets of the older interface of the platform itself. Those with dot segments
// have no certain reading, whatever they lead to.
var xmlrpc = strings.Fields(`/xmlrpc.php /xmlrpc.php?rsd /xmlrpc.php?a=b //xmlrpc.php /xmlrpc.php/ /xmlrpc.php/x /%78mlrpc.php /xmlrpc%2Ephp
	/./xmlrpc.php /x/../xmlrpc.php`)

// loads are parameters of calls that write, around the borders of conditions.
var loads = [][]Member{
	nil,
	{{Path: "status", Value: Value{Text: "processing"}}},
	{{Path: "status", Value: Value{Text: "completed"}}},
	{{Path: "status", Value: Value{Text: "cancelled"}}},
	{{Path: "status", Value: Value{Text: "completed"}}, {Path: "customer_note", Value: Value{Text: "hello"}}},
	{{Path: "status", Value: Value{Text: "completed"}}, {Path: "billing.email", Value: Value{Text: "a@example.test"}}},
	{{Path: "status", Value: Value{Text: "completed"}}, {Path: "billing.email", Value: Value{Text: "a"}}, {Path: "billing.phone", Value: Value{Text: "1"}}},
	{{Path: "customer_note", Value: Value{Text: "hello"}}},
	{{Path: "amount", Value: Value{Text: "100"}}},
	{{Path: "amount", Value: Value{Text: "100.00"}}},
	{{Path: "amount", Value: Value{Text: "100.01"}}},
	{{Path: "amount", Value: Value{Text: "1e1"}}},
	{{Path: "amount", Value: Value{Text: "-5"}}},
	{{Path: "amount", Value: Value{Text: "9"}}, {Path: "reason", Value: Value{Text: "x"}}},
	{{Path: "amount", Value: Value{Text: " 5"}}},
}

// literals are more of them, which only JSON has.
var literals = [][]Member{
	{{Path: "status", Value: Value{Text: "null", Literal: true}}},
	{{Path: "status", Value: Value{Text: "true", Literal: true}}},
	{{Path: "status", Value: Value{Text: `["completed"]`, Literal: true}}},
	{{Path: "amount", Value: Value{Text: "100", Literal: true}}},
	{{Path: "amount", Value: Value{Text: "1e2", Literal: true}}},
	{{Path: "amount", Value: Value{Text: "100.5", Literal: true}}},
	{{Path: "amount", Value: Value{Text: "null", Literal: true}}},
}
