package caddymodule

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
)

// changing lets p answer its REST root, which may change.
type changing struct {
	text   atomic.Pointer[string]
	status atomic.Int32
}

func (p *platform) changing() *changing {
	c := new(changing)
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RequestURI() != "/cms-json/" {
			return false
		}
		if status := c.status.Load(); status != 0 {
			w.WriteHeader(int(status))
			_, _ = io.WriteString(w, `{"code":"rest_not_logged_in"}`)
			return true
		}
		_, _ = io.WriteString(w, *c.text.Load())
		return true
	}
	return c
}

// lists sets the routes, each with its methods: "GET,POST /acme/v1/x".
func (c *changing) lists(routes ...string) {
	text := rootOf(routes...)
	c.text.Store(&text)
}

func rootOf(routes ...string) string {
	all := map[string]any{}
	for _, line := range routes {
		methods, pattern, _ := strings.Cut(line, " ")
		all[pattern] = map[string]any{"methods": strings.Split(methods, ",")}
	}
	text, _ := json.Marshal(map[string]any{"home": "http://shop.example.com", "namespaces": []string{"cms/v2", "acme/v1"}, "routes": all})
	return string(text)
}

const shopHost = "Host: shop.example.com"

// readAgain makes the roots of all hosts due, and waits until that of the shop was read.
func (g *gateway) readAgain(p *platform, headers ...string) {
	g.t.Helper()
	s := current.Load().sites()[0]
	eventually(g.t, "no reading runs", func() bool { return !s.discovery.busy.Load() })
	s.discovery.hosts.Each(func(_ string, h *hostRoot) { h.due.Store(0) })
	before := p.roots("/cms-json/")
	g.do("GET /cms-json/cms/v2/posts", "", append(headers, shopHost)...)
	eventually(g.t, "a reading", func() bool { return p.roots("/cms-json/") > before && !s.discovery.busy.Load() })
}

// routeLines are the lines of the log about changed routes.
func routeLines(log string) (lines []map[string]any) {
	for line := range strings.Lines(log) {
		var fields map[string]any
		if strings.Contains(line, `"routes changed"`) && json.Unmarshal([]byte(line), &fields) == nil {
			lines = append(lines, fields)
		}
	}
	return lines
}

const driftSite = "\t@shop host shop.example.com *.shops.example.com\n\thandle @shop {\n\t\trestwarden cms {\n\t\t\tlogin_only\n\t\t\tallow anyone POST /acme/v1/hook\n\t\t\tallow anyone GET /acme/v1/items/*\n\t\t}\n\t%s\n\t}\n\tmetrics /metrics\n"

