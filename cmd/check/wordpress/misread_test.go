//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestMisread: a rewrite rule of a plugin makes pages calls. What the platform answers there is
// counted, and with misread refuse it does not reach a stranger. Nothing else that WordPress
// answers looks so.
func TestMisread(t *testing.T) {
	s := setUps(t)
	for _, site := range []string{fpm, apache} {
		t.Run(site, func(t *testing.T) {
			counts, refuses := s.gate(site, modeDefault), s.gate(site, modeMisread)
			for _, g := range []*gate{counts, refuses} {
				honestPages(t, g)
			}
			if text := s.misreadLines(t); text != "" {
				t.Errorf("honest pages are misread: %s", text)
			}
		})
	}
	for _, site := range []string{fpm, apache} {
		t.Run(site+" behind a rule", func(t *testing.T) {
			counts, refuses := s.gate(site, modeDefault), s.gate(site, modeMisread)
			before := s.misreads(t)
			for _, line := range []string{"GET /api/wp/v2/users", "HEAD /api/wp/v2/users", "OPTIONS /api/wp/v2/users", "GET /api/no/route", "GET /api/standin/v1/fatal", "POST /api/wp/v2/posts"} {
				a := mustFetch(t, counts, line, nil)
				if a.refused() || line == "GET /api/wp/v2/users" && a.status != http.StatusOK {
					t.Errorf("%s: %s", line, a)
				}
				before++
				wait.For(t, 20*time.Second, "it is counted: "+line, func() bool { return s.misreads(t) >= before })
			}
			wait.For(t, 20*time.Second, "a refusal", func() bool {
				return mustFetch(t, refuses, "GET /api/wp/v2/users", nil).status == http.StatusBadGateway
			})
			admin := refuses.Site.Accounts["administrator"]
			for line, want := range map[string]string{
				"GET /api/wp/v2/users":      "502 rest_misread",
				"HEAD /api/wp/v2/users":     "502",
				"GET /api/no/route":         "502 rest_misread",
				"GET /api/standin/v1/fatal": "502 rest_misread",
				"POST /api/wp/v2/posts":     "401 rest_cannot_create",
			} {
				a := mustFetch(t, refuses, line, nil)
				if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code)); got != want {
					t.Errorf("%s: %s, want %s", line, a, want)
				}
			}
			if a := mustFetch(t, refuses, "GET /api/wp/v2/users", &admin); a.status != http.StatusOK {
				t.Errorf("an administrator: %s", a)
			}
			if !strings.Contains(s.misreadLines(t), `"target":"/api/wp/v2/users"`) {
				t.Error("no line in the log")
			}
		})
	}
}

// honestPages asks for all kinds of what WordPress answers beside its REST interface.
func honestPages(t *testing.T, g *gate) {
	t.Helper()
	feed := mustFetch(t, g, "GET /feed/", nil)
	for _, line := range []string{
		"GET /", "HEAD /", "OPTIONS /", "POST /", "GET /?p=1", "GET /no-such-page/", "GET /?s=word", "GET /feed/", "GET /?embed=true&p=1",
		"GET /comments/feed/", "GET /wp-sitemap.xml", "GET /robots.txt", "GET /favicon.ico", "GET /wp-login.php", "GET /wp-admin/",
		"GET /wp-admin/admin-ajax.php", "GET /wp-admin/admin-ajax.php?action=rest-nonce", "POST /wp-admin/admin-ajax.php", "GET /wp-cron.php", "GET /xmlrpc.php",
		"POST /xmlrpc.php", "POST /wp-comments-post.php", "GET /wp-trackback.php", "GET /wp-includes/css/dashicons.min.css", "GET /?author=1", "GET /wp-signup.php",
	} {
		a := mustFetch(t, g, line, nil)
		if a.status == http.StatusBadGateway || a.header.Get("Access-Control-Expose-Headers") != "" {
			t.Errorf("%s: %s", line, a)
		}
	}
	again := mustFetch(t, g, "GET /feed/", nil, "If-None-Match: "+feed.header.Get("Etag"), "If-Modified-Since: "+feed.header.Get("Last-Modified"))
	if again.status != http.StatusNotModified {
		t.Errorf("no 304: %s", again)
	}
}

// mustFetch sends "METHOD path" to a site that has the rewrite rule.
func mustFetch(t *testing.T, g *gate, line string, as *account, headers ...string) *answer {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := fetch(ctx, g, request{method: method, path: path, as: as, headers: append(headers, "X-Standin-Rule: on")})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return a
}

// misreads is how many pages were misread on all gates.
func (s *stack) misreads(t *testing.T) (n int) {
	t.Helper()
	metrics, err := s.metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(metrics) {
		var count int
		if _, value, ok := strings.Cut(line, "} "); ok && strings.HasPrefix(line, "caddy_restwarden_misread_total{") {
			if _, err := fmt.Sscan(value, &count); err != nil {
				t.Fatal(err)
			}
			n += count
		}
	}
	return n
}

// misreadLines are the lines about misread pages in the log of Caddy.
func (s *stack) misreadLines(t *testing.T) string {
	t.Helper()
	return strings.Join(s.logLines(t, "a page was answered by the REST interface"), "")
}

// logLines returns the lines of the log that have a text in them.
func (s *stack) logLines(t *testing.T, with string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "caddy.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}
