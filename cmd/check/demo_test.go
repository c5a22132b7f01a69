package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDemo_Try(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				return
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return server
	}
	bare := answer(http.StatusOK, `[]`)
	guarded := answer(http.StatusUnauthorized, `{"code":"rest_not_logged_in"}`)
	other := answer(http.StatusForbidden, `{"code":"rest_forbidden"}`)
	for _, platform := range []string{"cms", "wordpress"} {
		if err := (demo{Gateway: guarded.URL, Backend: bare.URL, Platform: platform}).try(t.Context()); err != nil {
			t.Errorf("%s: %v", platform, err)
		}
	}
	for name, d := range map[string]demo{
		"an open gateway":        {Gateway: bare.URL, Backend: bare.URL},
		"another refusal":        {Gateway: other.URL, Backend: bare.URL},
		"a closed bare platform": {Gateway: guarded.URL, Backend: guarded.URL},
		"nobody there":           {Gateway: "http://127.0.0.1:1", Backend: bare.URL},
	} {
		if err := d.try(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestChildStatus(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"{\"msg\":\"stopped\"}\n":       "",
		"a line\nexit status 2\n":       "exit status 2",
		"signal: interrupt\n":           "signal: interrupt",
		"{\"msg\":\"exit status 2\"}\n": "",
	} {
		if got := childStatus.FindString(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}
