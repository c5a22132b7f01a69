package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

const coverageHead = `# Coverage of the interface

Each row below is a statement of [interface.md](interface.md) as a request that the tests send to the bare reference platform and through the gateway, for the releases
10.7, 10.8 and 11.1 and under both sets of names (` + "`go test ./cmd/caddy -run TestDocument`" + `, which also keeps this page as it
is). The last two columns say what the gateway makes of it with its defaults, and with ` + "`login_only`" + `:

- **same**: forwarded, and answered byte for byte as the bare platform answers (addresses and random keys aside)
- **words**: refused by the gateway in the words of the bare platform
- **redacted**: forwarded, the stored secrets of the answer hidden
- a status and a code: refused by the gateway, nothing reached the platform, no record changed

`

// outOfReach are the rows that no REST request can show.
var outOfReach = [][3]string{
	{"1.6", "the command line", "no HTTP"},
	{"2, meta key", "where application passwords are stored", "inside the platform"},
	{"4, rules 4.7", "registration of block types and patterns, and the filter shop_should_register_blocks", "inside the platform"},
	{"4, rules 4.6 (part)", "blocks in product webhooks", "sent by the platform, not through the gateway"},
	{"5.2", "the hook rest_authentication_errors", "inside the platform"},
	{"5.5", "mixed schemes of site and platform address", "a setting; the gateway reports it (log and metric, tested with the adapter)"},
	{"6 (part)", "product webhooks", "sent by the platform, not through the gateway"},
	{"8", "rate limits, maximum per_page, sizes, clock tolerance", "left open; the gateway's own limits are tested with their policies"},
	{"9.4 analytics page", "request-derived properties of the analytics page's output", "a page of the dashboard"},
	{"9.4 embed block", "the embed block in the e-mail editor", "an editor's block and e-mails"},
	{"9.4 tags", "personalization-tag callbacks", "inside the platform"},
	{"9.7", "the policy for retiring old versions", "left open"},
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

// rows are the statements of docs/interface.md that a request can show.
func rows() []row {
	var all []row
	for _, section := range [][]row{recordRows(), endpointRows(), shopRows(), pluginRows(), addressingRows(), authenticationRows(), errorRows(), versionRows()} {
		all = append(all, section...)
	}
	return all
}

const refundUnsupported = "400 shop_rest_compute_totals_unsupported"
