package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, strings.Join([]string{
			r.Method, r.RequestURI, r.Host, r.Header.Get("Content-Type"), r.Header.Get("X-A"), user, password, string(body),
		}, "|"))
	}))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		line, body string
		edits      []Edit
		want       string
	}{
		"lines":   {"GET /a?b", "", []Edit{Lines("X-A: b", "Host: shop.example")}, "GET|/a?b|shop.example||b|||"},
		"login":   {"GET /", "", []Edit{Login("u:p:q"), Header("X-A", "b")}, "GET|/|" + server.Listener.Addr().String() + "||b|u|p:q|"},
		"JSON":    {"PUT /", "[1]", []Edit{Typed("[1]"), Lines("Host: h")}, "PUT|/|h|application/json||||[1]"},
		"a form":  {"POST /", "a=b", []Edit{Typed("a=b"), Lines("Host: h")}, "POST|/|h|application/x-www-form-urlencoded||||a=b"},
		"no body": {"POST /", "", []Edit{Typed(""), Lines("Host: h")}, "POST|/|h|||||"},
	} {
		req, err := Request(t.Context(), server.URL, test.line, test.body, test.edits...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Do(New(), req)
		if err != nil || got.Status != http.StatusFound || got.Header.Get("Location") != "/elsewhere" || got.Body != test.want {
			t.Errorf("%s: %+v, %v, want %s", name, got, err, test.want)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	const body = `{"a":[{"b":7}]}`
	if got := At(body, "a", "0", "b"); got != 7.0 {
		t.Error(got)
	}
	for _, path := range [][]string{{"x"}, {"a", "1"}, {"a", "-1"}, {"a", "x"}, {"a", "0", "b", "c"}} {
		if got := At(body, path...); got != nil {
			t.Error(path, got)
		}
	}
	if got := At("no JSON"); got != nil {
		t.Error(got)
	}
}
