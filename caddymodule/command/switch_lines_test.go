package command_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestClose_OtherSites: what is not possible at one site is done at all others, and the exit status tells.
func TestClose_OtherSites(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a"},{"site":"b"},{"site":"c"}]}`)
		case strings.HasSuffix(r.URL.Path, "/b/close"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"b has no such line"}`)
		default:
			name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/restwarden/sites/"), "/")
			_, _ = fmt.Fprintf(w, `{"site":%q,"line":"/x","on":false,"gateways":"this one"}`, name)
		}
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(strings.NewReader(""), "close", "--address", strings.TrimPrefix(admin.URL, "http://"), "--site", "*", "--for", "0s", "/x")
	if status != 1 || out != "a: close /x is taken back, on this gateway\nc: close /x is taken back, on this gateway\n" {
		t.Errorf("%d\n%s\n%s", status, out, problems)
	}
}

// TestClose_ListsNoSite: a site that is misspelled is not shown as one where nothing is closed.
func TestClose_ListsNoSite(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example","closes":[{"line":"/x"}]},{"site":"b.example"}]}`)
	}))
	t.Cleanup(admin.Close)
	for site, want := range map[string]int{"a.example": 0, "b.*": 0, "a.exmaple": 2} {
		out, _, status := command.Run(nil, "close", "--list", "--address", strings.TrimPrefix(admin.URL, "http://"), "--site", site)
		if status != want || strings.Contains(out, "close /x") != (site == "a.example") {
			t.Errorf("%s: %d\n%s", site, status, out)
		}
	}
}
