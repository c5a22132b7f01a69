package caller

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// TestSignatureBase: the text that is signed (docs/platform III.8).
func TestSignatureBase(t *testing.T) {
	const own = "&oauth_consumer_key=ck_1&oauth_nonce=n&oauth_signature_method=HMAC-SHA256&oauth_timestamp=1"
	const signed = "oauth_consumer_key%3Dck_1%26oauth_nonce%3Dn%26oauth_signature_method%3DHMAC-SHA256%26oauth_timestamp%3D1"
	const get = "GET&http%3A%2F%2Fshop.example%3A8080%2Fblog&"
	for query, want := range map[string]string{
		"":                              get + signed,
		"per_page=1&_fields=id":         get + "_fields%3Did%26" + signed + "%26per_page%3D1",
		"rest_route=%2Fwc%2Fv3%2Fx":     get + signed + "%26rest_route%3D%252Fwc%252Fv3%252Fx",
		"a=%C3%A9+~%25%2B":              get + "a%3D%25C3%25A9%2520~%2525%252B%26" + signed,
		"include[]=7&include[]=8":       get + "include%255B0%255D%3D7%26include%255B1%255D%3D8%26" + signed,
		"a[b%20c][d]=1&a[2]=2&_x.y=%26": get + "_x_y%3D%2526%26a%255Bb%20c%255D%255Bd%255D%3D1%26a%255B2%255D%3D2%26" + signed,
		"Z=1&z=2&_=3":                   get + "Z%3D1%26_%3D3%26" + signed + "%26z%3D2",
	} {
		if got := signatureBase("GET", "http://shop.example:8080/blog", phpvars.Query(query+own)); got != want {
			t.Errorf("%q: got\n%s, want\n%s", query, got, want)
		}
	}
}

// TestHome_URL: the address that the shop makes of a request's path (docs/platform III.8).
func TestHome_URL(t *testing.T) {
	for _, test := range []struct{ home, path, want string }{
		{"http://shop.example", "/wp-json/wc/v3/orders", "http://shop.example/wp-json/wc/v3/orders"},
		{"http://shop.example/", "/wp-json/wc/v3/orders", "http://shop.example/wp-json/wc/v3/orders"},
		{"https://shop.example:8443", "/", "http://shop.example:8443"},
		{"http://shop.example", "/index.php", "http://shop.example/index.php"},
		{"http://shop.example/blog", "/blog/wp-json/wc/v3", "http://shop.example/blog/wp-json/wc/v3"},
		{"http://shop.example/blog", "/blog/", "http://shop.example/blog"},
		{"http://shop.example/blog", "/blog", "http://shop.example/blog/blog"}, // the folder ends with a slash
		{"http://shop.example/blog", "/wp-json/wc/v3", "http://shop.example/blog/wp-json/wc/v3"},
		{"http://shop.example/blog", "/blogs/wp-json/wc/v3", "http://shop.example/blog/blogs/wp-json/wc/v3"},
		{"HTTP://Shop.Example/a%20b", "/a%20b/x", "http://Shop.Example/a%20b/x"},
		{"http://[::1]:80/a/b/", "/a/b/index.php", "http://[::1]:80/a/b/index.php"},
		{"http://münchen.example", "/x", "http://münchen.example/x"},
	} {
		at, ok := parseHome(test.home)
		if got := at.url("http", test.path); !ok || got != test.want {
			t.Errorf("%s, %s: got %s, want %s", test.home, test.path, got, test.want)
		}
	}
}

var badHomes = []string{
	"shop.example", "/blog", "//shop.example", "ftp://shop.example", "http://", "http:///blog", "http://a b", "http://a@b",
	"http://a?x", "http://a/#x", "http://a\n", "http://a/\x00", "javascript:1", "http://a\\b", "http://" + strings.Repeat("a", 301), "http://a/" + strings.Repeat("a", 901),
}

// FuzzHome: a home address is one host and one path. No path of a question leads to another
// host, and what is signed reads as the same home again.
func FuzzHome(f *testing.F) {
	for _, text := range badHomes {
		if at, ok := parseHome(text); ok {
			f.Errorf("%q: read as %+v", text, at)
		}
		f.Add(text, "/wp-json/wc/v3/orders")
	}
	f.Add("http://shop.example:8080/blog", "/blog//evil.example/@x")
	f.Add("https://shop.example/", "//evil.example")
	f.Fuzz(func(t *testing.T, text, path string) {
		at, ok := parseHome(text)
		if !ok {
			return
		}
		if at.host == "" || strings.ContainsAny(at.host, "/@?# ") || at.path != "" && at.path[0] != '/' {
			t.Errorf("%q: %+v", text, at)
		}
		made := at.url("http", path)
		if !strings.HasPrefix(made, "http://"+at.host+at.path) {
			t.Errorf("%q, %q: %q", text, path, made)
		}
		if again, ok := parseHome("http://" + at.host + at.path); !ok || again != at {
			t.Errorf("%q: %+v reads as %+v", text, at, again)
		}
	})
}

