package caller

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// TestIdentities_RemembersWhatDecides: an answer counts only for the same credentials and
// the same question.
func TestIdentities_RemembersWhatDecides(t *testing.T) {
	const posts, order, cart = "/wp-json/wp/v2/posts", "/wp-json/wc/v3/orders", "/wp-json/wc/store/v1/cart"
	const queryKey = order + "?consumer_key=ck_1&consumer_secret="
	for name, test := range map[string]struct {
		first, second               string
		firstHeaders, secondHeaders []string
	}{
		"a shop key outside the shop":   {order, posts, []string{shopKey}, []string{shopKey}},
		"a tool key elsewhere":          {"/wp-json/woocommerce/mcp", posts, []string{"X-MCP-API-Key: a:b"}, []string{"X-MCP-API-Key: a:b"}},
		"another secret":                {queryKey + "cs_1", queryKey + "cs_2", nil, nil},
		"another key":                   {queryKey + "x", order + "?consumer_key=ck_2&consumer_secret=x", nil, nil},
		"another cart":                  {cart, cart, []string{loginLine, "Cart-Token: a"}, []string{loginLine, "Cart-Token: b"}},
		"another tool key":              {"/wp-json/woocommerce/mcp", "/wp-json/woocommerce/mcp", []string{"X-MCP-API-Key: a:b"}, []string{"X-MCP-API-Key: a:c"}},
		"own headers, cut elsewhere":    {posts, posts, []string{"X-A: ab", "X-B: "}, []string{"X-A: a", "X-B: b"}},
		"own cookie":                    {posts, posts, []string{"Cookie: sso=a"}, []string{"Cookie: sso=b"}},
		"the query form":                {posts, "/?rest_route=/wp/v2/posts", []string{basicAuth}, []string{basicAuth}},
		"another directory, query form": {"/a/?rest_route=/wp/v2/posts", "/b/?rest_route=/wp/v2/posts", []string{basicAuth}, []string{basicAuth}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, Own{Headers: []string{"X-A", "X-B"}, Cookies: []string{"sso"}})
			backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				switch q.Route {
				case "/wp/v2/users/me":
					return asktest.JSON(200, adminBody), nil
				case "/wc/v3/orders":
					return asktest.JSON(200, `[]`), nil
				}
				return cartOf("7").Answer(q)
			}}
			for _, again := range []bool{false, true} {
				for _, r := range []*Whole{
					request(t, s, backend, "GET", test.first, "", test.firstHeaders...),
					request(t, s, backend, "GET", test.second, "", test.secondHeaders...),
				} {
					if caller, _, err := r.Who(t.Context()); err != nil || caller.Kind == Anonymous {
						t.Fatal(caller, err)
					}
				}
				if n := len(backend.Questions()); n != 2 {
					t.Errorf("again %v: %d questions", again, n)
				}
			}
		})
	}
}

// TestIdentities_TTLBoundsNobodyToo: credentials that do not count are asked about again
// after the TTL at the latest.
func TestIdentities_TTLBoundsNobodyToo(t *testing.T) {
	s := newSite(t)
	ids, err := NewIdentities(Options{TTL: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s.Identities = ids
	backend := asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	for range 2 {
		if _, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
	}
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// TestWho_AsksWhereTheCallGoes: the question takes the way of the call.
func TestWho_AsksWhereTheCallGoes(t *testing.T) {
	for target, want := range map[string]ask.Question{
		"/blog/wp-json/wp/v2/posts":         {Base: "/blog"},
		"/blog/?rest_route=/wp/v2/posts":    {Base: "/blog/", Form: call.Query},
		"/index.php?rest_route=/wp/v2/tags": {Base: "/index.php", Form: call.Query},
	} {
		s := newSite(t)
		backend := asktest.Answering(200, adminBody)
		_, _, err := request(t, s, backend, "GET", target, "", basicAuth).Who(t.Context())
		if q := backend.Questions(); err != nil || len(q) != 1 || q[0].Base != want.Base || q[0].Form != want.Form {
			t.Errorf("%s: asked %+v, %v", target, q, err)
		}
	}
}

// TestWho_AnswersThatProveNothing: only the platform's own answer makes a caller a user
// or the holder of a key.
func TestWho_AnswersThatProveNothing(t *testing.T) {
	const posts, order, cart = "/wp-json/wp/v2/posts", "/wp-json/wc/v3/orders", "/wp-json/wc/store/v1/cart"
	cartRefused := &ask.Answer{Status: 403, Header: http.Header{"User-Id": {"7"}}, Body: []byte(`{}`)}
	for name, test := range map[string]struct {
		target, header string
		answer         *ask.Answer
	}{
		"accepted, not answered":  {posts, basicAuth, asktest.JSON(202, adminBody)},
		"a page instead of a key": {order, shopKey, asktest.JSON(200, `<html>`)},
		"an object, no list":      {order, shopKey, asktest.JSON(200, `{"id":1}`)},
		"forbidden by somebody":   {order, shopKey, asktest.JSON(403, `{"code":"blocked_by_firewall"}`)},
		"a cart that is refused":  {cart, loginLine, cartRefused},
	} {
		s := newSite(t)
		backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return test.answer, nil }}
		r := request(t, s, backend, "GET", test.target, "", test.header)
		if caller, _, err := r.Who(t.Context()); !errors.Is(err, ask.ErrUndecided) {
			t.Errorf("%s: got %+v, %v", name, caller, err)
		}
		if caller, known := r.Known(); known {
			t.Errorf("%s: known as %+v", name, caller)
		}
	}
}

// TestWho_RefusedCredentials: the client gets the platform's own refusal, in the shop
// too.
func TestWho_RefusedCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
		answer  *ask.Answer
	}{
		"a wrong nonce in the shop": {[]string{loginLine, nonceLine}, asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`)},
		"a wrong shop key":          {[]string{shopKey}, asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"Consumer secret is invalid."}`)},
	} {
		s := newSite(t)
		r := request(t, s, &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return test.answer, nil }}, "GET", "/wp-json/wc/v3/orders", "", test.headers...)
		caller, answer, err := r.Who(t.Context())
		if err != nil || answer == nil || answer.Status != test.answer.Status || caller.Kind != Anonymous {
			t.Errorf("%s: got %+v, %+v, %v", name, caller, answer, err)
		}
		if caller, known := r.Known(); known {
			t.Errorf("%s: known as %+v", name, caller)
		}
	}
}

