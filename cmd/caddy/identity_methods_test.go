package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// methods are the ways to authenticate, on routes where they count and where they do not
// (docs/project/interface 5; docs/platform III.8).
func (w *world) methods() []struct {
	name, line string
	edits      []edit
	want       string // with login_only
} {
	cookie, nonce := w.session("manager")
	key, secret, _ := strings.Cut(w.info.Keys.ReadWriteKey, ":")
	query := fmt.Sprintf("?consumer_key=%s&consumer_secret=%s", key, secret)
	wrong := withKey(key + ":cs_wrong")
	const orders, byQuery, posts = "GET /cms-json/shop/v3/orders", "GET /?rest_route=/shop/v3/orders", "GET /cms-json/cms/v2/posts"
	const anonymous, noUser = "401 rest_not_logged_in", "401 incorrect_password"
	badSignature := func(r *http.Request) {
		oauth1(w.info.Keys.ReadWriteKey)(r)
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "oauth_signature=\"", "oauth_signature=\"x", 1))
	}
	return []struct {
		name, line string
		edits      []edit
		want       string
	}{
		{"application password, core", posts, []edit{w.as("manager")}, "passed 200"},
		{"application password, shop", orders, []edit{w.as("manager")}, "passed 200"},
		{"application password, query form", byQuery, []edit{w.as("manager")}, "passed 200"},
		{"cookie and nonce, core", posts, []edit{cookie, nonce}, "passed 200"},
		{"cookie and nonce, shop", orders, []edit{cookie, nonce}, "passed 200"},
		{"cookie and nonce as a parameter", posts + "?_cmsnonce=" + w.nonceOf(nonce), []edit{cookie}, "passed 200"},
		{"cookie and nonce as a folded parameter", posts + "?%20_cmsnonce=" + w.nonceOf(nonce), []edit{cookie}, "passed 200"},
		{"cookie, nonce parameter wins over the header", posts + "?_cmsnonce=0123456789", []edit{cookie, nonce}, "400 rest_cookie_invalid_nonce"},
		{"cookie alone", posts, []edit{cookie}, anonymous},
		{"cookie and an empty nonce", posts, []edit{cookie, header("X-CMS-Nonce", "")}, "400 rest_cookie_invalid_nonce"},
		{"nonce alone", posts, []edit{nonce}, anonymous},
		{"cookie in the checkout API", "GET /cms-json/shop/store/v1/cart", []edit{cookie}, "passed 200"},
		{"forged cookie in the checkout API", "GET /cms-json/shop/store/v1/cart", []edit{header("Cookie", "cms_logged_in_x=admin%7C1%7Cx%7Cx")}, anonymous},
		{"cart token alone", "GET /cms-json/shop/store/v1/cart", []edit{header("Cart-Token", "x")}, anonymous},
		{"shop key, Basic", orders, []edit{withKey(w.info.Keys.ReadWriteKey)}, "passed 200"},
		{"shop key, query", orders + query, nil, "passed 200"},
		{"shop key, analytics", "GET /cms-json/shop-analytics/orders", []edit{withKey(w.info.Keys.ReadKey)}, "passed 200"},
		{"write-only key", "POST /cms-json/shop/v3/orders", []edit{withKey(w.info.Keys.WriteKey)}, "passed 201"},
		{"shop key, wrong secret", orders, []edit{wrong}, "401 shop_rest_authentication_error"},
		{"unknown shop key", orders, []edit{withKey("ck_no:cs_no")}, anonymous},
		{"shop key, half of it", orders + "?consumer_key=" + key, nil, anonymous},
		{"shop key in a body", "POST /cms-json/shop/v3/orders", []edit{body(asForm, query[1:])}, anonymous},
		{"shop key in the core", posts, []edit{withKey(w.info.Keys.ReadWriteKey)}, noUser},
		{"shop key in the core, query", posts + query, nil, anonymous},
		{"shop key, query form", byQuery, []edit{withKey(w.info.Keys.ReadWriteKey)}, noUser},
		{"shop key and the marker", posts + "?x=cms-json/shop/v3", []edit{withKey(w.info.Keys.ReadWriteKey)}, "400 rest_ambiguous_request"},
		{"shop key and the marker, to be cleaned", posts + "?x=cms-json/sh%0aop/v3", []edit{withKey(w.info.Keys.ReadWriteKey)}, "400 rest_ambiguous_request"},
		{"OAuth 1, shop", orders, []edit{oauth1(w.info.Keys.ReadWriteKey)}, "passed 200"},
		{"OAuth 1, bad signature", orders, []edit{badSignature}, "passed 401"},
		{"OAuth 1, core", posts, []edit{oauth1(w.info.Keys.ReadWriteKey)}, anonymous},
		{"OAuth 1, query form", byQuery, []edit{oauth1(w.info.Keys.ReadWriteKey)}, anonymous},
		{"bearer token", posts, w.caller("manager bearer"), "passed 200"},
		{"wrong bearer token", posts, []edit{header("Authorization", "Bearer x")}, "401 *"},
		{"Jetpack", posts + "?_for=jetpack&token=a:1:1&signature=x", nil, anonymous},
		{"MCP key, core", posts, []edit{header("X-MCP-API-Key", w.info.Keys.ReadWriteKey)}, anonymous},
		{"password of staging and cookie", posts, []edit{cookie, nonce, func(r *http.Request) { r.SetBasicAuth("staging", "x") }}, "passed 200"},
		{"wrong password, shop", orders, []edit{func(r *http.Request) { r.SetBasicAuth("manager", "x") }}, anonymous},
		{"wrong password, shop, query form", byQuery, []edit{func(r *http.Request) { r.SetBasicAuth("manager", "x") }}, "401 incorrect_password"},
		{"wrong password and query key", orders + query, []edit{func(r *http.Request) { r.SetBasicAuth("manager", "x") }}, "passed 200"},
		{"two login cookies", posts, []edit{cookie, nonce, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "cms_logged_in_b", Value: "x"}) }}, "passed 200"},
		{"a folded login cookie", posts, []edit{header("Cookie", "cms.logged_in_a=1"), nonce}, "400 rest_ambiguous_request"},
	}
}

