package caller

import "testing"

// TestProvenByAnswer: only the one credential of a call that nobody else may make is proven by its answer. A stranger can send
// any name on what is public.
func TestProvenByAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, Own{Headers: []string{"X-Own"}})
	key := basicLine(cleanID, "cs_s3cret")
	for name, test := range map[string]struct {
		method, target string
		body           string
		headers        []string
		want           bool
	}{
		"a key's list":            {"GET", ordersAt, "", []string{key}, true},
		"in the query":            {"GET", ordersAt + "?consumer_key=ck_1&consumer_secret=cs_1", "", nil, true},
		"by a signature":          {"GET", ordersAt + "?oauth_consumer_key=ck_1&oauth_nonce=a", "", nil, true},
		"one order":               {"PUT", ordersAt + "/7", "{}", []string{key, jsonType}, true},
		"its notes":               {"GET", ordersAt + "/7/notes", "", []string{key}, true},
		"writes to a product":     {"PUT", "/wp-json/wc/v3/products/7", "{}", []string{key, jsonType}, true},
		"a password":              {"POST", postsAt, "", []string{basicAuth}, true},
		"oneself":                 {"GET", "/wp-json/wp/v2/users/me", "", []string{basicAuth}, true},
		"a cookie":                {"POST", postsAt, "", []string{loginLine, nonceLine}, true},
		"in the query form":       {"GET", "/?rest_route=/wc/v3/orders", "", []string{key}, true},
		"another spelling":        {"GET", "/wp-json/WC/v3/Orders/", "", []string{key}, true},
		"a login like a key":      {"GET", "/wp-json/wp/v2/users/me", "", []string{basicLine(cleanID, "abcd EFGH 1234 ijkl MNOP 5678")}, false},
		"nobody":                  {"GET", ordersAt, "", nil, false},
		"a token":                 {"GET", ordersAt, "", []string{"Authorization: Bearer x"}, false},
		"a key beside another":    {"GET", ordersAt + "?consumer_key=ck_1&consumer_secret=cs_1", "", []string{key}, false},
		"twice the same":          {"GET", ordersAt + "?consumer_key=" + cleanID + "&consumer_secret=cs_1", "", []string{key}, false},
		"beside a cookie":         {"GET", ordersAt, "", []string{key, loginLine}, false},
		"beside a login":          {"GET", ordersAt, "", []string{key, "X-Own: 1"}, false},
		"beside Jetpack":          {"GET", ordersAt + "?token=a&signature=b&_for=jetpack", "", []string{key}, false},
		"beside a key in a form":  {"POST", ordersAt, "consumer_key=ck_1", []string{key, formType}, false},
		"signed in a form":        {"POST", ordersAt, "oauth_consumer_key=ck_1", []string{formType}, true},
		"a token, key in a form":  {"POST", ordersAt, "consumer_key=ck_1", []string{"Authorization: Bearer x", formType}, false},
		"a token, sign in a form": {"POST", ordersAt, "oauth_consumer_key=ck_1", []string{"Authorization: Bearer x", formType}, false},
		"a login, key in a form":  {"POST", ordersAt, "consumer_key=ck_1", []string{"X-Own: 1", formType}, false},
		"Jetpack, key in a form":  {"POST", ordersAt + "?token=a&signature=b&_for=jetpack", "consumer_key=ck_1", []string{formType}, false},
		"in an envelope":          {"GET", ordersAt + "?_envelope=1", "", []string{key}, false},
		"OPTIONS":                 {"OPTIONS", ordersAt, "", []string{key}, false},
		"OPTIONS by override":     {"POST", ordersAt + "?_method=OPTIONS", "", []string{key}, false},
		"another word":            {"BREW", ordersAt, "", []string{key}, false},
		"a namespace":             {"GET", "/wp-json/wc/v3", "", []string{key}, false},
		"the root":                {"GET", "/wp-json/", "", []string{key}, false},
		"the checkout":            {"GET", "/wp-json/wc/store/v1/products", "", []string{key}, false},
		"products":                {"GET", "/wp-json/wc/v3/products", "", []string{key}, false},
		"statuses of orders":      {"GET", ordersAt + "/statuses", "", []string{key}, false},
		"a plugin's":              {"POST", "/wp-json/wc/v3/paypal-webhooks", "{}", []string{key, jsonType}, false},
		"a batch":                 {"POST", ordersAt + "/batch", `{"update":[{"id":1}]}`, []string{key, jsonType}, false},
		"a comment":               {"POST", "/wp-json/wp/v2/comments", "", []string{basicAuth}, false},
		"a plugin's in the core":  {"POST", "/wp-json/wp/v2/users/register", "", []string{basicAuth}, false},
		"posts":                   {"GET", postsAt, "", []string{basicAuth}, false},
		"no certain reading":      {"GET", ordersAt + "?rest_route=/x", "", []string{key}, false},
		"a write that is a read":  {"POST", "/wp-json/wp/v2/posts?_method=GET", "", []string{basicAuth}, false},
		"an override of a method": {"GET", "/wp-json/wp/v2/posts/7?_method=DELETE", "", []string{basicAuth}, false}, // a server that drops it has read a post
	} {
		if got := request(t, s, nil, test.method, test.target, test.body, test.headers...).ProvenByAnswer(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