// TestWho_OnlyTrueIsGranted: PHP takes other values for true too, but the platform may
// not.
func TestWho_OnlyTrueIsGranted(t *testing.T) {
	s := newSite(t)
	body := `{"id":1,"roles":["a"],"capabilities":{"number":1,"text":"yes","null":null,"granted":true}}`
	caller, _, err := request(t, s, asktest.Answering(200, body), "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context())
	if err != nil || len(caller.Capabilities) != 1 || !caller.Capabilities["granted"] {
		t.Errorf("got %+v, %v", caller, err)
	}
}

// TestIdentities_ChangesOfRights: requests that may end rights are watched, however their
// route is spelled.
func TestIdentities_ChangesOfRights(t *testing.T) {
	for name, test := range map[string]struct {
		method, target, body string
		watched              bool
	}{
		"a user":                  {"DELETE", "/wp-json/wp/v2/users/1", "", true},
		"in capitals":             {"DELETE", "/wp-json/WP/v2/Users/1", "", true},
		"by another method":       {"POST", "/wp-json/wp/v2/users/1?_method=PATCH", "", true},
		"an id that is no number": {"POST", "/wp-json/wp/v2/users/1?id=0x5", "", true},
		"a customer's password":   {"PUT", "/wp-json/wc/v3/customers/1", `{"password":"x"}`, true},
		"a customer's name":       {"PUT", "/wp-json/wc/v3/customers/1", `{"first_name":"x"}`, false},
		"only read":               {"GET", "/wp-json/wp/v2/users/1", "", false},
	} {
		s := newSite(t)
		backend := asktest.Answering(200, adminBody)
		who := func() {
			if _, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		who()
		drop, _ := s.Identities.Watch(request(t, s, backend, test.method, test.target, test.body, jsonType, basicAuth))
		if drop != nil {
			drop(asktest.JSON(200, `{}`))
		}
		who()
		if n := len(backend.Questions()); (n == 2) != test.watched {
			t.Errorf("%s: %d questions", name, n)
		}
	}
}

// TestWho_RefusedNamesAndPasswords: the client gets the platform's own refusal, but
// counts as anonymous on the routes where the shop looks for its own keys.
func TestWho_RefusedNamesAndPasswords(t *testing.T) {
	for _, code := range []string{
		"incorrect_password", "invalid_username", "invalid_email",
		"application_passwords_disabled", "application_passwords_disabled_for_user",
	} {
		for target, handedOn := range map[string]bool{"/wp-json/wp/v2/posts": true, "/wp-json/wc/v3/orders": false} {
			s := newSite(t)
			_, answer, err := request(t, s, asktest.Answering(401, `{"code":"`+code+`"}`), "GET", target, "", basicAuth).Who(t.Context())
			if err != nil || (answer != nil) != handedOn {
				t.Errorf("%s on %s: got %+v, %v", code, target, answer, err)
			}
		}
	}
}
