package gateway

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

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
		way, err := wayOf(&ask.Question{Base: base, Form: form, Route: "/cms/v2/users/me", Query: "context=edit"}, "cms-json")
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
		way, err := wayOf(q, "cms-json")
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

// FuzzCapture: an answer is whole and within its bounds, or an error.
func FuzzCapture(f *testing.F) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("x"), 5000))
	_ = z.Close()
	seeds := [][]byte{nil, []byte("{}"), zipped.Bytes(), zipped.Bytes()[:zipped.Len()-4], bytes.Repeat([]byte("x"), 2000)}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, body := range seeds {
		f.Add(body, "", "")
		f.Add(body, "gzip", "7")
	}
	f.Fuzz(func(t *testing.T, body []byte, encoding, length string) {
		const limit = 1000
		kept := new(stored)
		c := newCapture(limit, http.Header{}, kept)
		c.header.Set("Content-Encoding", encoding)
		c.header.Set("Content-Length", length)
		_, _ = c.Write(body) // an error of it is one of answer, too
		a, err := kept.answer(t.Context(), c, http.MethodGet, false)
		switch {
		case err != nil:
		case len(a.Body) > limit:
			t.Fatalf("%d bytes", len(a.Body))
		case encoding == "" && !bytes.Equal(a.Body, body):
			t.Fatal("not what was written")
		case a.Header.Get("Content-Encoding") != "" && a.Header.Get("Content-Encoding") != "identity" && !strings.EqualFold(encoding, "identity"):
			t.Fatal("still encoded")
		}
	})
}
