package policies

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

func TestRedact_Rewrites(t *testing.T) {
	s := newSite(t)
	p := new(Redact)
	configure(t, p, line("redact authors"), line("redact /x/v1/y secret"))
	provision(t, s, p)
	admin := asktest.Answering(200, adminBody)
	for name, test := range map[string]struct {
		target  string
		headers []string
		want    Rewrite
	}{
		"troubleshooting":         {"/wp-json/feed/troubleshooting", nil, RewriteBody},
		"versioned":               {"/wp-json/feed/v1/troubleshooting", nil, RewriteBody},
		"configured":              {"/wp-json/x/v1/y", nil, RewriteBody},
		"another route":           {"/wp-json/x/v1/z", nil, RewriteNothing},
		"page":                    {"/feed/troubleshooting", nil, RewriteNothing},
		"embedded, anonymous":     {"/wp-json/wp/v2/posts?_embed", nil, RewriteBody},
		"embedded, folded name":   {"/wp-json/wp/v2/posts?+.embed=author", nil, RewriteBody},
		"embedded, as a user":     {"/wp-json/wp/v2/posts?_embed", []string{basicAuth}, RewriteBody},
		"oEmbed, anonymous":       {"/wp-json/oembed/1.0/embed?url=x", nil, RewriteBody},
		"oEmbed, as a user":       {"/wp-json/oembed/1.0/embed?url=x", []string{basicAuth}, RewriteNothing},
		"embedded, by rest_route": {"/?rest_route=/wp/v2/posts&_embed=1", nil, RewriteBody},
	} {
		if got := p.Rewrites(request(t, s, admin, "GET", test.target, "", test.headers...)); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	r := request(t, s, admin, "GET", "/wp-json/feed/troubleshooting", "")
	a := &ask.Answer{Status: 200, Header: http.Header{"Etag": {"x"}}, Body: []byte(`{"access_token":"s","source":{"access_token":"t"}}`)}
	if err := p.Rewrite(r, a); err != nil || strings.Contains(string(a.Body), `"s"`) || strings.Contains(string(a.Body), `"t"`) || a.Header.Get("ETag") != "" {
		t.Errorf("got %s, %v, %v", a.Body, a.Header, err)
	}
	a = &ask.Answer{Status: 200, Header: http.Header{}, Body: []byte(`<b>Warning</b>{"access_token":"s"}`)}
	if err := p.Rewrite(r, a); err == nil {
		t.Error("an answer that does not parse is sent on")
	}
	for _, o := range []Option{line("redact /x"), line("redact x y"), line("redact /x a..b"), line("redact /x y", line("z"))} {
		if err := new(Redact).Configure(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestSessionCookies(t *testing.T) {
	s := newSite(t)
	p := new(SessionCookies)
	configure(t, p, line("session_cookies", line("path /"), line("domain shop.example")))
	provision(t, s, p)
	const ended = "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
	a := &ask.Answer{Header: http.Header{"Set-Cookie": {
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; path=/blog/wp-content/plugins; secure; HttpOnly",
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; path=/blog/wp-admin; secure; HttpOnly",
		"wordpress_logged_in_abc=admin%7C1; path=/blog/; HttpOnly; SameSite=Lax",
		"wordpress_abc=y; Path=/blog/wp-admin; Domain=old.example",
		"wordpress_test_cookie=WP+Cookie+check; path=/blog/",
		"wordpress_here=1; PATH = / ;domain=.Shop.example; secure",
		"wordpress_bare=1",
		"wp-settings-1=a; path=/blog/",
		"other=1; path=/blog/", "other=1; path=/blog/",
	}}}
	if err := p.Rewrite(nil, a); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"wordpress_sec_abc=; path=/blog/wp-content/plugins; secure; HttpOnly" + ended,
		"wordpress_sec_abc=; path=/blog/wp-admin; secure; HttpOnly" + ended,
		"wordpress_sec_abc=x; expires=Fri, 01 Jan 2027 00:00:00 GMT; Max-Age=9; secure; HttpOnly; Path=/; Domain=shop.example",
		"wordpress_logged_in_abc=; path=/blog/; HttpOnly; SameSite=Lax" + ended,
		"wordpress_logged_in_abc=admin%7C1; HttpOnly; SameSite=Lax; Path=/; Domain=shop.example",
		"wordpress_abc=; Path=/blog/wp-admin; Domain=old.example" + ended,
		"wordpress_abc=y; Path=/; Domain=shop.example",
		"wordpress_test_cookie=WP+Cookie+check; path=/blog/",
		"wordpress_here=1; PATH = / ;domain=.Shop.example; secure",
		"wordpress_bare=" + ended,
		"wordpress_bare=1; Path=/; Domain=shop.example",
		"wp-settings-1=a; path=/blog/",
		"other=1; path=/blog/", "other=1; path=/blog/",
	}
	if got := a.Header["Set-Cookie"]; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, bad := range []*SessionCookies{{}, {Path: "blog"}, {Path: "/;x"}, {Domain: "a b"}} {
		if err := provisionError(s, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func TestNoStore(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(NoStore))
	for target, want := range map[string]Rewrite{"/wp-json/wp/v2/posts": RewriteHeader, "/page": RewriteNothing} {
		if got := p.Rewrites(request(t, s, nil, "GET", target, "", basicAuth)); got != want {
			t.Errorf("%s: got %d", target, got)
		}
	}
	if got := p.Rewrites(request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")); got != RewriteNothing {
		t.Error("an anonymous answer is rewritten")
	}
	for in, want := range map[string]string{"": "no-store", "max-age=60": "no-store", "private, no-store": "private, no-store"} {
		a := &ask.Answer{Header: http.Header{"Cache-Control": {in}}}
		if err := p.Rewrite(nil, a); err != nil || a.Header.Get("Cache-Control") != want {
			t.Errorf("%q became %q", in, a.Header.Get("Cache-Control"))
		}
	}
}

func TestStripQuery(t *testing.T) {
	s := newSite(t)
	p := new(StripQuery)
	configure(t, p, line("strip_query lang /wp/v2/**"))
	provision(t, s, p)
	for target, want := range map[string]string{
		"/wp-json/wp/v2/posts?lang=fr":                   "",
		"/wp-json/wp/v2/posts?a=1&lang=fr&b=%zz&+lang=x": "a=1&b=%zz",
		"/wp-json/wp/v2/posts?lang[]=fr&language=de":     "language=de",
		"/?rest_route=/wp/v2/posts&lang=fr":              "rest_route=/wp/v2/posts",
		"/wp-json/wc/v3/orders?lang=fr":                  "lang=fr",
		"/page?lang=fr":                                  "lang=fr",
	} {
		r := request(t, s, nil, "GET", target, "")
		changed := p.Change(r, r.HTTP)
		if r.HTTP.URL.RawQuery != want || changed != (want != strings.SplitN(target, "?", 2)[1]) {
			t.Errorf("%s: query is %q (%v), want %q", target, r.HTTP.URL.RawQuery, changed, want)
		}
	}
	for _, text := range []string{"strip_query rest_route /x", "strip_query _method /x", "strip_query lang", "strip_query a.b /x", "strip_query lang x"} {
		if err := new(StripQuery).Configure(line(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
