package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// startPlatform serves the reference platform, which says as WordPress does what strangers
// may do with a route. It fails the test where a request may change anything.
func startPlatform(t *testing.T, allow string, change func(http.Handler) http.Handler) string {
	t.Helper()
	platform, err := site.New(site.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = platform
	if change != nil {
		handler = change(handler)
	}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodPost || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" {
			t.Errorf("%s %s with %v", r.Method, r.RequestURI, r.Header)
		}
		for _, named := range []string{r.Header.Get("X-HTTP-Method-Override"), r.URL.Query().Get("_method")} {
			if named != "" && !strings.EqualFold(strings.TrimSpace(named), "GET") {
				t.Errorf("%s %s names %q", r.Method, r.RequestURI, named)
			}
		}
		w.Header().Set("Allow", allow)
		handler.ServeHTTP(w, r)
	})
}

func serve(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// proxyTo is a proxy before the platform, which refuses some requests.
func proxyTo(t *testing.T, platform string, refuses func(*http.Request) bool, modify func(*http.Response) error) http.HandlerFunc {
	t.Helper()
	to, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			r.Out.Host = r.In.Host
		},
		ModifyResponse: modify,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if refuses(r) {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		forward.ServeHTTP(w, r)
	}
}

// What proxies refuse.
var (
	nothing    = func(*http.Request) bool { return false }
	itsPath    = func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/wp-json/wp/v2/users") }
	allButOpen = func(r *http.Request) bool { return r.RequestURI != "/wp-json/wp/v2/taxonomies" }
)

// TestRun: the exit status and the sums, for proxies that stop nothing, something and all.
func TestRun(t *testing.T) {
	t.Parallel()
	platform := startPlatform(t, "GET", nil)
	for name, test := range map[string]struct {
		refuses func(*http.Request) bool
		status  int
		fits    func(*report) bool
	}{
		"nothing is refused": {nothing, somethingPast, func(r *report) bool { return r.Past > 100 && r.Stopped < 10 && r.Kinds[0].Past == r.Kinds[0].Run }},
		"the path is":        {itsPath, somethingPast, func(r *report) bool { return r.Past > 50 && r.Kinds[0].Past == 0 && r.Kinds[0].Stopped > 20 }},
		"all else is":        {allButOpen, nothingPast, func(r *report) bool { return r.Past == 0 && r.Stopped == r.Run && r.Run > 100 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := serve(t, proxyTo(t, platform, test.refuses, nil))
			var out, log bytes.Buffer
			status := run(t.Context(), []string{"--proxy", proxy, "--platform", platform, "--requests", "400", "--format", "json"}, &out, &log)
			r := new(report)
			if err := json.Unmarshal(out.Bytes(), r); err != nil || status != test.status || !test.fits(r) || r.Sent != 400 || log.Len() > 0 {
				t.Errorf("%d, %v\n%s\n%s", status, err, &out, &log)
			}
		})
	}
}

// TestRun_tls: a proxy on this machine may have a certificate of its own.
func TestRun_tls(t *testing.T) {
	t.Parallel()
	platform := startPlatform(t, "GET", nil)
	proxy := httptest.NewTLSServer(proxyTo(t, platform, itsPath, nil))
	t.Cleanup(proxy.Close)
	var out, log bytes.Buffer
	status := run(t.Context(), []string{"--proxy", proxy.URL, "--platform", platform, "--requests", "100"}, &out, &log)
	if status != somethingPast || !strings.Contains(out.String(), "GET /?rest_route=/wp/v2/users HTTP/1.1") {
		t.Errorf("%d\n%s%s", status, &out, &log)
	}
}

