package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/hosts"
)

// answersRoot lets p answer its REST root at a path.
func (p *platform) answersRoot(path, text string) {
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RequestURI() != path {
			return false
		}
		io.WriteString(w, text)
		return true
	})
}

// roots returns how often p was asked for its REST root.
func (p *platform) roots(path string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.asks {
		if q.RequestURI == path {
			n++
		}
	}
	return n
}

func TestGateway_Discovery(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"home":"https://elsewhere.test","url":"http://elsewhere.test","namespaces":["wp/v2"],"routes":{}}`)
	g := startGateway(t, "\trestwarden cms\n\tmetrics /metrics\n"+p.proxied())
	g.do("GET /", "", asAdmin).want(t, 200, "")
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
	eventually(t, "a warning", func() bool { return strings.Contains(g.logged(), "check the platform named") })
	eventually(t, "the gauge", func() bool {
		text := g.do("GET /metrics", "").body
		return strings.Contains(text, `caddy_restwarden_misconfigured{problem="platform",site="*:`+g.port()+`"} 1`) &&
			strings.Contains(text, `caddy_restwarden_misconfigured{problem="scheme",site="*:`+g.port()+`"} 2`)
	})
	for _, q := range p.asks {
		if q.RequestURI == "/cms-json/" && q.Header.Get("Authorization") != "" {
			t.Error("the index was asked for with a client's credentials")
		}
	}
}

// TestGateway_DiscoveryByCalls: a site that is never asked for REST is never asked for its
// root.
func TestGateway_DiscoveryByCalls(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"namespaces":["cms/v2"],"routes":{"/cms/v2":{}}}`)
	g := startGateway(t, "\trestwarden cms\n"+p.proxied())
	for range 5 {
		g.do("GET /about", "").want(t, 200, "")
	}
	time.Sleep(50 * time.Millisecond)
	if n := p.roots("/cms-json/"); n != 0 {
		t.Errorf("pages led to %d readings", n)
	}
	for range 5 {
		g.do("GET /cms-json/cms/v2/posts", "")
		eventually(t, "a reading", func() bool { return p.roots("/cms-json/") == 1 })
	}
}

// TestGateway_WrongBase: nobody can send a request below a base that is wrong.
func TestGateway_WrongBase(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/blog/") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	})
	g := startGateway(t, "\trestwarden cms {\n\t\tbase /blog\n\t}\n\tmetrics /metrics\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 404, "rest_no_route")
	eventually(t, "a warning", func() bool {
		return strings.Contains(g.logged(), "there is no REST root at /blog/cms-json/, but one at /cms-json/")
	})
	eventually(t, "the gauge", func() bool {
		return strings.Contains(g.do("GET /metrics", "").body, `caddy_restwarden_misconfigured{problem="base",site="*:`+g.port()+`/blog"} 1`)
	})
}

// TestGateway_RoutesAreTheSites: whatever clients write, a record names routes by words of
// the site.
func TestGateway_RoutesAreTheSites(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"namespaces":["cms/v2","forms/v1"],"routes":{"/":{},"/cms/v2":{},"/cms/v2/posts/(?P<id>[\\d]+)":{},"/forms/v1/(?P<form>[^/]+)/send":{}}}`)
	g := startGateway(t, loginOnly+p.proxied())
	g.do("GET /cms-json/cms/v2/posts/1", "").want(t, 401, "")
	eventually(t, "the index", func() bool {
		g.do("GET /cms-json/cms/v2/posts/7", "").want(t, 401, "")
		return strings.Contains(g.logged(), `"route":"/cms/v2/posts/:id"`)
	})
	for i := range 1000 {
		g.do(fmt.Sprintf("GET /cms-json/secret%d/v1/mail-%d", i, i), "").want(t, 401, "")
	}
	g.do("GET /cms-json/forms/v1/secret/send", "").want(t, 401, "")
	g.do("GET /?rest_route=/cms/v2/posts/9", "").want(t, 401, "")
	seen := map[string]int{}
	for line := range strings.Lines(g.logged()) {
		if _, route, found := strings.Cut(line, `"route":"`); found {
			route, _, _ = strings.Cut(route, `"`)
			seen[route]++
		}
		if _, rest, found := strings.Cut(line, `"request refused"`); found && strings.Contains(rest, "secret") {
			t.Fatal(line)
		}
	}
	if len(seen) > 4 || seen["unknown"] < 1000 || seen["/forms/v1/:form/send"] != 1 {
		t.Errorf("routes %v", seen)
	}
}

// newTestSite is a site that nothing serves.
func newTestSite(t *testing.T) *site {
	t.Helper()
	g := &Gateway{Platform: "cms"}
	e := new(engine)
	if err := e.newSite(g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.close() })
	s := &site{Site: *e.every, engine: e, g: g, logger: zap.NewNop(), metrics: metrics.New(nil, false, nil), discovery: newDiscovery(&learned{problems: map[string]int{}})}
	discover.Keep(&s.Site, &s.discovery.roots)
	s.state = newTestState(t)
	return s
}

