package livetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestMisread_Protocols: over every protocol, nothing of an answer to a misread page reaches a
// stranger: neither body nor headers, nor what comes with 101, in trailers or later on.
func TestMisread_Protocols(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			_, _ = io.WriteString(w, "a page")
			return
		}
		w.Header().Set("Access-Control-Expose-Headers", "X-WP-Total, X-WP-TotalPages, Link")
		w.Header().Set("X-WP-Total", "secret")
		if r.URL.Path == "/api/upgrade" && r.Header.Get("Upgrade") != "" {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			w.WriteHeader(http.StatusSwitchingProtocols)
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_, _ = io.WriteString(conn, "secret")
				_ = conn.Close()
			}
			return
		}
		w.Header().Set("Trailer", "X-After")
		for range 3 {
			_, _ = io.WriteString(w, strings.Repeat("secret", 10_000))
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-After", "secret")
		w.Header().Set(http.TrailerPrefix+"X-Later", "secret")
	}))
	t.Cleanup(backend.Close)
	at := runEverywhere(t, "", "\trestwarden wordpress {\n\t\tmisread refuse\n\t}\n\treverse_proxy "+strings.TrimPrefix(backend.URL, "http://")+"\n")
	overAll(t, "", func(t *testing.T, by *client) {
		address := at(by.protocol)[0]
		wait.For(t, patience, "the home page is known", func() bool {
			got, _ := by.send(t, address, request("GET /api/wp/v2/users", ""))
			return got.status == http.StatusBadGateway
		})
		requests := map[string][]byte{"plain": request("GET /api/wp/v2/users", "")}
		if by.protocol == http1 {
			requests["upgrade"] = request("GET /api/upgrade", "", "Connection: Upgrade", "Upgrade: websocket")
		}
		for name, raw := range requests {
			got, why := by.send(t, address, raw)
			if why != "" || got.status != http.StatusBadGateway || !got.is("rest_misread") || strings.Contains(string(got.raw), "secret") {
				t.Errorf("%s: %d %.300q %s", name, got.status, got.raw, why)
			}
		}
		if got, _ := by.send(t, address, request("GET /page", "")); got.status != http.StatusOK || got.body != "a page" {
			t.Errorf("a page: %d %q", got.status, got.body)
		}
	})
}
