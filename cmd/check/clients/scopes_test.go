//go:build clients

package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/cmd/check/testkit/wire"
	"github.com/restwarden/restwarden/policies/index"
)

// TestClients_Scopes: the journal of a day gives the scope under which the same day comes out the same, byte for byte, and every
// other call of the key is refused: each other method of each route of the index.
func TestClients_Scopes(t *testing.T) {
	for _, w := range ways {
		for name, rules := range map[string]string{"alone": "", "login_only": "login_only\n"} {
			t.Run(w.name+" "+name, func(t *testing.T) {
				s := newShops(t, w, "11.1")
				s.journal = filepath.Join(t.TempDir(), "journal.log")
				day := s.session(t, "woocommerce.mjs", gateway("journal all\n"+rules+w.rules))
				caddyrun.Stop(t) // the journal is whole
				scopes, _ := caddyrun.Command(t, "credentials", "--scopes", s.journal)
				did := journaled(t, s.journal)
				s.journal = ""
				again := s.session(t, "woocommerce.mjs", gateway(rules+w.rules+scopes))
				if err := wire.Compare(day.exchanges, again.exchanges, clock); err != nil {
					t.Fatalf("%v\n%s", err, scopes)
				}
				caddyrun.Stop(t)
				bound := s.open(t, gateway("recommended off\n"+w.rules+scopes)) // no other rule refuses
				others := s.others(t, bound, did)
				if others < 300 {
					t.Errorf("only %d other calls", others)
				}
				t.Attr("checks", strconv.Itoa(len(again.exchanges)+others))
			})
		}
	}
}

// journaled returns the calls of a journal, "PUT /wc/v3/orders/:id", with those of batches.
func journaled(t *testing.T, file string) (calls []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var of struct{ Msg, Method, Route, Batch string }
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			t.Fatal(err)
		}
		if of.Msg == "call passed" {
			calls = append(calls, of.Method+" "+of.Route, of.Batch)
		}
	}
	return calls
}

// others sends what the key has not done, and returns how many calls that were. Each has to be refused by the scope.
func (s *shops) others(t *testing.T, r *run, did []string) (n int) {
	t.Helper()
	root := rootOf(t, r.site)
	x := index.New(root.routes, root.namespaces)
	for _, pattern := range root.routes {
		route := sample(t, pattern)
		name, ok := x.Pattern(route)
		if !ok {
			t.Fatalf("%s has no name", route)
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			read := strings.Replace(method, "HEAD", "GET", 1)
			collection, batch := strings.CutSuffix(name, "/batch")
			if slices.Contains(did, read+" "+name) || batch && read == "GET" && slices.Contains(did, "GET "+collection+"/:id") { // of which "*" is any word, and that the platform does not read
				continue
			}
			n++
			a := s.ask(t, method+" /wp-json"+route, "{}", r.info.Keys.ReadWriteKey)
			if code := client.At(a.Body, "code"); a.Status != http.StatusForbidden || method != "HEAD" && code != "rest_credential_scope" {
				t.Errorf("%s %s: %d %v", method, route, a.Status, code)
			}
		}
	}
	return n
}

// ask sends a call with a key.
func (s *shops) ask(t *testing.T, line, body, key string) client.Reply {
	t.Helper()
	base := "http://" + s.caddy
	if s.way.secure {
		base = "https://" + s.caddy
	}
	edits := []client.Edit{client.Login(key), client.Lines("Host: " + s.recorder.Address())} // the host of the day, whose index is read
	if method, _, _ := strings.Cut(line, " "); method == "GET" || method == "HEAD" || method == "OPTIONS" {
		body = ""
	} else {
		edits = append(edits, client.Header("Content-Type", "application/json"))
	}
	req, err := client.Request(t.Context(), base, line, body, edits...)
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Do(&http.Client{Transport: &http.Transport{TLSClientConfig: rawhttp.Trusting("http/1.1"), DisableKeepAlives: true}}, req)
	if err != nil {
		t.Fatal(line, err)
	}
	return a
}

// root is what a REST root lists.
type root struct{ routes, namespaces []string }

func rootOf(t *testing.T, site http.Handler) (found root) {
	t.Helper()
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/wp-json/", http.NoBody))
	var body struct {
		Routes     map[string]json.RawMessage
		Namespaces []string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	for route := range body.Routes {
		found.routes = append(found.routes, route)
	}
	slices.Sort(found.routes)
	found.namespaces = body.Namespaces
	return found
}

var group = regexp.MustCompile(`\(\?P<\w+>(?:\([^()]*\)|[^()])*\)`)

// sample returns a route that a pattern fits.
func sample(t *testing.T, pattern string) string {
	t.Helper()
	for _, value := range []string{"1", "me", "eur", "a", "shop/orders-query", "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"} {
		route := group.ReplaceAllString(pattern, value)
		if regexp.MustCompile("(?i)^" + pattern + "$").MatchString(route) {
			return route
		}
	}
	t.Fatalf("no route fits %s", pattern)
	return ""
}

// learns waits until the journal of a gateway names routes as the index does. Another key asks.
func (s *shops) learns(t *testing.T, key string) {
	t.Helper()
	wait.For(t, 20*time.Second, "the index", func() bool {
		s.ask(t, "GET /wp-json/wc/v3/products", "", key)
		text, err := os.ReadFile(s.journal)
		return err == nil && strings.Contains(string(text), fmt.Sprintf("%q:%q", "route", "/wc/v3/products"))
	})
}
