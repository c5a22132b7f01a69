package siteroot_test

import (
	"net/http"
	"net/http/httptest"
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
