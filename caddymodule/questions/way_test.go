package questions

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// TestWay_WantsSlash: only the question's own address with a slash, on the same host, is asked again.
func TestWay_WantsSlash(t *testing.T) {
	w := addresses{client: "/wp-json/wc/v3/orders/7?a=1", current: "/wp-json/wc/v3/orders/7?a=1"}
	for location, want := range map[string]bool{
		"/wp-json/wc/v3/orders/7/?a=1":                                true,
		"http://shop.test/wp-json/wc/v3/orders/7/?a=1":                true,
		"https://SHOP.test:8080/wp-json/wc/v3/orders/7/?a=1":          true,
		"http://www.shop.test/wp-json/wc/v3/orders/7/?a=1":            false,
		"//evil.test/wp-json/wc/v3/orders/7/?a=1":                     false,
		"http://a@shop.test/wp-json/wc/v3/orders/7/?a=1":              false,
		"/wp-json/wc/v3/orders/7/":                                    false,
		"/wp-json/wc/v3/orders/7/?a=1&b=2":                            false,
		"/wp-json/wc/v3/orders/7/?a=1#x":                              false,
		"/wp-json/wc/v3/orders/7//?a=1":                               false,
		"/wp-json/wc/v3/orders/7?a=1":                                 false,
		"/wp-json/wc/v3/orders/8/?a=1":                                false,
		"/wp-json/wc/v3/orders%2f7/?a=1":                              false,
		"wp-json/wc/v3/orders/7/?a=1":                                 false,
		"":                                                            false,
		"http://shop.test/wp-login.php?redirect_to=/wp-json/orders/7": false,
	} {
		a := &ask.Answer{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {location}}}
		if got := w.wantsSlash(&ask.Question{}, "shop.test", a); got != want {
			t.Errorf("%s: %v", location, got)
		}
		for _, q := range []ask.Question{{Form: call.Query}, {Page: "/x"}} {
			if w.wantsSlash(&q, "shop.test", a) {
				t.Errorf("%s: %+v is asked again", location, q)
			}
		}
		if a.Status = http.StatusSeeOther; w.wantsSlash(&ask.Question{}, "shop.test", a) {
			t.Errorf("%s: 303 is followed", location)
		}
	}
	root := addresses{client: "/wp-json/", current: "/wp-json/"}
	if root.wantsSlash(&ask.Question{}, "shop.test", &ask.Answer{Status: 301, Header: http.Header{"Location": {"/wp-json//"}}}) {
		t.Error("a second slash")
	}
}

// FuzzTarget: whatever precedes the prefix in a client's path, a question goes to its own
// route below it, or nowhere.
func FuzzTarget(f *testing.F) {
	seeds := []string{"", "/blog", "/de/shop", "/a?b", "/a#b", "//evil.test", "http://evil.test", "/%2e%2e", "/a b", "/a\r\nX: y", "/ä", "/a%zz", "*"}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, base := range seeds {
		f.Add(base, false)
		f.Add(base, true)
	}
	f.Fuzz(func(t *testing.T, base string, query bool) {
		form := call.Pretty
		if query {
			form = call.Query
		}
		way, err := addressesOf(&ask.Question{Base: base, Form: form, Route: "/cms/v2/users/me", Query: "context=edit"}, "cms-json")
		if err != nil {
			return
		}
		target := way.client
		if way.current != target {
			t.Fatalf("%q: %q became %q without a rewrite", base, target, way.current)
		}
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || u.Scheme != "" || u.Fragment != "" || strings.ContainsAny(target, " \r\n") {
			t.Fatalf("%q: %q %v", base, target, err)
		}
		if query && u.RawQuery != "rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit" || !query && u.RawQuery != "context=edit" {
			t.Fatalf("%q: query %q", base, u.RawQuery)
		}
		if !query && !strings.HasSuffix(u.EscapedPath(), "/cms-json/cms/v2/users/me") {
			t.Fatalf("%q: path %q", base, u.EscapedPath())
		}
	})
}

// FuzzWay: whatever a rewrite before the gateway has made of a client's path, both addresses
// of a question name its own route, or there is no question.
func FuzzWay(f *testing.F) {
	seeds := []struct{ base, client, script string }{
		{"", "", "/index.php"},
		{"", "/two", "/index.php"},
		{"/index.php", "/", ""},
		{"/blog", "//evil.test", "/blog/index.php"},
		{"", "/a?b", "/index.php"},
		{"", "", "/index.php?rest_route=/x"},
		{"/a", "/a b", "/x\r\ny"},
		{"/", "/%2e%2e/", "*"},
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		for _, flags := range []byte{0, 1, 2, 3} {
			f.Add(s.base, s.client, s.script, flags&1 != 0, flags&2 != 0)
		}
	}
	f.Fuzz(func(t *testing.T, base, client, script string, query, pretty bool) {
		q := &ask.Question{Base: base, Route: "/cms/v2/users/me", Query: "context=edit", Rewritten: &call.Rewritten{Client: client, Pretty: pretty, Script: script}}
		if query {
			q.Form = call.Query
		}
		way, err := addressesOf(q, "cms-json")
		if err != nil {
			return
		}
		for _, target := range []string{way.client, way.current} {
			u, err := url.ParseRequestURI(target)
			if err != nil || u.Host != "" || u.Scheme != "" || u.Fragment != "" || strings.ContainsAny(target, " \r\n") {
				t.Fatalf("%q of %+v: %v", target, way, err)
			}
			named := u.RawQuery == "rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit" ||
				u.RawQuery == "context=edit" && strings.HasSuffix(u.EscapedPath(), "/cms-json/cms/v2/users/me")
			if asScript := target == way.current && script != "" && target == script+"?context=edit"; !named && !asScript {
				t.Fatalf("%q of %+v", target, way)
			}
		}
	})
}