// TestDrift: what came and what went between two readings is a line of the log and a count,
// also across a reload. What is no reading is no change.
func TestDrift(t *testing.T) {
	p := newPlatform(t)
	root := p.changing()
	root.lists("GET /cms/v2", "GET /cms/v2/posts", "GET /acme/v1/old")
	site := fmt.Sprintf(driftSite, p.proxied())
	g := administered(t, "\tmetrics\n", caddyrun.Site{Body: site})
	counter := func(want int) {
		t.Helper()
		series := fmt.Sprintf(`caddy_restwarden_route_changes_total{site="shop.example.com"} %d`+"\n", want)
		if !strings.Contains(g.do("GET /metrics", "").body, series) {
			t.Errorf("no %s", series)
		}
	}
	counter(0)
	if st := g.statuses()["shop.example.com"]; st.Routes != nil {
		t.Errorf("routes before a reading: %+v", st.Routes)
	}
	g.readAgain(p)
	g.readAgain(p)
	asked := p.roots("/cms-json/")
	for range 20 {
		g.do("GET /cms-json/cms/v2/posts", "", shopHost).want(t, 401, "")
	}
	if n := len(p.asks); p.roots("/cms-json/") != asked || n != asked {
		t.Errorf("anonymous calls led to %d questions", n-asked)
	}
	if st := g.statuses()["shop.example.com"].Routes; st == nil || st.Count != 3 || st.Changed != nil {
		t.Errorf("routes: %+v", st)
	}

	root.lists("GET /cms/v2", "GET /cms/v2/posts", "POST /acme/v1/hook", "GET /acme/v1/hook2", `GET /acme/v1/items/(?P<id>[\d]+)`,
		`PUT /acme/v1/items/(?P<id>[\d]+)/more`, `GET /acme/v1/(?=x)y`)
	g.readAgain(p)
	g.readAgain(p)
	lines := routeLines(g.logged())
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for field, want := range map[string]any{
		"level": "warn", "site": "shop.example.com", "host": "shop.example.com", "added_count": 5.0, "removed_count": 1.0, "anonymous_count": 2.0, "undecided_count": 1.0,
	} {
		if lines[0][field] != want {
			t.Errorf("%s: %v, want %v", field, lines[0][field], want)
		}
	}
	for field, want := range map[string]string{
		"added":     "[/acme/v1*~9ece5c5a /acme/v1/hook /acme/v1/hook2 /acme/v1/items/:id /acme/v1/items/:id/more]",
		"removed":   "[/acme/v1/old]",
		"anonymous": "[/acme/v1/hook /acme/v1/items/:id]",
		"undecided": "[/acme/v1*~9ece5c5a]",
	} {
		if got := fmt.Sprint(lines[0][field]); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	counter(6)

	for name, spoil := range map[string]func(){ // none of them is a change
		"closed":      func() { root.status.Store(401) },
		"unreadable":  func() { root.status.Store(502) },
		"no REST":     func() { root.status.Store(404) },
		"a page":      func() { page := "<html>"; root.text.Store(&page) },
		"no routes":   func() { root.lists() },
		"other order": func() { root.lists("GET /acme/v1/hook2", "GET /cms/v2/posts", "GET /cms/v2", "POST /acme/v1/hook", `GET /acme/v1/items/(?P<id>[\d]+)`, `PUT /acme/v1/items/(?P<id>[\d]+)/more`, `GET /acme/v1/(?=x)y`) },
	} {
		text := root.text.Load()
		spoil()
		g.readAgain(p)
		root.status.Store(0)
		root.text.Store(text)
		g.readAgain(p)
		if n := len(routeLines(g.logged())); n != 1 {
			t.Fatalf("%s: %d lines", name, n)
		}
	}

	g.reload(site + "\theader X-Changed yes\n")
	root.lists("GET /cms/v2", "GET /cms/v2/posts")
	g.readAgain(p)
	if lines = routeLines(g.logged()); len(lines) != 2 || lines[1]["removed_count"] != 5.0 || lines[1]["added_count"] != 0.0 || fmt.Sprint(lines[1]["anonymous"]) != "[]" {
		t.Errorf("after a reload: %v", lines)
	}
	counter(11)
	if st := g.statuses()["shop.example.com"].Routes; st == nil || st.Count != 2 || st.Changed == nil || st.Added != 0 || st.Removed != 5 {
		t.Errorf("routes: %+v", st)
	}

	g.reload(strings.ReplaceAll(site, "cms {", "cms {\n\t\t\tprefix cms-json")) // another root
	root.lists("GET /cms/v2")
	g.readAgain(p)
	if n := len(routeLines(g.logged())); n != 2 {
		t.Errorf("with another prefix: %d lines", n)
	}
}

// TestDrift_Hosts: each host of a wildcard is another shop.
func TestDrift_Hosts(t *testing.T) {
	p := newPlatform(t)
	root := p.changing()
	root.lists("GET /cms/v2", "GET /cms/v2/posts")
	g := startGateway(t, fmt.Sprintf(driftSite, p.proxied()))
	s := current.Load().sites()[0]
	read := func(host string) {
		s.discovery.unnamed.Store(0)
		if h, known := s.discovery.hosts.Get(host); known {
			h.due.Store(0)
		}
		before := p.roots("/cms-json/")
		g.do("GET /cms-json/cms/v2/posts", "", "Host: "+host)
		eventually(t, "a reading", func() bool { return p.roots("/cms-json/") > before && !s.discovery.busy.Load() })
	}
	read("shop.example.com")
	read("a.shops.example.com")
	root.lists("GET /cms/v2", "GET /cms/v2/posts", "GET /acme/v1/hook")
	read("b.shops.example.com") // is new
	if n := len(routeLines(g.logged())); n != 0 {
		t.Fatalf("%d lines", n)
	}
	read("a.shops.example.com")
	read("a.shops.example.com")
	read("b.shops.example.com")
	if lines := routeLines(g.logged()); len(lines) != 1 || lines[0]["host"] != "a.shops.example.com" || lines[0]["site"] != "shop.example.com" || lines[0]["added_count"] != 1.0 {
		t.Fatalf("%v", lines)
	}
	for i := range 3000 { // a flood of hosts pushes out no named one
		s.state.roots.swap(s.rootPlace(fmt.Sprintf("h%d.shops.example.com", i), false), s.Index("a.shops.example.com"))
	}
	read("shop.example.com")
	if lines := routeLines(g.logged()); len(lines) != 2 || lines[1]["host"] != "shop.example.com" {
		t.Errorf("%v", lines)
	}
	kept := 0
	for _, table := range []bool{true, false} {
		at := rootPlace{named: table}
		s.state.roots.table(at).Each(func(string, *index.Index) { kept++ })
	}
	if kept > 2*hosts.Bound+1 {
		t.Errorf("%d roots are kept", kept)
	}
}

// TestDrift_Bounded: a plugin with many routes is one line of bounded length, with all of
// them counted.
func TestDrift_Bounded(t *testing.T) {
	p := newPlatform(t)
	root := p.changing()
	root.lists("GET /cms/v2")
	g := startGateway(t, fmt.Sprintf(driftSite, p.proxied()))
	g.readAgain(p)
	many := []string{"GET /cms/v2"}
	for i := range 3000 {
		many = append(many, fmt.Sprintf("GET /acme/v1/long/(?P<id>[\\d]+)/%s-%d", strings.Repeat("x", 100), i), fmt.Sprintf("GET /acme/v1/items/%d", i))
	}
	root.lists(many...)
	g.readAgain(p)
	log := g.logged()
	lines := routeLines(log)
	if len(lines) != 1 || lines[0]["added_count"] != 6000.0 {
		t.Fatalf("%v", lines)
	}
	if list, ok := lines[0]["added"].([]any); !ok || len(list) != maxListed {
		t.Errorf("%d routes in the line", len(list))
	}
	if !slices.ContainsFunc(strings.Split(log, "\n"), func(line string) bool { return strings.Contains(line, "routes changed") && len(line) < 40_000 }) {
		t.Error("the line is too long")
	}
	if anonymous, undecided := lines[0]["anonymous_count"].(float64), lines[0]["undecided_count"].(float64); anonymous != 1000 || undecided != 5000 {
		t.Errorf("%v anonymous, %v undecided", anonymous, undecided)
	}
}
