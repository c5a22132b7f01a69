//go:build agents

package agents

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// shop is the reference platform behind the gateway. Between client and gateway stands
// what records the client's requests.
type shop struct {
	site  *site.Site
	info  site.Info
	route string // of the server of tools
	door  string // its address for clients
	// mute makes the platform say nothing of its abilities, to anybody.
	mute atomic.Bool

	mu       sync.Mutex
	requests map[string]int
}

const restPrefix = "/wp-json"

// server picks one of the platform's servers of tools.
type server func(site.Routes) string

func defaultServer(r site.Routes) string { return r.Tools }
func shopServer(r site.Routes) string    { return r.ShopTools }

// newShop starts a platform with the names of real sites, behind a gateway with these
// options of the directive. Clients talk to one of its servers.
func newShop(t *testing.T, of server, directive string) *shop {
	t.Helper()
	platform, err := site.New(site.Options{Platform: "wordpress"})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{site: platform, info: platform.Info(), requests: map[string]int{}}
	s.route = of(s.info.Routes)
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.mute.Load() && strings.Contains(r.URL.Path, "/wp-abilities/") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		platform.ServeHTTP(w, r)
	}))
	t.Cleanup(behind.Close)
	f := &caddyrun.File{Sites: []caddyrun.Site{{
		Body: fmt.Sprintf("restwarden wordpress {\n%s\n}\nreverse_proxy %s", directive, behind.Listener.Addr()),
	}}}
	caddyrun.Start(t, f)
	before := httptest.NewServer(s.record(&url.URL{Scheme: "http", Host: f.Addresses()[0]}))
	t.Cleanup(before.Close)
	s.door = before.URL + restPrefix + s.route
	return s
}

// record passes requests on to the gateway, and counts them with the status of the answer:
// messages by their method, as "tools/call 200", others as "GET 405", and those that are not
// for the server of tools with their path.
func (s *shop) record(gateway *url.URL) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		name := r.Method
		var message struct {
			Method string `json:"method"`
		}
		switch {
		case r.URL.Path != restPrefix+s.route:
			name += " " + r.URL.Path
		case json.Unmarshal(body, &message) == nil:
			name = message.Method
		}
		proxy := &httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(gateway) },
			ModifyResponse: func(resp *http.Response) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.requests[fmt.Sprintf("%s %d", name, resp.StatusCode)]++
				return nil
			},
		}
		proxy.ServeHTTP(w, r)
	})
}

// sent holds that the client has sent these requests and no others: a client that tries
// again, starts a session anew or looks for a place to sign in sends more.
func (s *shop) sent(t *testing.T, want map[string]int) {
	t.Helper()
	var got map[string]int
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		got = maps.Clone(s.requests)
		s.mu.Unlock()
		if maps.Equal(got, want) { // a client asks for a stream of events in the background
			return
		}
	}
	t.Errorf("the client sent %v, want %v", got, want)
}

// as are the headers of a user with an application password.
func (s *shop) as(user string) map[string]string {
	pair := user + ":" + s.info.Users[user].ApplicationPassword
	return map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}
}

// ran are the abilities and tools that have run.
func (s *shop) ran() (names []string) {
	for _, run := range s.site.Ran() {
		names = append(names, run.Name)
	}
	return names
}
