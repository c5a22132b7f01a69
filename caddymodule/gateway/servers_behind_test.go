package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

// errorPages is a server that shows its own page in place of each error, as nginx does with
// fastcgi_intercept_errors.
func errorPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		switch answer.Code {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			http.Error(w, "<html>not found</html>", answer.Code)
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// slashes is a server that redirects each GET without a slash at its end to the address with one.
func slashes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Location", "http://"+r.Host+r.URL.EscapedPath()+"/?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noUsers is a server that closes the list of users by its path, as guides against the search for
// names of users have it.
func noUsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/wp-json/wp/v2/users") {
			http.Error(w, "<html>forbidden</html>", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// TestServersBehind: a server between that replaces errors, closes users or wants a slash, stops no editor and
// no order, and hides no subscription. What it needs is found out once.
func TestServersBehind(t *testing.T) {
	for name, test := range map[string]struct {
		server    func(http.Handler) http.Handler
		questions int // for one more order
	}{
		"its own error pages": {errorPages, 1}, "a slash at the end": {slashes, 1}, "both": {func(next http.Handler) http.Handler { return slashes(errorPages(next)) }, 1},
		"no users": {noUsers, 1}, "no users, and error pages": {func(next http.Handler) http.Handler { return noUsers(errorPages(next)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := referencesite.New(referencesite.Options{Platform: "wordpress", Release: "10.7"})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			asked := 0
			behind := test.server(s)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				if strings.Contains(r.URL.RawQuery, "restwarden=") {
					asked++
				}
				mu.Unlock()
				behind.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			g := startGateway(t, "\trestwarden wordpress {\n\t\tlogin_only\n\t}\n\treverse_proxy "+strings.TrimPrefix(server.URL, "http://"))
			r := &reference{g, s, s.Info()}
			admin := r.as("admin")
			update := func(id, status int, text string) {
				t.Helper()
				r.do(fmt.Sprintf("PUT /wp-json/wc/v3/orders/%d", id), `{"customer_note":"x"}`, asJSON, admin).want(t, status, text)
			}
			r.do("POST /wp-json/wp/v2/posts", `{"title":"x"}`, asJSON, admin).want(t, 201, "")
			update(r.info.Orders[0], 200, `"customer_note":"x"`)
			update(r.info.Subscriptions[0], 400, "ID is invalid.")
			update(99999, 400, "ID is invalid.")
			r.do("GET /wp-json/wp/v2/posts/", "", basicAuth("admin:wrong")).want(t, 401, `"code":"`)
			mu.Lock()
			asked = 0
			mu.Unlock()
			update(r.info.Orders[1], 200, `"customer_note":"x"`)
			mu.Lock()
			defer mu.Unlock()
			if asked != test.questions {
				t.Errorf("%d questions about one more order, want %d", asked, test.questions)
			}
		})
	}
}
