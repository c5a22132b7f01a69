package statuspage_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
)

// TestPage_Operator: the page hands on who an operator is, in the header that Caddy names, and no other header.
func TestPage_Operator(t *testing.T) {
	for _, test := range []struct{ named, lines, want string }{
		{"x-operator", "X-Operator: Anna", "Anna"},
		{"X-Operator", "X-Operator: Anna|X-Operator: Eve", "Anna|Eve"}, // which Caddy refuses
		{"X-Operator", "Restwarden-Operator: Eve|Authorization: Basic x", ""},
		{"X-Operator", "", ""},
		{"", "X-Operator: Anna", ""},
	} {
		var got []string
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"v":1,"sites":[],"operator_header":"`+test.named+`"}`)
				return
			}
			got = r.Header["X-Operator"]
			if r.Header.Get("Authorization")+r.Header.Get(adminapi.OperatorHeader) != "" {
				t.Errorf("%v", r.Header)
			}
			_, _ = io.WriteString(w, `{"lockdown":null}`)
		}))
		api, err := adminapi.New(strings.TrimPrefix(admin.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		page := statuspage.New(api, []byte(strings.Repeat("k", 32)))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1"+page.Path("")+"lockdown", strings.NewReader(`{"for":"1h"}`))
		for line := range strings.SplitSeq(test.lines, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		admin.Close()
		want := strings.Split(test.want, "|")
		if test.want == "" {
			want = nil
		}
		if w.Code != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("%+v: %d, %q", test, w.Code, got)
		}
	}
}
