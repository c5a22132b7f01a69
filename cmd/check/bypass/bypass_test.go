package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// startPlatform serves the reference platform, which says as WordPress does what strangers
// may do with a route.
func startPlatform(tb testing.TB) *httptest.Server {
	tb.Helper()
	platform, err := site.New(site.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", "GET")
		platform.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	return server
}

// startProxy serves a proxy before the platform, which refuses some requests.
func startProxy(tb testing.TB, platform string, refuses func(*http.Request) bool) *httptest.Server {
	tb.Helper()
	to, err := url.Parse(platform)
	if err != nil {
		tb.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.URL.RawQuery = r.In.URL.RawQuery
		r.Out.Host = r.In.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses(r) {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	return server
}

func TestRun(t *testing.T) {
	p := startPlatform(t)
	px := startProxy(t, p.URL, func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/wp-json/wp/v2/users") })
	var out, log bytes.Buffer
	t.Log(run(t.Context(), []string{"--proxy", px.URL, "--platform", p.URL}, &out, &log), out.String(), log.String())
}
