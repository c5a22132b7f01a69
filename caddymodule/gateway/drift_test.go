package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/policies/discover"
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
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
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
	})
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
	eventually(g.t, "no reading runs", func() bool { return !s.discovery.Busy() })
	s.discovery.hosts.Each(func(_ string, h *hostRoot) { h.due.Store(0) })
	before := p.roots("/cms-json/")
	g.do("GET /cms-json/cms/v2/posts", "", append(headers, shopHost)...)
	eventually(g.t, "a reading", func() bool { return p.roots("/cms-json/") > before && !s.discovery.Busy() })
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

// startDrift runs a gateway in front of a platform whose root may change, and reads it once.
func startDrift(t *testing.T, routes ...string) (*gateway, *platform, *changing) {
	t.Helper()
	p := newPlatform(t)
	root := p.changing()
	root.lists(routes...)
	g := administered(t, "\tmetrics\n", caddyrun.Site{Body: fmt.Sprintf(driftSite, p.proxied())})
	g.changes(0)
	if st := g.statuses()["shop.example.com"]; st.Routes != nil {
		t.Errorf("routes before a reading: %+v", st.Routes)
	}
	g.readAgain(p)
	return g, p, root
}

// changes compares the metric.
func (g *gateway) changes(want int) {
	g.t.Helper()
	series := fmt.Sprintf(`caddy_restwarden_route_changes_total{site="shop.example.com"} %d`+"\n", want)
	if !strings.Contains(g.do("GET /metrics", "").body, series) {
		g.t.Errorf("no %s", series)
	}
}

