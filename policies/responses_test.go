package policies

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

func TestRedactJSON(t *testing.T) {
	paths := [][]string{{"access_token"}, {"source", "access_token"}, {"_embedded", "author", "slug"}}
	for in, want := range map[string]string{
		`{"access_token":"s","a":1.50}`:                           `{"access_token":"[redacted]","a":1.50}`,
		`{"source":{"access_token":{"deep":"s"},"b":[]}}`:         `{"source":{"access_token":"[redacted]","b":[]}}`,
		`[{"access_token":1},{"access_token":[1,2]}]`:             `[{"access_token":"[redacted]"},{"access_token":"[redacted]"}]`,
		`{"body":{"access_token":"s"},"status":200,"headers":{}}`: `{"body":{"access_token":"[redacted]"},"status":200,"headers":{}}`,
		`{"update":[{"access_token":"s","id":7}]}`:                `{"update":[{"access_token":"[redacted]","id":7}]}`,
		`{"body":{"create":[{"access_token":"s"}]}}`:              `{"body":{"create":[{"access_token":"[redacted]"}]}}`,
		`{"responses":[{"body":{"access_token":"s"}}]}`:           `{"responses":[{"body":{"access_token":"[redacted]"}}]}`,
		`/**/cb({"access_token":"s"})`:                            `/**/cb({"access_token":"[redacted]"})`,
		`{"\u0061ccess_token":"s"}`:                               `{"access_token":"[redacted]"}`,
		`{"access_token":"a","access_token":"b"}`:                 `{"access_token":"[redacted]","access_token":"[redacted]"}`,
		`[{"_embedded":{"author":[{"slug":"admin","id":1}]}}]`:    `[{"_embedded":{"author":[{"slug":"[redacted]","id":1}]}}]`,
		`{"other":{"access_token":"kept"},"e":"\u00e9\/"}`:        `{"other":{"access_token":"kept"},"e":"\u00e9\/"}`,
		`"text"`: `"text"`,
	} {
		got, err := redactJSON([]byte(in), paths)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{``, `{`, `{"a":1}x`, `<html>`, `{"a":1}{"access_token":"s"}`, `cb({"access_token":"s"})`, `PHP Warning: x {"access_token":"s"}`} {
		if got, err := redactJSON([]byte(in), paths); err == nil {
			t.Errorf("%s: got %s without an error", in, got)
		}
	}
}

func FuzzRedactJSON(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"SECRET"}`, `[{"source":{"access_token":"SECRET"}}]`, `/**/cb({"access_token":"SECRET"})`, `{"a":"\ud800","access_token":1}`, `[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := redactJSON(in, [][]string{{"access_token"}})
		if err != nil || bytes.HasPrefix(out, []byte("/**/")) {
			return
		}
		var top map[string]any
		if json.Unmarshal(out, &top) == nil && top["access_token"] != nil && top["access_token"] != "[redacted]" {
			t.Errorf("%s became %s", in, out)
		}
		again, err := redactJSON(out, [][]string{{"access_token"}})
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("not idempotent: %s, %s, %v", out, again, err)
		}
	})
}

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
	a := &ask.Answer{Header: http.Header{"Set-Cookie": {
		"wordpress_logged_in_abc=admin%7C1; path=/blog/; HttpOnly; SameSite=Lax",
		"wordpress_sec_abc=x; Path=/blog/wp-admin; Domain=old.example; secure",
		"other=1; path=/blog/",
	}}}
	if err := p.Rewrite(nil, a); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"wordpress_logged_in_abc=admin%7C1; HttpOnly; SameSite=Lax; Path=/; Domain=shop.example",
		"wordpress_sec_abc=x; Path=/blog/wp-admin; Domain=old.example; secure",
		"other=1; path=/blog/",
	}
	for i := range want {
		if a.Header["Set-Cookie"][i] != want[i] {
			t.Errorf("got %s, want %s", a.Header["Set-Cookie"][i], want[i])
		}
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
