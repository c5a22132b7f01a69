package site_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// FuzzDispatch: no request makes the site panic, and every REST answer that
// claims to be an error has the error object's shape.
func FuzzDispatch(f *testing.F) {
	seeds := []struct{ method, target, contentType, body string }{
		{"GET", "/cms-json/", "", ""},
		{"GET", "/?rest.route=/cms/v2/users&per_page=2", "", ""},
		{"PUT", "/cms-json/shop/v3/orders/17", "application/json", `{"line_items":[{"id":1,"quantity":0}],"status":"completed"}`},
		{"POST", "/cms-json/shop/v3/orders/batch", "application/json", `{"update":[{"id":"17x"}],"create":[1],"delete":{"a":[2]}}`},
		{"POST", "/cms-json/batch/v1", "application/json", `{"requests":[{"path":"///"},{"path":"/cms/v2/posts?x","headers":{"a":"b"}}]}`},
		{"POST", "/", "application/x-www-form-urlencoded", "rest_route=/shop/v3/orders/17/refunds&compute_totals=1&line_items[0][id]=1"},
		{"POST", "/cms-json/shop/v3/orders/17/refunds/preview", "application/json", `{"line_items":[{"line_item_id":1,"quantity":9}]}`},
		{"GET", "/cms-json/cms-abilities/v1/abilities/shop/orders-query/run?input[status]=x&_envelope&_embed", "", ""},
		{"POST", "/cms-json/mcp/mcp-adapter-default-server", "application/json", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`},
		{"POST", "/cms-json/shop/store/v1/checkout?_method=GET&_fields=a.b", "multipart/form-data; boundary=b", "--b\r\n\r\n"},
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s.method, s.target, s.contentType, s.body)
	}
	s, err := site.New(site.Options{Release: "11.1"})
	if err != nil {
		f.Fatal(err)
	}
	admin := s.Info().Users["admin"]
	f.Fuzz(func(t *testing.T, method, target, contentType, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://example.com", strings.NewReader(body))
		if err != nil || !strings.HasPrefix(target, "/") {
			return
		}
		if r.URL, err = url.ParseRequestURI(target); err != nil {
			return
		}
		r.Header.Set("Content-Type", contentType)
		r.SetBasicAuth("admin", admin.ApplicationPassword)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		isJSON := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json")
		if w.Code == http.StatusMethodNotAllowed && w.Body.Len() == 0 {
			return // GET of a server for agents
		}
		if w.Code >= 400 && isJSON && !strings.Contains(w.Body.String(), `"code":`) {
			t.Fatalf("%d without an error object: %s", w.Code, w.Body)
		}
	})
}