// TestDrift: what came and what went between two readings is a line of the log with
// documented fields, and a count.
func TestDrift(t *testing.T) {
	g, p, root := startDrift(t, "GET /cms/v2", "GET /cms/v2/posts", "GET /acme/v1/old")
	g.readAgain(p)
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
	for field, want := range map[string]string{
		"level": "warn", "site": "shop.example.com", "host": "shop.example.com",
		"added_count": "5", "removed_count": "1", "anonymous_count": "2", "undecided_count": "1",
		"added":     "[/acme/v1*~9ece5c5a /acme/v1/hook /acme/v1/hook2 /acme/v1/items/:id /acme/v1/items/:id/more]",
		"removed":   "[/acme/v1/old]",
		"anonymous": "[/acme/v1/hook /acme/v1/items/:id]",
		"undecided": "[/acme/v1*~9ece5c5a]",
	} {
		if got := fmt.Sprint(lines[0][field]); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for field := range lines[0] {
		if !strings.Contains(string(page), `"`+field+`"`) && field != "ts" {
			t.Errorf("docs/operations.md lacks %s", field)
		}
	}
	g.changes(6)
}

// TestDrift_AnonymousCalls: they cost no question but the hourly one.
func TestDrift_AnonymousCalls(t *testing.T) {
	g, p, _ := startDrift(t, "GET /cms/v2")
	for range 20 {
		g.do("GET /cms-json/cms/v2/posts", "", shopHost).want(t, 401, "")
	}
	if n := len(p.asks); p.roots("/cms-json/") != 1 || n != 1 {
		t.Errorf("%d questions", n)
	}
}

// TestDrift_NoChange: a root that says nothing is no change, and does not make one of the
// next root.
func TestDrift_NoChange(t *testing.T) {
	routes := []string{"GET /cms/v2", "POST /acme/v1/hook", `GET /acme/v1/items/(?P<id>[\d]+)`}
	g, p, root := startDrift(t, routes...)
	page, other := "<html>", `{"home":"http://shop.example.com","namespaces":["acme/v1","cms/v2"],"routes":{"/acme/v1/items/(?P<id>\\d+)":{},"/acme/v1/hook":{},"/cms/v2":{}}}`
	for name, spoil := range map[string]func(){
		"closed":          func() { root.status.Store(401) },
		"unreadable":      func() { root.status.Store(502) },
		"no REST":         func() { root.status.Store(404) },
		"a page":          func() { root.text.Store(&page) },
		"no routes":       func() { root.lists() },
		"another order":   func() { root.text.Store(&other) },
		"the same routes": func() {},
	} {
		spoil()
		g.readAgain(p)
		root.status.Store(0)
		root.lists(routes...)
		g.readAgain(p)
		if lines := routeLines(g.logged()); len(lines) != 0 {
			t.Fatalf("%s: %v", name, lines)
		}
	}
	root.lists(routes[1:]...)
	root.status.Store(401)
	g.readAgain(p)
	root.status.Store(0)
	g.readAgain(p)
	if lines := routeLines(g.logged()); len(lines) != 1 || fmt.Sprint(lines[0]["removed"]) != "[/cms/v2]" {
		t.Errorf("a change behind a closed root: %v", lines)
	}
}

// TestDrift_Reload: what was read before a reload counts after it, unless the root is now
// another one.
func TestDrift_Reload(t *testing.T) {
	g, p, root := startDrift(t, "GET /cms/v2", "GET /acme/v1/x", "GET /acme/v1/y")
	site := g.file.Sites[0].Body
	g.reload(site + "\theader X-Changed yes\n")
	root.lists("GET /cms/v2")
	g.readAgain(p)
	if lines := routeLines(g.logged()); len(lines) != 1 || fmt.Sprint(lines[0]["removed"], lines[0]["added"], lines[0]["anonymous"]) != "[/acme/v1/x /acme/v1/y] [] []" {
		t.Errorf("after a reload: %v", lines)
	}
	g.changes(2)
	g.reload(site)
	g.changes(2)
	if st := g.statuses()["shop.example.com"].Routes; st == nil || st.Count != 1 || st.Changed == nil || st.Added != 0 || st.Removed != 2 {
		t.Errorf("routes: %+v", st)
	}
	g.reload(strings.ReplaceAll(site, "cms {", "cms {\n\t\t\tprefix cms-json"))
	root.lists("GET /cms/v2", "GET /acme/v1/z")
	g.readAgain(p)
	if n := len(routeLines(g.logged())); n != 1 {
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
		s.discovery.renewed.Store(0)
		if h, known := s.discovery.hosts.Get(host); known {
			h.due.Store(0)
		}
		before := p.roots("/cms-json/")
		g.do("GET /cms-json/cms/v2/posts", "", "Host: "+host)
		eventually(t, "a reading", func() bool { return p.roots("/cms-json/") > before && !s.discovery.Busy() })
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
		s.state.roots.swap(s.rootPlace(fmt.Sprintf("h%d.shops.example.com", i), false), discover.Of(&s.Site).Index("a.shops.example.com"))
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

// TestDrift_SharedMemory: a thousand sites with equal roots remember one index.
func TestDrift_SharedMemory(t *testing.T) {
	const count, bound = 1000, 1 << 10
	root, all := sitesWithEqualRoots(t, count)
	before := heap.Live()
	for _, s := range all {
		s.drift(t.Context(), root, s.Name, true)
	}
	if each := (heap.Live() - before) / count; each > bound {
		t.Errorf("%d bytes a site, more than %d", each, bound)
	}
	for _, s := range all {
		if s.state.roots.get(s.rootPlace(s.Name, true)) != root.Index {
			t.Fatal("a site has an index of its own")
		}
	}
}

// TestDiscovery_Spellings: a client cannot make the gateway read the root of a named host as often
// as it spells the host anew.
func TestDiscovery_Spellings(t *testing.T) {
	p := newPlatform(t)
	p.changing().lists("GET /cms/v2", "GET /cms/v2/posts")
	g := startGateway(t, fmt.Sprintf(driftSite, p.proxied()))
	d := current.Load().sites()[0].discovery
	read := func(host string, want int) {
		t.Helper()
		if h, known := d.hosts.Get(host); known {
			h.due.Store(0)
		}
		before := p.roots("/cms-json/")
		g.do("GET /cms-json/cms/v2/posts", "", "Host: "+host)
		eventually(t, "no reading under way", func() bool { return !d.Busy() })
		if got := p.roots("/cms-json/") - before; got != want {
			t.Errorf("%s: %d readings, want %d", host, got, want)
		}
	}
	d.unnamed.Store(0)
	read("shop.example.com:1", 1)
	d.unnamed.Store(math.MaxInt64) // the pause does not end while the test runs
	d.renewed.Store(math.MaxInt64)
	read("shop.example.com", 1)
	for _, host := range []string{"shop.example.com:1", "shop.example.com:2", "SHOP.example.com", "shop.example.com.", "a.shops.example.com"} {
		read(host, 0)
	}
	read("shop.example.com", 1)
}
