package drytest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// mark is on every request of a client. Questions of the gateway lack it, since they carry
// only headers of an allow-list.
const mark = "X-Test-Client"

// platform is what stands behind a running gateway: the reference platform answers the
// gateway's questions, and a stub the requests of clients, so that they change nothing.
type platform struct {
	upstream
	site               *site.Site
	info               site.Info
	subscriberPassword string // for applications
	orders             []int  // one for each caller

	questions atomic.Int64 // of the gateway
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	s, err := site.New(site.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{site: s}
	p.seed(t)
	p.info = s.Info()
	p.upstream = serve(t, p)
	return p
}

// upstream is the addresses of what stands in place of every upstream of a configuration.
type upstream struct{ http, fastcgi string }

// serve serves h until the test ends.
func serve(t *testing.T, h http.Handler) upstream {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	l := machine.Listener(t)
	go fcgi.Serve(l, h) //nolint:errcheck // ends with the listener
	t.Cleanup(func() { _ = l.Close() })
	return upstream{server.Listener.Addr().String(), l.Addr().String()}
}

// subscriber is the login name of the caller "user".
const subscriber = "subscriber"

// seed adds a user without any right, and orders, as the administrator would.
func (p *platform) seed(t *testing.T) {
	t.Helper()
	s := p.site
	admin := client.Login("admin:" + s.Info().Users["admin"].ApplicationPassword)
	ask := func(line, body string) client.Reply {
		req, err := client.Request(t.Context(), "http://platform.test", line, body, admin, client.Typed(body))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code != http.StatusCreated && w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", line, w.Code, w.Body)
		}
		return client.Reply{Status: w.Code, Body: w.Body.String()}
	}
	user := ask("POST /wp-json/wp/v2/users", `{"username":"`+subscriber+`","email":"s@example.test","password":"x","roles":["subscriber"]}`)
	password := ask(fmt.Sprintf("POST /wp-json/wp/v2/users/%v/application-passwords", client.At(user.Body, "id")), `{"name":"test"}`)
	p.subscriberPassword, _ = client.At(password.Body, "password").(string)
	for range 8 {
		order := ask("POST /wp-json/wc/v3/orders", `{"status":"processing"}`)
		id, _ := client.At(order.Body, "id").(float64)
		p.orders = append(p.orders, int(id))
	}
}

// prefixed is where the REST path begins, with any prefix that a configuration names.
var prefixed = regexp.MustCompile(`/(?:wp-json|api)(?:/|$)`)

// blog is the folder of some configurations.
var blog = regexp.MustCompile(`^/blog(/|$)`)

// atRoot is a path as of a site at the root with the usual prefix: a dry run assumes a site
// wherever a call leads to.
func atRoot(path string) string {
	at := prefixed.FindStringIndex(path)
	if at == nil || strings.Contains(path[:at[0]], ".php") {
		return blog.ReplaceAllString(path, "$1")
	}
	return "/wp-json/" + path[at[1]:]
}

// screen is a script of the platform that does not lead to REST.
var screen = regexp.MustCompile(`/wp-admin/(?:[\w-]+/)?[\w-]+\.php`)

// authPath is where forward_auth asks. The answer is always yes, as a dry run assumes.
const authPath = "/auth"

// ServeHTTP implements http.Handler.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		r.Body = http.NoBody // requests by FastCGI without a body share one reader
	}
	if r.Header.Get(mark) != "" || r.URL.Path == authPath {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		body := `{"jsonrpc":"2.0","id":1,"result":{}}`   // of a server of tools that offers nothing
		if strings.HasSuffix(r.URL.Path, "/abilities") { // a list, which the gateway filters
			body = "[]"
		}
		_, _ = io.WriteString(w, body)
		return
	}
	r.URL.Path = atRoot(r.URL.Path)
	if !p.counts(r) {
		r.Header.Del("Authorization")
	}
	defer p.questions.Add(1)
	if screen.MatchString(r.URL.Path) && !strings.HasSuffix(r.URL.Path, "/admin-ajax.php") { // as the real platform, unlike this one
		http.Redirect(w, r, "/wp-login.php", http.StatusFound)
		return
	}
	p.site.ServeHTTP(w, r)
}

// counts tells whether Basic credentials count: over plain http, the real platform takes
// only those that a test says it takes.
func (p *platform) counts(r *http.Request) bool {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return true
	}
	name, _, _ := r.BasicAuth()
	return p.info.Users[name].Password != "" || name == subscriber || strings.HasPrefix(name, "ck_") && strings.Contains(r.URL.Path, "/wc") && !strings.HasSuffix(r.URL.Query().Get("rest_route"), "/users/me")
}

// rest waits until no question has come for a while.
func (p *platform) rest(t *testing.T) {
	t.Helper()
	seen, since := p.questions.Load(), time.Now()
	wait.For(t, patience, "the gateway asks nothing", func() bool {
		if now := p.questions.Load(); now != seen {
			seen, since = now, time.Now()
		}
		return time.Since(since) > 100*time.Millisecond
	})
}

// caller is somebody who sends requests.
type caller struct {
	as     dryrun.As
	header []string // that log in
	order  int      // one that no other caller asks for: the gateway remembers proofs
}

// callers are all whom a dry run can play and the platform knows.
func (p *platform) callers() map[string]caller {
	basic := func(name, secret string) []string {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.SetBasicAuth(name, secret)
		return []string{"Authorization: " + r.Header.Get("Authorization")}
	}
	login := func(name string) []string { return basic(name, p.info.Users[name].ApplicationPassword) }
	session := func(name string) []string {
		cookie, nonce := p.site.Nonce(name)
		return []string{"Cookie: " + cookie.Name + "=" + cookie.Value, "X-WP-Nonce: " + nonce}
	}
	role := func(name string) dryrun.As { return dryrun.As{Kind: dryrun.Role, Name: name} }
	key, secret, _ := strings.Cut(p.info.Keys.ReadWriteKey, ":")
	all := map[string]caller{
		"anonymous":                {as: dryrun.As{Kind: dryrun.Anonymous}},
		"user":                     {as: dryrun.As{Kind: dryrun.User}, header: basic(subscriber, p.subscriberPassword)},
		"role:editor":              {as: role("editor"), header: login("editor")},
		"role:shop_manager":        {as: role("shop_manager"), header: login("manager")},
		"role:administrator":       {as: role("administrator"), header: login("admin")},
		"role:administrator, page": {as: role("administrator"), header: session("admin")},
		"key":                      {as: dryrun.As{Kind: dryrun.Key}, header: basic(key, secret)},
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		c.order = p.orders[i]
		all[name] = c
	}
	return all
}

// records are the records that the platform has, and that other small ids are none.
func (p *platform) records() map[uint64]dryrun.RecordKind {
	all := map[uint64]dryrun.RecordKind{}
	for id := range 3000 {
		all[uint64(id)] = dryrun.NoRecord
		switch r, ok := p.site.Record(id); {
		case ok && strings.Contains(r.Type, "subscription"):
			all[uint64(id)] = dryrun.Subscription
		case ok && strings.HasSuffix(r.Type, "order"):
			all[uint64(id)] = dryrun.Order
		}
	}
	return all
}
