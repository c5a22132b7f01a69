package caller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// cookieShop gives its nonce to one login cookie, and accepts the two together only.
func cookieShop(nonce string) *asktest.Platform {
	const cookie = "wordpress_logged_in_abc=admin%7C1"
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		known := q.Header.Get("Cookie") == cookie
		switch {
		case q.Page != "" && known:
			return asktest.JSON(200, nonce), nil
		case q.Page != "":
			return asktest.JSON(400, "0"), nil
		case known && q.Header.Get("X-Wp-Nonce") == "0123456789":
			return asktest.JSON(200, adminBody), nil
		case q.Header.Get("X-Wp-Nonce") != "":
			return asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`), nil
		}
		return asktest.JSON(401, `{"code":"rest_not_logged_in"}`), nil
	}}
}

// TestNamespace_Who: a login cookie without a nonce counts on the index of a namespace alone,
// read as the site's own scripts do, and only for whom the platform names.
func TestNamespace_Who(t *testing.T) {
	const asked = "/wp-admin/admin-ajax.php?action=rest-nonce /wp/v2/users/me?context=edit"
	for name, test := range map[string]struct {
		line    string
		headers []string
		kind    Kind
		asked   string // addresses of the questions, below their bases
	}{
		"the core":                   {"GET /wp-json/wp/v2/", nil, User, asked},
		"without the slash":          {"GET /wp-json/wp/v2", nil, User, asked},
		"HEAD":                       {"HEAD /wp-json/wp/v2/", nil, User, asked},
		"by a page":                  {"GET /wp-json/wp/v2/", []string{"Sec-Fetch-Site: same-origin"}, User, asked},
		"plain permalinks":           {"GET /index.php?rest_route=/wp/v2/&context=edit", nil, User, asked},
		"plain, the front page":      {"GET /?rest_route=/wp/v2/", nil, User, asked},
		"sub-folder":                 {"GET /blog/wp-json/wp/v2/", nil, User, "/blog" + strings.ReplaceAll(asked, " ", " /blog")},
		"listed":                     {"GET /wp-json/shop/v9", nil, User, asked},
		"not listed":                 {"GET /wp-json/shop/v8", nil, Anonymous, ""},
		"the root":                   {"GET /wp-json/", nil, Anonymous, ""},
		"another route":              {"GET /wp-json/wp/v2/types", nil, Anonymous, ""},
		"in capitals":                {"GET /wp-json/WP/v2", nil, Anonymous, ""},
		"a write":                    {"POST /wp-json/wp/v2", nil, Anonymous, ""},
		"effective only":             {"POST /wp-json/wp/v2?_method=GET", nil, Anonymous, ""},
		"overridden":                 {"GET /wp-json/wp/v2?_method=POST", nil, Anonymous, ""},
		"JSONP":                      {"GET /wp-json/wp/v2?_jsonp=f", nil, Anonymous, ""},
		"JSONP, folded":              {"GET /wp-json/wp/v2?%20.jsonp[]=f", nil, Anonymous, ""},
		"a script of another origin": {"GET /wp-json/wp/v2", []string{"Origin: https://evil.example"}, Anonymous, ""},
		"a page of another site":     {"GET /wp-json/wp/v2", []string{"Sec-Fetch-Site: cross-site"}, Anonymous, ""},
		"a forged cookie":            {"GET /wp-json/wp/v2", []string{"Cookie: wordpress_logged_in_abc=evil"}, Anonymous, "/wp-admin/admin-ajax.php?action=rest-nonce"},
		"no login cookie":            {"GET /wp-json/wp/v2", []string{"Cookie: a=b"}, Anonymous, ""},
		"a nonce of its own":         {"GET /wp-json/wp/v2?_wpnonce=0123456789", nil, User, "/wp/v2/users/me?context=edit&_wpnonce=0123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			s, shop := newSite(t), cookieShop("0123456789")
			s.Lists = func(host, namespace string) bool { return host == "example.com" && namespace == "shop/v9" }
			headers := []string{loginLine}
			if len(test.headers) > 0 && strings.HasPrefix(test.headers[0], "Cookie: ") {
				headers = nil
			}
			if strings.Contains(test.line, "_wpnonce") {
				shop.Answer = func(ask.Question) (*ask.Answer, error) { return asktest.JSON(200, adminBody), nil }
			}
			method, target, _ := strings.Cut(test.line, " ")
			who, answer, err := request(t, s, shop, method, target, "", append(headers, test.headers...)...).Who(t.Context())
			if err != nil || answer != nil || who.Kind != test.kind {
				t.Fatalf("got %+v, %+v, %v", who, answer, err)
			}
			var got []string
			for _, q := range shop.Questions() {
				base := q.Base
				if q.Page == "" && q.Form == call.Query {
					base = ""
				}
				got = append(got, base+q.Page+q.Route+"?"+q.Query)
			}
			if strings.Join(got, " ") != test.asked {
				t.Errorf("asked %q, want %q", got, test.asked)
			}
			if test.kind == User && (who.ID != 1 || !who.HasRole([]string{"administrator"})) {
				t.Errorf("%+v", who)
			}
		})
	}
}

// TestNamespace_Answers: only a nonce with which the platform names a user is a login. What a
// plugin answers at the script proves nothing.
func TestNamespace_Answers(t *testing.T) {
	for nonce, want := range map[string]Kind{
		"0123456789": User, "0123456789\n": User, "0": Anonymous, "-1": Anonymous, "": Anonymous,
		"abcdefabcd": Anonymous, "<html>logged in</html>": Anonymous, "0123456789\r\nX: y": Anonymous,
	} {
		s, shop := newSite(t), cookieShop(nonce)
		who, answer, err := request(t, s, shop, "GET", "/wp-json/wp/v2/", "", loginLine).Who(t.Context())
		if err != nil || answer != nil || who.Kind != want {
			t.Errorf("%q: got %+v, %+v, %v", nonce, who, answer, err)
		}
	}
	for _, broken := range []func(ask.Question) bool{
		func(q ask.Question) bool { return q.Page != "" }, func(q ask.Question) bool { return q.Page == "" },
	} {
		s, shop := newSite(t), cookieShop("0123456789")
		backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if broken(q) {
				return nil, ask.ErrUndecided
			}
			return shop.Answer(q)
		}}
		if _, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/", "", loginLine).Who(t.Context()); !errors.Is(err, ask.ErrUndecided) {
			t.Errorf("got %v", err)
		}
	}
}

// TestNamespace_Kept: the answer is kept like that of any caller, it is no answer about the
// caller elsewhere, and forged cookies meet the limit of questions.
func TestNamespace_Kept(t *testing.T) {
	s, shop := newSite(t), cookieShop("0123456789")
	read := func(target string, headers ...string) (Caller, error) {
		who, _, err := request(t, s, shop, "GET", target, "", headers...).Who(t.Context())
		return who, err
	}
	for range 3 {
		if who, err := read("/wp-json/wp/v2/", loginLine); err != nil || who.Kind != User {
			t.Fatalf("%+v, %v", who, err)
		}
	}
	if n := len(shop.Questions()); n != 2 {
		t.Errorf("%d questions", n)
	}
	if who, err := read("/wp-json/wp/v2/posts", loginLine); err != nil || who.Kind != Anonymous {
		t.Errorf("elsewhere: %+v, %v", who, err)
	}
	drop, _ := s.Identities.Watch(request(t, s, shop, "GET", "/wp-login.php?action=logout", "", loginLine))
	drop(&ask.Answer{Status: 302})
	if _, err := read("/wp-json/wp/v2/", loginLine); err != nil || len(shop.Questions()) != 4 {
		t.Errorf("after the logout: %d questions, %v", len(shop.Questions()), err)
	}
	var err error
	for i := 0; i < 200 && err == nil; i++ {
		_, err = read("/wp-json/wp/v2/", fmt.Sprintf("Cookie: wordpress_logged_in_abc=%d", i))
	}
	if !errors.Is(err, ask.ErrTooMany) || len(shop.Questions()) > 130 {
		t.Errorf("%d questions about forged cookies, %v", len(shop.Questions()), err)
	}
}

// TestNamespace_Scripts: the script is where the install is.
func TestNamespace_Scripts(t *testing.T) {
	for _, target := range []string{"/blog/wp-json/wp/v2/", "/blog/index.php?rest_route=/wp/v2/", "/blog/?rest_route=/wp/v2"} {
		s, shop := newSite(t), cookieShop("0123456789")
		s.Scripts = func(*Whole) string { return "/core" }
		if _, _, err := request(t, s, shop, "GET", target, "", loginLine).Who(t.Context()); err != nil {
			t.Fatal(err)
		}
		if q := shop.Questions()[0]; q.Base+q.Page != "/blog/core/wp-admin/admin-ajax.php" {
			t.Errorf("%s: asked %s%s", target, q.Base, q.Page)
		}
	}
}