// body replaces the body of a request.
func body(kind, text string) edit {
	return func(r *http.Request) {
		other, err := http.NewRequest(r.Method, r.URL.String(), strings.NewReader(text)) //nolint:noctx // only its body is used
		if err == nil {
			r.Body, r.GetBody, r.ContentLength = other.Body, other.GetBody, other.ContentLength
			r.Header.Set("Content-Type", kind)
		}
	}
}

// nonceOf is the nonce that an edit sends.
func (w *world) nonceOf(e edit) string {
	r := w.request(w.gateway, "GET /", "", e)
	return r.Header.Get(w.branded("X-CMS-Nonce"))
}

// TestIdentity_Methods: with login_only each way counts exactly where it counts on the
// platform. A key is a user, and never a role.
func TestIdentity_Methods(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only", behind)
	for _, m := range w.methods() {
		r := w.gate(m.line, "", m.edits...)
		if got := outcome(r); got != m.want && (!strings.HasSuffix(m.want, "*") || r.reached != 0 || !strings.HasPrefix(got, strings.TrimSuffix(m.want, "*"))) {
			t.Errorf("%s: %s (%.200s), want %s", m.name, got, r.body, m.want)
		}
		if strings.HasPrefix(m.want, "passed 2") {
			if bare := w.bare(m.line, "", m.edits...); bare.status != r.status && !strings.Contains(m.name, "OAuth") {
				t.Errorf("%s: bare %d", m.name, bare.status)
			}
		}
	}

	roles := newWorld(t, site.Options{Release: "10.7"}, "allow role shop_manager,administrator /shop/v3/**")
	for caller, want := range map[string]string{
		"manager": "passed 200", "administrator": "passed 200", "customer": "403 rest_forbidden", "editor": "403 rest_forbidden",
		"read-write key": "403 rest_forbidden", "OAuth 1": "403 rest_forbidden", "anonymous": "403 rest_forbidden", "cookie": "passed 200",
	} {
		if r := roles.gate("GET /cms-json/shop/v3/orders", "", roles.callers()[caller]); outcome(r) != want {
			t.Errorf("%s: %s, want %s", caller, outcome(r), want)
		}
	}
}

// TestIdentity_Jetpack: calls that Jetpack signs count only with credentials jetpack, and
// never as a role.
func TestIdentity_Jetpack(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only\ncredentials jetpack\nallow role administrator /cms/v2/taxonomies")
	const tunnel = "?_for=jetpack&token=a:1:1&signature=x"
	w.gate("GET /cms-json/cms/v2/posts"+tunnel, "").passed().unasked()
	w.gate("GET /cms-json/cms/v2/taxonomies"+tunnel, "").refusedWith(403, "rest_forbidden")
	w.gate("GET /cms-json/cms/v2/posts?_for=jetpack&token=a:1:1", "").refusedWith(401, "rest_not_logged_in")
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d%s", w.info.Subscriptions[0], tunnel), "{}").stopped().want(503)
}