// TestRun_notKnown: nothing is said where nothing is known.
func TestRun_notKnown(t *testing.T) {
	t.Parallel()
	var calls, changing atomic.Int64
	differs := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.RequestURI, "users") {
				_, _ = fmt.Fprint(w, calls.Add(1))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	changes := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RequestURI == "/?rest_route=/wp/v2/users" {
				_, _ = fmt.Fprint(w, "users, at first ", changing.Add(1) < 4)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	same := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "a page") })
	}
	adds := func(r *http.Response) error {
		r.Header.Del("Content-Length")
		r.Body = struct {
			*strings.Reader
			nopCloser
		}{strings.NewReader("x"), nopCloser{}}
		r.ContentLength = 1
		return nil
	}
	bare := startPlatform(t, "GET", nil)
	for name, test := range map[string]struct {
		platform string
		modify   func(*http.Response) error
		args     string
		want     error
	}{
		"the route needs a login":     {bare, nil, "--route /wp/v2/users/me", errNotRun},
		"there is no such route":      {bare, nil, "--route /wp/v2/nothing", errNotRun},
		"strangers may write":         {startPlatform(t, "GET, POST", nil), nil, "", errWritable},
		"nothing says what they may":  {startPlatform(t, "", nil), nil, "", errWritable},
		"each answer is another":      {startPlatform(t, "GET", differs), nil, "", errNotAlike},
		"the answer changes later":    {startPlatform(t, "GET", changes), nil, "", errNotAgain},
		"all answers are the same":    {startPlatform(t, "GET", same), nil, "", errNotAlike},
		"the proxy changes answers":   {bare, adds, "", errNotOpen},
		"the open route is not there": {bare, nil, "--open /wp/v2/nothing", errNotOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, log bytes.Buffer
			args := append([]string{"--proxy", serve(t, proxyTo(t, test.platform, nothing, test.modify)), "--platform", test.platform, "--requests", "100"}, strings.Fields(test.args)...)
			if status := run(t.Context(), args, &out, &log); status != notKnown || !strings.Contains(log.String(), test.want.Error()) || out.Len() > 0 {
				t.Errorf("%d\n%s%s", status, &out, &log)
			}
		})
	}
	t.Run("there is no proxy", func(t *testing.T) {
		t.Parallel()
		var out, log bytes.Buffer
		status := run(t.Context(), []string{"--proxy", "http://127.0.0.1:1", "--platform", bare}, &out, &log)
		if status != notKnown || !strings.Contains(log.String(), "--proxy: dial") {
			t.Errorf("%d\n%s%s", status, &out, &log)
		}
	})
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

// TestRun_usage: nothing is sent to addresses of which nobody says that they are theirs.
func TestRun_usage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"": "--proxy is an address",
		"--proxy 127.0.0.1:8000 --platform http://127.0.0.1:1":                          "--proxy is an address",
		"--proxy http://127.0.0.1:1/blog --platform http://127.0.0.1:1":                 "without a path",
		"--proxy http://127.0.0.1:1 --platform http://192.0.2.1":                        "--i-own-this",
		"--proxy http://shop.example.com --platform http://127.0.0.1:1":                 "--i-own-this",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --requests 0":         "--requests",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --requests 999999":    "--requests",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --format xml":         "--format",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --route users":        "--route",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --host a/b":           "no host name",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --open /wp/v2/users":  "--open",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 something":            "no arguments",
		"--proxy http://127.0.0.1:1 --platform http://127.0.0.1:1 --no-such-flag=there": "-no-such-flag",
	} {
		var out, log bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), &out, &log); status != wrongUsage || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %d, %s", args, status, &log)
		}
	}
	s := &settings{proxy: "https://shop.example.com", platform: "https://127.0.0.1:8443", mine: true}
	proxy, platform, err := s.peers()
	if err != nil || proxy.address != "shop.example.com:443" || proxy.tls.InsecureSkipVerify || proxy.tls.ServerName != "shop.example.com" ||
		platform.address != "127.0.0.1:8443" || platform.host != "shop.example.com" || !platform.tls.InsecureSkipVerify {
		t.Errorf("%+v, %+v, %v", proxy, platform, err)
	}
}
