package siteroot_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
)

const small = `{"name":"A","namespaces":["wp/v2"],"routes":{"/":{},"/wp/v2/posts":{"methods":["GET"]}}}`

// TestFetch: the root is found in both forms, and what is none says why.
func TestFetch(t *testing.T) {
	asked := 0
	mux := http.NewServeMux()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if asked++; r.Header.Get("X-Token") == "open" {
				status = http.StatusOK
				body = small
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	mux.HandleFunc("/pretty/wp-json/", answer(200, small))
	mux.HandleFunc("/plain/wp-json/", answer(404, "<html>"))
	mux.HandleFunc("/plain/", answer(200, small))
	mux.HandleFunc("/page/", answer(200, "<html>"))
	mux.HandleFunc("/empty/", answer(200, `{"routes":[]}`))
	mux.HandleFunc("/closed/wp-json/", answer(401, `{"code":"rest_not_logged_in"}`))
	mux.HandleFunc("/broken/wp-json/", answer(500, "x"))
	mux.Handle("/moved/wp-json/", http.RedirectHandler("/pretty/wp-json/", http.StatusMovedPermanently))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, test := range []struct {
		path, header, want string
		asks               int
	}{
		{"/pretty", "", "", 1},
		{"/pretty/", "", "", 1},
		{"/pretty/wp-json/", "", "", 1},
		{"/pretty/wp-json/?rest_route=/", "", "", 1},
		{"/plain/", "", "", 2},
		{"/moved", "", "", 1},
		{"/page", "", "/page/wp-json/: there is no REST root (the answer is no JSON)", 2},
		{"/empty", "", "there is no REST root (the answer lists no routes)", 2},
		{"/closed", "", "is closed to callers without a login (401 Unauthorized): add a header with -H", 1},
		{"/closed", "X-Token: open", "", 1},
		{"/closed", "X-Token", "no header", 0},
		{"/broken", "", "/broken/wp-json/: there is no REST root (500 Internal Server Error)", 1},
		{"/none", "", "404 Not Found", 0},
		{"/pretty?x=1", "", "is not the address of a site's home page", 0},
	} {
		asked = 0
		var header []string
		if test.header != "" {
			header = []string{test.header}
		}
		root, err := siteroot.Fetch(t.Context(), server.URL+test.path, "wp-json", header)
		switch {
		case test.want == "" && (err != nil || len(root.Routes) != 2 || string(root.Text) != small || root.Address == ""):
			t.Errorf("%s: %+v, %v", test.path, root, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v", test.path, err)
		}
		if asked != test.asks {
			t.Errorf("%s: asked %d times", test.path, asked)
		}
	}
	for _, address := range []string{"", "shop.example.com", "ftp://shop.example.com", "https://"} {
		if _, err := siteroot.Fetch(t.Context(), address, "wp-json", nil); err == nil {
			t.Errorf("%q is an address", address)
		}
	}
}

// TestOpen: a saved root, and files that are none.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if root, err := siteroot.Open(write("root.json", small)); err != nil || len(root.Routes) != 2 || root.Address != "" {
		t.Errorf("%+v, %v", root, err)
	}
	for name, text := range map[string]string{"page.json": "<html>", "empty.json": "{}", "list.json": "[]"} {
		if root, err := siteroot.Open(write(name, text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %+v, %v", name, root, err)
		}
	}
	if _, err := siteroot.Open(filepath.Join(dir, "none")); err == nil {
		t.Error("there is no such file")
	}
}

// TestFetch_Elsewhere: header lines go to the named scheme, host and port, wherever the site
// redirects to. Without them a redirect is followed.
func TestFetch_Elsewhere(t *testing.T) {
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("X-Token")+r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		_, _ = w.Write([]byte(small))
	}))
	defer other.Close()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	defer site.Close()
	away := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/wp-json/"
	var hosts []string
	mux.HandleFunc("/here/wp-json/", func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host+" "+r.Header.Get("X-Token"))
		_, _ = w.Write([]byte(small))
	})
	mux.Handle("/away/wp-json/", http.RedirectHandler(away, http.StatusFound))
	mux.Handle("/port/wp-json/", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/scheme/wp-json/", http.RedirectHandler("https"+strings.TrimPrefix(site.URL, "http")+"/here/wp-json/", http.StatusFound))
	mux.Handle("/twice/wp-json/", http.RedirectHandler("/away/wp-json/", http.StatusFound))
	mux.Handle("/near/wp-json/", http.RedirectHandler(site.URL+"/here/wp-json/", http.StatusFound))
	mux.Handle("/loop/wp-json/", http.RedirectHandler("/loop/wp-json/", http.StatusFound))
	fetch := func(path string, header ...string) (*siteroot.Root, error) {
		return siteroot.Fetch(t.Context(), site.URL+path, "wp-json", header)
	}
	for path, target := range map[string]string{"/away": "name http://localhost:", "/port": "name " + other.URL, "/scheme": "name https://127.0.0.1:", "/twice": "name http://localhost:", "/loop": "10 redirects"} {
		for _, line := range []string{"X-Token: t", "Authorization: Basic c2VjcmV0", "Cookie: a=b"} {
			if root, err := fetch(path, line); err == nil || !strings.Contains(err.Error(), target) || errors.Is(err, siteroot.ErrUsage) {
				t.Errorf("%s, %s: %+v, %v", path, line, root, err)
			}
		}
	}
	if len(stolen) > 0 {
		t.Fatalf("headers went elsewhere: %q", stolen)
	}
	if root, err := fetch("/near", "X-Token: t", "Host: shop.example.com"); err != nil || strings.Join(hosts, ",") != "shop.example.com t" {
		t.Errorf("%+v, %v, %q", root, err, hosts)
	}
	root, err := fetch("/away")
	if err != nil || root.Address != away {
		t.Fatalf("%+v, %v", root, err)
	}
	if _, err := root.Ask(t.Context(), "/wp/v2/users", url.Values{}, []string{"X-Token: t"}); err == nil || len(stolen) != 1 || stolen[0] != "" {
		t.Errorf("%v, %q", err, stolen)
	}
}

// TestFetch_Usage: what cannot be meant is ErrUsage, and nothing is sent.
func TestFetch_Usage(t *testing.T) {
	for line, address := range map[string]string{
		"nonsense": "http://127.0.0.1:1", "A B: x": "http://127.0.0.1:1", "A: x\ny": "http://127.0.0.1:1", "Host:": "http://127.0.0.1:1",
		"Host: a b": "http://127.0.0.1:1", "A: 1": "ftp://x", "A: 2": "http://[", "A: 3": "http://x/?a=1", "A: 4": "",
	} {
		if _, err := siteroot.Fetch(t.Context(), address, "wp-json", []string{line}); !errors.Is(err, siteroot.ErrUsage) {
			t.Errorf("%q to %q: %v", line, address, err)
		}
	}
}

// TestFetch_Words: what the site writes into its answer is not shown, and no type of Go.
func TestFetch_Words(t *testing.T) {
	status := "500 \x1b[31mRED"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/list") {
			_, _ = w.Write([]byte(`[{"routes":1}]`))
			return
		}
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = buffer.WriteString("HTTP/1.0 " + status + "\r\n\r\n")
		_ = buffer.Flush()
		_ = conn.Close()
	}))
	defer server.Close()
	for path, want := range map[string]string{"/": "(500 Internal Server Error)", "/list": "the answer is JSON, and no REST root"} {
		if _, err := siteroot.Fetch(t.Context(), server.URL+path, "wp-json", nil); err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b{") {
			t.Errorf("%s: %q", path, err)
		}
	}
}
