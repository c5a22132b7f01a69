package caller

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

const (
	usersMe = "/wp/v2/users/me"
	orders  = "/wc/v3/orders"
)

// TestClaims_WhatIsAsked: which credentials count on which route, at the edges.
func TestClaims_WhatIsAsked(t *testing.T) {
	nobody, user, key := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, adminBody), asktest.Answering(200, `[]`)
	jetpack := Own{Jetpack: true}
	sso := Own{Headers: []string{"X-Sso"}, Cookies: []string{"sso"}}
	for name, test := range map[string]struct {
		backend     *asktest.Platform
		credentials Own
		target      string
		headers     []string
		kind        Kind
		asked       string // route and query of the question; "" for none
	}{
		"tool key, route in capitals":       {key, Own{}, "/wp-json/WooCommerce/MCP", []string{"X-MCP-API-Key: a:b"}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"tool key behind the tool's route":  {nobody, Own{}, "/wp-json/woocommerce/mcp-x", []string{"X-MCP-API-Key: a:b"}, Anonymous, usersMe + "?context=edit"},
		"tool key without a colon":          {nobody, Own{}, "/wp-json/woocommerce/mcp", []string{"X-MCP-API-Key: ab"}, Anonymous, usersMe + "?context=edit"},
		"shop key in v1":                    {key, Own{}, "/wp-json/wc/v1/orders", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key on the namespace":         {key, Own{}, "/wp-json/wc/v3", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key in the query":             {key, Own{}, "/wp-json/wc/v3/orders?consumer_key=ck_1&consumer_secret=cs_1", nil, KeyHolder, orders + "?per_page=1&_fields=id&consumer_key=ck_1&consumer_secret=cs_1"},
		"shop key with a plus in base64":    {key, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic Y2tfPj4+OmNzXzE="}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key among other letters":      {key, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic \u0141Y2tfMTpjc18x"}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a plugin's version":      {key, Own{}, "/wp-json/wc/gc/v1/cards", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a plugin's namespace":    {key, Own{}, "/wp-json/wc-bookings/v1/bookings", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key in the checkout":          {key, Own{}, "/wp-json/wc/store/v1/cart", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a longer word":           {nobody, Own{}, "/wp-json/wcpay/v1/orders", []string{shopKey}, Anonymous, usersMe + "?context=edit"},
		"shop key, the word alone":          {nobody, Own{}, "/wp-json/wc", []string{shopKey}, Anonymous, usersMe + "?context=edit"},
		"a key without its secret":          {nobody, Own{}, "/wp-json/wc/v3/orders?consumer_key=ck_1", []string{basicAuth}, Anonymous, usersMe + "?context=edit"},
		"a secret without its key":          {nobody, Own{}, "/wp-json/wc/v3/orders?consumer_secret=cs_1", []string{basicAuth}, Anonymous, usersMe + "?context=edit"},
		"a key and no colon":                {nobody, Own{}, "/wp-json/wc/v3/orders", []string{"Authorization: Basic Y2tfMQ=="}, Anonymous, usersMe + "?context=edit"},
		"OAuth 1, timestamp alone":          {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_timestamp=1", nil, Unverified, ""},
		"OAuth 1, signature alone":          {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_signature=x", nil, Unverified, ""},
		"OAuth 1, method alone":             {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_signature_method=x", nil, Unverified, ""},
		"login name with c":                 {nobody, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic Y2FybDpwdw=="}, Anonymous, usersMe + "?context=edit"},
		"checkout in capitals":              {cartOf("7"), Own{}, "/wp-json/WC/Store/v1/cart", []string{loginLine}, User, "/wc/store/v1/cart?_fields=totals"},
		"checkout without a version":        {cartOf("7"), Own{}, "/wp-json/wc/store/cart", []string{loginLine}, User, "/wc/store/v1/cart?_fields=totals"},
		"an empty nonce in the query":       {nobody, Own{}, "/wp-json/wp/v2/posts?_wpnonce=", []string{loginLine}, Anonymous, usersMe + "?context=edit&_wpnonce="},
		"a tab before the cookie":           {user, Own{}, "/wp-json/wp/v2/posts", []string{"Cookie: a=b;\twordpress_logged_in_x=1", nonceLine}, User, usersMe + "?context=edit"},
		"Jetpack, configured":               {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&token=a&signature=b", nil, Unverified, ""},
		"Jetpack without a signature":       {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&token=a", []string{basicAuth}, User, usersMe + "?context=edit"},
		"Jetpack without a token":           {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"Jetpack, what a cut takes away":    {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&cookie=1&token=a&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"signed for somebody else":          {user, jetpack, "/wp-json/wp/v2/posts?_for=other&token=a&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"own header, empty":                 {user, sso, "/wp-json/wp/v2/posts", []string{"X-SSO: "}, User, usersMe + "?context=edit"},
		"own cookie, another one behind it": {user, sso, "/wp-json/wp/v2/posts", []string{"Cookie: sso=v; a=b"}, User, usersMe + "?context=edit"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, test.credentials)
			backend := &asktest.Platform{Answer: test.backend.Answer}
			w := request(t, s, backend, "GET", test.target, "", test.headers...)
			w.Secure = true // a tool key is sent as it is over https only
			caller, answer, err := w.Who(t.Context())
			if err != nil || answer != nil || caller.Kind != test.kind {
				t.Fatalf("got %+v, %+v, %v", caller, answer, err)
			}
			asked := ""
			for _, q := range backend.Questions() {
				asked += q.Route + "?" + q.Query
				if tool := strings.Contains(strings.ToLower(test.target), "/mcp") && caller.Kind == KeyHolder; tool != (q.As == ask.AsKey && q.Key == "a:b") {
					t.Errorf("asked with other credentials: %+v", q)
				}
			}
			if asked != test.asked {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
		})
	}
}

// TestClaims_Uncertain: a caller whose credentials cannot be read with certainty is not
// anonymous.
func TestClaims_Uncertain(t *testing.T) {
	own := Own{Cookies: []string{"my_auth"}}
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
	}{
		"shop, a form that PHP reads in two ways": {"POST", "/wp-json/wc/v3/orders", "a[b[c=1", []string{formType}},
		"nonce in such a form":                    {"POST", "/wp-json/wp/v2/posts", "a[b[c=1", []string{formType, loginLine}},
		"a cookie behind an encoded blank":        {"GET", "/wp-json/wp/v2/posts", "", []string{"Cookie: %20wordpress_logged_in_abc=x", nonceLine}},
		"a cookie with a shift between sets":      {"GET", "/wp-json/wp/v2/posts", "", []string{"Cookie: wordpress%1B(B_logged_in_abc=x", nonceLine}},
		"own cookie and one that folds onto it":   {"GET", "/wp-json/wp/v2/posts", "", []string{"Cookie: my_auth=v; my.auth=w"}},
		"own cookie, ended by NUL":                {"GET", "/wp-json/wp/v2/posts", "", []string{"Cookie: my_auth%00x=v"}},
	} {
		s := newSite(t, own)
		caller, _, err := request(t, s, asktest.Answering(200, adminBody), test.method, test.target, test.body, test.headers...).Who(t.Context())
		if _, refused := errors.AsType[*call.Refusal](err); !refused {
			t.Errorf("%s: got %+v, %v", name, caller, err)
		}
	}
}

// TestClaims_UnreadForm: a form without a certain reading takes nothing from a caller
// whose claim does not depend on it. What it holds is no part of the question.
func TestClaims_UnreadForm(t *testing.T) {
	for name, test := range map[string]struct {
		own     Own
		body    string
		headers []string
	}{
		"read by PHP in two ways":     {Own{}, "a[b[c=1&_wpnonce=n", []string{basicAuth}},
		"more variables than PHP has": {Own{}, strings.Repeat("a=1&", 1200) + "_wpnonce=n", []string{basicAuth}},
		"an own header":               {Own{Headers: []string{"X-Sso"}}, "a[b[c=1&_wpnonce=n", []string{"X-Sso: x"}},
		"an own cookie":               {Own{Cookies: []string{"sso"}}, "a[b[c=1&_wpnonce=n", []string{"Cookie: sso=x"}},
	} {
		backend := asktest.Answering(200, adminBody)
		w := request(t, newSite(t, test.own), backend, "POST", "/wp-json/wp/v2/posts", test.body, append(test.headers, formType)...)
		caller, _, err := w.Who(t.Context())
		if asked := backend.Questions(); err != nil || caller.Kind != User || len(asked) != 1 || asked[0].Query != "context=edit" {
			t.Errorf("%s: got %+v, %v, asked %+v", name, caller, err, asked)
		}
		for _, kind := range []ask.Kind{ask.KindRecord, ask.KindCart} {
			if q, err := w.Question(ask.Question{Kind: kind}); err != nil || q.Query != "" {
				t.Errorf("%s: a question of kind %s is %+v, %v", name, kind, q, err)
			}
		}
	}
}

// TestClaims_NamedTwice: a question carries a credential once, even if the site names it
// twice or names one that counts anyway, and cookies in the order sent.
func TestClaims_NamedTwice(t *testing.T) {
	own := Own{Headers: []string{"authorization", "x-wp-nonce", "Cart-Token", "X-Sso", "x-sso"}, Cookies: []string{"sso", "sso", "wordpress_sec_b"}}
	headers := []string{basicAuth, nonceLine, "Cart-Token: t", "X-Sso: x", "Cookie: sso=1; a=b; wordpress_sec_b=2; sso=3"}
	w := request(t, newSite(t, own), nil, "GET", "/wp-json/wp/v2/posts", "", headers...)
	for kind, cookies := range map[ask.Kind]string{ask.KindRecord: "sso=1; wordpress_sec_b=2; sso=3", ask.KindCart: "sso=1; a=b; wordpress_sec_b=2; sso=3"} {
		q, err := w.Question(ask.Question{Kind: kind})
		want := w.HTTP.Header.Clone()
		want.Set("Cookie", cookies)
		if err != nil || !maps.EqualFunc(q.Header, want, slices.Equal) {
			t.Errorf("%s: %v, %v, want %v", kind, q.Header, err, want)
		}
	}
}

// TestHasCredentials: an answer to any of these is private.
func TestHasCredentials(t *testing.T) {
	for text, want := range map[string]bool{
		"GET /":                                 false,
		"GET /?page_id=1":                       false,
		"GET /?consumer_key=ck_1":               true,
		"GET /?consumer.key=ck_1":               true,
		"GET /?oauth_consumer_key=a":            true,
		"GET /?token=a&signature=b":             true,
		"GET / Authorization: Basic eDp5":       true,
		"GET / X-Mcp-Api-Key: a:b":              true,
		"GET / Cart-Token: x":                   true,
		"GET / Cookie: wordpress_sec_x=1":       true,
		"GET / Cookie: wordpress_test_cookie=1": false,
		"GET / Cookie: wordpress.logged_in_x=1": true,
		"GET / X-Sso: ":                         true,
	} {
		s := newSite(t, Own{Headers: []string{"X-Sso"}})
		words := strings.SplitN(text, " ", 3)
		r := httptest.NewRequest(words[0], words[1], http.NoBody)
		if len(words) > 2 {
			name, value, _ := strings.Cut(words[2], ": ")
			r.Header.Set(name, value)
		}
		if got := s.HasCredentials(r); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.Header["Cookie"] = []string{"a=b", "wordpress_logged_in_x=1"}
	if !newSite(t).HasCredentials(r) {
		t.Error("a login cookie in the second line of Cookie")
	}
}
