package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func core(version string) func(*site.Options) { return func(o *site.Options) { o.Core = version } }
func cookie(version string) func(*site.Options) {
	return func(o *site.Options) { o.CookiePlugin = version }
}
func fault(name string) func(*site.Options) { return func(o *site.Options) { o.Fault = name } }
func plain(o *site.Options)                 { o.Permalinks = "plain" }
func ownLoginOnly(o *site.Options)          { o.LoginOnly = true }
func ownAllowList(o *site.Options) {
	o.LoginOnly, o.LoginAllow = true, []string{"/consent/v1/consent", "/pay/v1/notify"}
}

// installed puts the platform's own scripts under another path than the site's. repaired
// has the settings that make up for it (docs/project/interface 5, rules 3 and 4).
func installed(o *site.Options) { o.Install = "/core" }

func repaired(o *site.Options) {
	installed(o)
	o.CookiePath, o.CookieDomain = "/", "127.0.0.1"
}

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
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "UUID", uuid, 1)
	}}
}

// rows are the statements of docs/project/interface.md that a request can show.
func rows() []row {
	var all []row
	for _, section := range [][]row{recordRows(), endpointRows(), shopRows(), pluginRows(), addressingRows(), authenticationRows(), errorRows(), versionRows(), keyRows(), screenRows(), eventRows(), configuredRows()} {
		all = append(all, section...)
	}
	return all
}

const (
	noRoute      answer = `404 rest_no_route "No route was found matching the URL and request method."`
	noRight      answer = `403 rest_forbidden "Sorry, you are not allowed to do that."`
	notAnOrder   answer = `400 shop_rest_shop_order_invalid_id "ID is invalid."`
	oldInvalidID answer = `400 shop_rest_shop_order_invalid_id "Invalid ID."`
	onlyUsers    answer = `401 rest_not_logged_in "Only authenticated users can access the REST API."`
	realNoLogin  answer = `401 rest_not_logged_in "You are not currently logged in."`
	lostNonce    answer = `403 rest_cookie_invalid_nonce "Cookie check failed"`
	noMeaning    answer = `400 rest_ambiguous_request "The request has no certain meaning."`
)
