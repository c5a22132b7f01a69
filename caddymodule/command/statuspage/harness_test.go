package statuspage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// client has no time limit of its own: events have no end.
var client = &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 20 * time.Second}}

// guarded is a Caddy with an admin endpoint and many sites, and the pages in front of it.
type guarded struct {
	t            *testing.T
	admin, sites string // addresses
	config       []byte
	page         *statuspage.Page
	url          string
}

// guard runs a Caddy that guards shop-1.example.com to shop-n.example.com, and serves the
// pages, until the test ends.
func guard(t *testing.T, n int) *guarded {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // where what is switched on is kept
	backend := httptest.NewServer(http.HandlerFunc(serveRoot))
	t.Cleanup(backend.Close)
	addresses := machine.FreeAddresses(t, 2)
	g := &guarded{t: t, admin: addresses[0], sites: addresses[1]}
	_, port, _ := strings.Cut(g.sites, ":")
	var text strings.Builder
	fmt.Fprintf(&text, "{\n\tadmin %s\n\tpersist_config off\n\tauto_https off\n\tlog {\n\t\toutput discard\n\t}\n}\n", g.admin)
	for i := 1; i <= n; i++ {
		odd := ""
		if i == n { // W10
			odd = "\t\tcall off\n"
		}
		fmt.Fprintf(&text, "http://shop-%d.example.com:%s {\n\tbind 127.0.0.1\n\trestwarden wordpress {\n%s\t\tlogin_only\n\t}\n\treverse_proxy %s\n}\n",
			i, port, odd, strings.TrimPrefix(backend.URL, "http://"))
	}
	g.config = caddyrun.Adapt(t, text.String())
	g.start()
	caddyrun.StopAfter(t)
	g.serve()
	return g
}

// serveRoot is a platform that has a REST root, and nothing else but a rewrite rule.
func serveRoot(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") { // a rewrite rule that the gateway does not know
		w.Header().Set("Access-Control-Expose-Headers", "X-WP-Total, X-WP-TotalPages, Link")
	}
	if r.URL.Path != "/wp-json/" {
		http.NotFound(w, r)
		return
	}
	routes := map[string]any{}
	for _, route := range []string{"/wp/v2/posts", "/wp/v2/users", `/wp/v2/users/(?P<id>[\d]+)`, `/wc/v3/orders/(?P<id>[\d]+)`, `/contact-form-7/v1/contact-forms/(?P<id>\d+)/feedback`} {
		routes[route] = map[string]any{"methods": []string{"GET", "POST"}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // a gateway that is gone reads nothing
		"url": "http://" + r.Host, "home": "http://" + r.Host, "namespaces": []string{"wp/v2", "wc/v3", "contact-form-7/v1"}, "routes": routes,
	})
}

func (g *guarded) start() {
	g.t.Helper()
	if err := caddy.Load(g.config, true); err != nil {
		g.t.Fatal(err)
	}
}

// serve serves the pages.
func (g *guarded) serve() {
	g.t.Helper()
	api, err := adminapi.New(g.admin)
	if err != nil {
		g.t.Fatal(err)
	}
	g.page = statuspage.New(api, []byte(strings.Repeat("k", 32)))
	ctx, stop := context.WithCancel(g.t.Context())
	l, ended := machine.Listener(g.t), make(chan error, 1)
	go func() { ended <- g.page.Serve(ctx, l) }()
	g.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			g.t.Error(err)
		}
	})
	g.url = "http://" + l.Addr().String()
}

// refuse lets a site refuse a call.
func (g *guarded) refuse(site string) {
	g.t.Helper()
	g.refuseCall(site, "GET", "/wp/v2/posts")
}

func (g *guarded) refuseCall(site, method, route string) {
	g.t.Helper()
	if status := g.call(site, method, "/wp-json"+route); status != http.StatusUnauthorized {
		g.t.Errorf("%s: %d", site, status)
	}
}

// call returns the status of the answer to a call, 0 without one.
func (g *guarded) call(site, method, path string) int {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, "http://"+g.sites+path, http.NoBody)
	if err != nil {
		g.t.Error(err)
		return 0
	}
	req.Host = site
	res, err := client.Do(req)
	if err != nil {
		g.t.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// ask sends a request to the page of a site, or of all, and returns status and body. Edits
// change it.
func (g *guarded) ask(site, method, path, body string, edits ...func(*http.Request)) (int, string) {
	g.t.Helper()
	return g.askAt(g.page.Path(site)+path, method, body, edits...)
}

func (g *guarded) askAt(path, method, body string, edits ...func(*http.Request)) (int, string) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, edit := range edits {
		edit(req)
	}
	res, err := client.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// shown returns the sites that a page shows, by name.
func (g *guarded) shown(site string) map[string]map[string]any {
	g.t.Helper()
	status, text := g.ask(site, "GET", "sites", "")
	var answer struct{ Sites []map[string]any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
		g.t.Fatalf("%d %s", status, text)
	}
	all := map[string]map[string]any{}
	for _, s := range answer.Sites {
		all[fmt.Sprint(s["site"])] = s
	}
	return all
}

// told is one event of a page.
type told struct {
	name string

	Problem *string
	Records []map[string]any
	Counts  map[string]int
	Lost    uint64
}

// follow returns the events of a page.
func (g *guarded) follow(site string) <-chan told {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.url+g.page.Path(site)+"events", http.NoBody)
	if err != nil {
		g.t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	events := make(chan told, 1000)
	g.t.Cleanup(func() { _ = res.Body.Close() })
	go func() {
		defer close(events)
		lines, next := bufio.NewScanner(res.Body), told{}
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				next = told{name: name}
			} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &next); err != nil {
					next.name = err.Error()
				}
				events <- next
			}
		}
	}()
	return events
}

// until returns the first event that fits.
func until(t *testing.T, events <-chan told, what string, fits func(told) bool) told {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the events have ended before %s", what)
			}
			if fits(e) {
				return e
			}
		case <-limit:
			t.Fatalf("no %s", what)
		}
	}
}

// followed waits until Caddy is followed.
func followed(t *testing.T, events <-chan told) {
	t.Helper()
	until(t, events, "live Caddy", func(e told) bool { return e.Problem != nil && *e.Problem == "" })
}