func newTestState(t *testing.T) *siteState {
	t.Helper()
	running, err := newRunning()
	if err != nil {
		t.Fatal(err)
	}
	return newSiteState("shop.example", running)
}

// TestDiscovery_Pauses: a root that was read is due again after an hour; one that cannot be
// read after a minute, and after longer and longer once it had been found.
func TestDiscovery_Pauses(t *testing.T) {
	s := newTestSite(t)
	d, by := s.discovery, discover.Reach{Host: "shop.example"}
	pause := func(b ask.Backend) time.Duration {
		d.readRoot(t.Context(), s, b, by, true, false)
		h, _ := d.hosts.Get(by.Host)
		return time.Until(time.Unix(0, h.due.Load()))
	}
	near := func(got, want time.Duration) {
		t.Helper()
		if got < want*89/100 || got > want*111/100 {
			t.Errorf("the next reading is after %v, want about %v", got, want)
		}
	}
	fits := asktest.Answering(200, `{"home":"http://shop.example","namespaces":["cms/v2"],"routes":{"/cms/v2":{}}}`)
	for range 4 {
		near(pause(asktest.Failing(ask.ErrUndecided)), time.Minute)
		near(pause(asktest.Answering(403, "")), time.Minute)
	}
	closed := asktest.Answering(401, "")
	near(pause(closed), time.Minute) // then from a client's address
	if h, _ := d.hosts.Get(by.Host); !h.byClient.Load() {
		t.Error("the next reading comes from the gateway's own address")
	}
	near(pause(closed), time.Hour)
	near(pause(fits), time.Hour)
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		near(pause(asktest.Failing(ask.ErrUndecided)), minutes*time.Minute)
	}
	if x := discover.Of(&s.Site).Index(by.Host); x == nil {
		t.Error("the index is forgotten after a failure")
	}
	near(pause(fits), time.Hour)
	near(pause(asktest.Answering(404, "")), time.Minute)
	seen := map[time.Duration]bool{}
	for range 20 {
		seen[pause(fits).Round(time.Second)] = true
	}
	if len(seen) < 5 {
		t.Error("the pauses are all the same")
	}
}

// TestDiscovery_Hosts: one directive may serve many hosts, and a client may send any.
func TestDiscovery_Hosts(t *testing.T) {
	s := newTestSite(t)
	for i := range 10_000 {
		home := "http://elsewhere.example"
		if i < 9_990 {
			home = fmt.Sprintf("http://h%d.example", i)
		}
		b := asktest.Answering(200, fmt.Sprintf(`{"home":%q,"namespaces":["cms/v2"],"routes":{"/cms/v2":{},"/cms/v2/of-%d":{}}}`, home, i%10))
		s.discovery.readRoot(t.Context(), s, b, discover.Reach{Host: fmt.Sprintf("h%d.example", i)}, true, false)
	}
	for i := 9_900; i < 10_000; i++ {
		x := discover.Of(&s.Site).Index(fmt.Sprintf("h%d.example", i))
		if name, ok := x.Pattern(fmt.Sprintf("/cms/v2/of-%d", i%10)); !ok || name == "" {
			t.Errorf("host %d has the index of another", i)
		}
		if _, ok := x.Pattern(fmt.Sprintf("/cms/v2/of-%d", (i+1)%10)); ok {
			t.Errorf("host %d has the index of another", i)
		}
	}
	n := 0
	s.discovery.hosts.Each(func(string, *hostRoot) { n++ })
	if n > 2*hosts.Bound {
		t.Errorf("%d hosts are kept", n)
	}
	if got := s.discovery.problems["home"]; got != 10 {
		t.Errorf("%d hosts have another home, want 10", got)
	}
}

// TestReadings_OfOneAddress: who calls by many made-up hosts leaves readings to others, and to hosts
// that are known.
func TestReadings_OfOneAddress(t *testing.T) {
	s := newTestSite(t)
	s.Name = t.Name()
	now := int64(0)
	learns := func(from string, known bool) bool {
		now += int64(discoverNew) + 1
		r := prepared(httptest.NewRecorder(), "/")
		r.Host = fmt.Sprintf("shop.example:%d", now%60_000+1)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, from)
		return s.discovery.mayLearn(s, r, known, now)
	}
	n := 0
	for range 10 * newHostsRate.Count {
		if learns("192.0.2.7", false) {
			n++
		}
	}
	if n < newHostsRate.Count || n > newHostsRate.Count+1 { // one more where the test is slow
		t.Errorf("%d readings for one address", n)
	}
	if !learns("192.0.2.8", false) || !learns("192.0.2.7", true) || !learns("10.0.0.1", false) {
		t.Error("another address, a known host or a proxy has no reading")
	}
	s.discovery.unnamed.Store(now * 2)
	if learns("192.0.2.9", false) || !learns("192.0.2.9", true) {
		t.Error("known hosts wait for the unknown")
	}
}
