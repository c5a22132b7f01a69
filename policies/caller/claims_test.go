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

// claimTest is a request for which the platform is asked who is calling.
type claimTest struct {
	backend     *asktest.Platform
	credentials Own
	target      string
	headers     []string
	kind        Kind
	asked       string // route and query of the question; "" for none
}

func (test claimTest) run(t *testing.T) {
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
}

// TestClaims_WhatIsAsked: which credentials count on which route, at the edges.
func TestClaims_WhatIsAsked(t *testing.T) {
	nobody, user, key := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, adminBody), asktest.Answering(200, `[]`)
	lost := asktest.Answering(401, oauthLost)
	const arrival = "/wc/v3/orders?oauth_consumer_key=restwarden&per_page=1&_fields=id"
	jetpack := Own{Jetpack: true}
	sso := Own{Headers: []string{"X-Sso"}, Cookies: []string{"sso"}}
	for name, test := range map[string]claimTest{
		"tool key, route in capitals":        {key, Own{}, "/wp-json/WooCommerce/MCP", []string{"X-MCP-API-Key: a:b"}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"tool key behind the tool's route":   {nobody, Own{}, "/wp-json/woocommerce/mcp-x", []string{"X-MCP-API-Key: a:b"}, Anonymous, usersMe + "?context=edit"},
		"tool key without a colon":           {nobody, Own{}, "/wp-json/woocommerce/mcp", []string{"X-MCP-API-Key: ab"}, Anonymous, usersMe + "?context=edit"},
		"shop key in v1":                     {key, Own{}, "/wp-json/wc/v1/orders", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key on the namespace":          {key, Own{}, "/wp-json/wc/v3", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key in the query":              {key, Own{}, "/wp-json/wc/v3/orders?consumer_key=ck_1&consumer_secret=cs_1", nil, KeyHolder, orders + "?per_page=1&_fields=id&consumer_key=ck_1&consumer_secret=cs_1"},
		"shop key with a plus in base64":     {key, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic Y2tfPj4+OmNzXzE="}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key among other letters":       {key, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic \u0141Y2tfMTpjc18x"}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a plugin's version":       {key, Own{}, "/wp-json/wc/gc/v1/cards", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a plugin's namespace":     {key, Own{}, "/wp-json/wc-bookings/v1/bookings", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key in the checkout":           {key, Own{}, "/wp-json/wc/store/v1/cart", []string{shopKey}, KeyHolder, orders + "?per_page=1&_fields=id"},
		"shop key, a longer word":            {nobody, Own{}, "/wp-json/wcpay/v1/orders", []string{shopKey}, Anonymous, usersMe + "?context=edit"},
		"shop key, the word alone":           {nobody, Own{}, "/wp-json/wc", []string{shopKey}, Anonymous, usersMe + "?context=edit"},
		"a key without its secret":           {nobody, Own{}, "/wp-json/wc/v3/orders?consumer_key=ck_1", []string{basicAuth}, Anonymous, usersMe + "?context=edit"},
		"a secret without its key":           {nobody, Own{}, "/wp-json/wc/v3/orders?consumer_secret=cs_1", []string{basicAuth}, Anonymous, usersMe + "?context=edit"},
		"a key and no colon":                 {nobody, Own{}, "/wp-json/wc/v3/orders", []string{"Authorization: Basic Y2tfMQ=="}, Anonymous, usersMe + "?context=edit"},
		"OAuth 1, timestamp alone":           {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_timestamp=1", nil, Unverified, arrival},
		"OAuth 1, signature alone":           {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_signature=x", nil, Unverified, arrival},
		"OAuth 1, method alone":              {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_signature_method=x", nil, Unverified, arrival},
		"login name with c":                  {nobody, Own{}, "/wp-json/wc/v3", []string{"Authorization: Basic Y2FybDpwdw=="}, Anonymous, usersMe + "?context=edit"},
		"an empty nonce in the query":        {nobody, Own{}, "/wp-json/wp/v2/posts?_wpnonce=", []string{loginLine}, Anonymous, usersMe + "?context=edit&_wpnonce="},
		"a tab before the cookie":            {user, Own{}, "/wp-json/wp/v2/posts", []string{"Cookie: a=b;\twordpress_logged_in_x=1", nonceLine}, User, usersMe + "?context=edit"},
		"Jetpack, configured":                {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&token=a&signature=b", nil, Unverified, ""},
		"Jetpack without a signature":        {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&token=a", []string{basicAuth}, User, usersMe + "?context=edit"},
		"Jetpack without a token":            {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"Jetpack, what a cut takes away":     {user, jetpack, "/wp-json/wp/v2/posts?_for=jetpack&cookie=1&token=a&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"signed for somebody else":           {user, jetpack, "/wp-json/wp/v2/posts?_for=other&token=a&signature=b", []string{basicAuth}, User, usersMe + "?context=edit"},
		"own header, empty":                  {user, sso, "/wp-json/wp/v2/posts", []string{"X-SSO: "}, User, usersMe + "?context=edit"},
		"own cookie, another one behind it":  {user, sso, "/wp-json/wp/v2/posts", []string{"Cookie: sso=v; a=b"}, User, usersMe + "?context=edit"},
		"OAuth 1 in the checkout":            {nobody, Own{}, "/wp-json/wc/store/v1/cart?oauth_signature=x", nil, Anonymous, ""},
		"OAuth 1, header in the checkout":    {nobody, Own{}, "/wp-json/wc/store/cart", []string{"Authorization: OAuth oauth_signature=x"}, Anonymous, ""},
		"OAuth 1, behind many variables":     {nobody, Own{}, "/wp-json/wc/v3/orders?" + strings.Repeat("x&", 999) + "oauth_nonce=1", nil, Anonymous, ""},
		"OAuth 1 before a question mark":     {nobody, Own{}, "/wp-json/wc/v3/orders?oauth_nonce=1&x?y", nil, Anonymous, ""},
		"Jetpack behind many variables":      {user, jetpack, "/wp-json/wp/v2/posts?" + strings.Repeat("x&", 997) + "_for=jetpack&token=a&signature=b", nil, Anonymous, ""},
		"OAuth 1 that the shop does not see": {lost, Own{}, "/wp-json/wc/v3/orders?oauth_signature=x", nil, Anonymous, arrival},
	} {
		t.Run(name, test.run)
	}
}

// TestClaims_InCheckout: in the checkout API a login cookie counts whatever else is sent.
func TestClaims_InCheckout(t *testing.T) {
	nobody, user := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, adminBody)
	const cart = "/wc/store/v1/cart?_fields=totals"
	const onlyWrites = `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`
	sso := Own{Headers: []string{"X-Sso"}, Cookies: []string{"sso"}}
	for name, test := range map[string]claimTest{
		"checkout in capitals":               {cartOf("7"), Own{}, "/wp-json/WC/Store/v1/cart", []string{loginLine}, Anonymous, ""},
		"checkout, and a header":             {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, basicAuth}, User, cart},
		"checkout, and an old nonce":         {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, nonceLine}, User, cart},
		"checkout, and an empty nonce":       {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart?_wpnonce=", []string{loginLine}, User, cart + "&_wpnonce="},
		"checkout, and a shop key":           {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, shopKey}, User, cart},
		"checkout, and a key in the query":   {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart?consumer_key=ck_1&consumer_secret=cs_1", []string{loginLine}, User, cart + "&consumer_key=ck_1&consumer_secret=cs_1"},
		"checkout, and a signature":          {cartOf("7"), Own{}, "/wp-json/wc/store/v1/cart?oauth_signature=x", []string{loginLine}, User, cart},
		"checkout, an ended cookie":          {cartOf("0"), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, nonceLine}, Anonymous, cart},
		"checkout, ended, and a header":      {cartOr(nobody), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, "Authorization: Bearer x"}, Anonymous, cart + usersMe + "?context=edit"},
		"checkout, ended, and a login":       {cartOr(user), sso, "/wp-json/wc/store/v1/cart", []string{loginLine, "X-SSO: x"}, User, cart + usersMe + "?context=edit"},
		"checkout, ended, a key that writes": {asktest.Answering(401, onlyWrites), Own{}, "/wp-json/wc/store/v1/cart", []string{loginLine, shopKey}, KeyHolder, cart},
		"checkout, no cookie, a header":      {nobody, Own{}, "/wp-json/wc/store/v1/cart", []string{basicAuth}, Anonymous, usersMe + "?context=edit"},
		"checkout, no cookie, a nonce":       {nobody, Own{}, "/wp-json/wc/store/v1/cart", []string{nonceLine}, Anonymous, ""},
		"checkout without a version":         {cartOf("7"), Own{}, "/wp-json/wc/store/cart", []string{loginLine}, User, "/wc/store/v1/cart?_fields=totals"},
	} {
		t.Run(name, test.run)
	}
}

// cartOr is a cart of nobody, with the answers of p to all else.
func cartOr(p *asktest.Platform) *asktest.Platform {
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if strings.HasSuffix(q.Route, "/cart") {
			return cartOf("0").Answer(q)
		}
		return p.Answer(q)
	}}
}

// TestRights_Session: in the checkout API a rule that asks for a role gets those of the user whom
// the shop names, where the nonce or a header counts, and asks for them once.
func TestRights_Session(t *testing.T) {
	for name, test := range map[string]struct {
		me     *ask.Answer
		header string
		admin  bool
		asked  int
	}{
		"a nonce":          {asktest.JSON(200, adminBody), nonceLine, true, 2},
		"an old nonce":     {asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`), nonceLine, false, 2},
		"a header":         {asktest.JSON(401, `{"code":"rest_not_logged_in"}`), basicAuth, false, 2},
		"another user":     {asktest.JSON(200, `{"id":9,"roles":["administrator"],"capabilities":{}}`), basicAuth, false, 2},
		"the cookie alone": {asktest.JSON(200, adminBody), "X-Other: x", false, 1},
	} {
		b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if q.Route == usersMe {
				return test.me, nil
			}
			return cartOf("1").Answer(q)
		}}
		w := request(t, newSite(t), b, "GET", "/wp-json/wc/store/v1/cart", "", loginLine, test.header)
		who, answer, err := w.Who(t.Context())
		if err != nil || answer != nil || who.ID != 1 || len(who.Roles) > 0 || len(b.Questions()) != 1 {
			t.Errorf("%s: %+v, %+v, %v", name, who, answer, err)
		}
		for range 2 {
			who, err = w.Rights(t.Context())
		}
		if err != nil || who.ID != 1 || who.HasRole([]string{"administrator"}) != test.admin || len(b.Questions()) != test.asked {
			t.Errorf("%s: %+v, %v, %d questions", name, who, err, len(b.Questions()))
		}
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