// signedQuestion completes a question with a key over plain http.
func signedQuestion(t *testing.T, target, host, home string) (ask.Question, error) {
	t.Helper()
	s := newSite(t)
	s.Home = func(*Whole) string { return home }
	w := request(t, s, nil, "PUT", target, "")
	w.HTTP.Host = host
	return w.Question(ask.Question{Kind: ask.KindRecord, Route: "/wc/v3/orders/7/notes/0", As: ask.AsKey, Key: "ck_1:cs_hidden"})
}

// TestWithKey_PlainHTTP: over plain http a question has a signature in place of the key, by
// http and, if PHP was told so, by https.
func TestWithKey_PlainHTTP(t *testing.T) {
	for _, target := range []string{"/wp-json/wc/v3/orders/7", "/?rest_route=/wc/v3/orders/7"} {
		q, err := signedQuestion(t, target, "shop.example", "")
		if err != nil || q.Else == nil || q.Else.Else != nil {
			t.Fatalf("got %+v, %v", q, err)
		}
		seen := map[string]bool{}
		for _, q := range []*ask.Question{&q, q.Else} {
			_, text := q.Target("wp-json")
			query, err := url.ParseQuery(text)
			if err != nil || len(q.Header) > 0 || strings.Contains(text, "hidden") || query.Get("oauth_consumer_key") != "ck_1" ||
				query.Get("oauth_timestamp") != "1800000000" || len(query.Get("oauth_signature")) != 44 {
				t.Errorf("%s: %s %v", target, text, q.Header)
			}
			seen[query.Get("oauth_nonce")], seen[query.Get("oauth_signature")] = true, true
		}
		if len(seen) != 4 {
			t.Errorf("%s: a nonce or signature twice: %v", target, seen)
		}
	}
}

// TestWithKey_BadHome: for a home address that is none no question is signed.
func TestWithKey_BadHome(t *testing.T) {
	for _, home := range badHomes {
		if q, err := signedQuestion(t, "/wp-json/wc/v3/orders/7", "shop.example", home); !errors.Is(err, ask.ErrUndecided) || !strings.Contains(err.Error(), "home address") {
			t.Errorf("%q: got %+v, %v", home, q, err)
		}
	}
	if q, err := signedQuestion(t, "/wp-json/wc/v3/orders/7", "a@b", ""); !errors.Is(err, ask.ErrUndecided) {
		t.Errorf("a host that is none: got %+v, %v", q, err)
	}
}

// TestWithKey_ToolKey: over plain http a caller's tool key is asked about by a signature.
func TestWithKey_ToolKey(t *testing.T) {
	backend := asktest.Answering(200, `[]`)
	w := request(t, newSite(t), backend, "POST", "/wp-json/woocommerce/mcp", "{}", jsonType, "X-MCP-API-Key: ck_1:cs_hidden")
	caller, _, err := w.Who(t.Context())
	asked := backend.Questions()
	if err != nil || caller.Kind != KeyHolder || len(asked) != 1 || len(asked[0].Header) > 0 || strings.Contains(asked[0].Query, "hidden") {
		t.Errorf("got %+v, %v, asked %+v", caller, err, asked)
	}
	w = request(t, newSite(t), backend, "POST", "/wp-json/woocommerce/mcp", "{}", jsonType, "X-MCP-API-Key: ck_1:cs_hidden")
	w.HTTP.Host = "a@b"
	if _, _, err := w.Who(t.Context()); !errors.Is(err, ask.ErrUndecided) {
		t.Errorf("got %v", err)
	}
}

// FuzzSign: whatever key and parameters a question has, PHP reads the parameters that were
// signed, and the secret is not among them.
func FuzzSign(f *testing.F) {
	f.Add("ck_1:cs_secret-of-the-key", "per_page=1&include[]=1", true)
	f.Add("a&b=c#:x:y", "a=%zz&&b", false)
	f.Fuzz(func(t *testing.T, key, query string, byQuery bool) {
		if len(query) > 2000 || phpvars.Pairs(query) > 500 || strings.Contains(query, "oauth_") || strings.Contains(query, "cs_") {
			return
		}
		s := newSite(t)
		q := ask.Question{Route: "/wc/v3/orders", Query: query, Key: key, Base: "/"}
		if byQuery {
			q.Form = call.Query
		}
		s.sign(&q, home{"shop.example", ""}, "http")
		_, text := q.Target(s.Prefix)
		read := phpvars.Query(text)
		name, secret, _ := strings.Cut(key, ":")
		if got, _ := read.String("oauth_consumer_key"); got != name {
			t.Errorf("%q, %q: the key reads %q", key, query, got)
		}
		if got, _ := read.String("oauth_signature"); len(got) != 44 {
			t.Errorf("%q, %q: the signature reads %q", key, query, got)
		}
		if len(secret) > 8 && strings.Contains(text, url.QueryEscape(secret)) && !strings.Contains(query+name, secret) {
			t.Errorf("%q, %q: the secret is in %q", key, query, text)
		}
	})
}
