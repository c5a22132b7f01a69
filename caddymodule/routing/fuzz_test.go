package routing

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maker makes random routes.
type maker struct {
	*rand.Rand
	probes  int
	invokes []string
}

type object = map[string]any

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

var (
	fuzzHosts = []string{"a.test", "b.test", "x.c.test"}
	fuzzPaths = []string{"/", "/a", "/a/b", "/b", "/wp-json/wp/v2/users", "/index.php", "/?rest_route=/wp/v2/users", "/x.css?rest_route=/"}
)

func (m *maker) hosts() []string {
	all := []string{"a.test", "b.test", "*.c.test", "x.c.test", "*.test"}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+m.IntN(2)]
}

func (m *maker) paths() []string {
	return pick(m, []string{"/a*"}, []string{"/a/*"}, []string{"/a"}, []string{"/b*", "/a/b"}, []string{"*"}, []string{"/*"}, []string{"*.css"}, []string{"/wp-json/*"})
}

func (m *maker) set(depth int) object {
	set := object{}
	for range 1 + m.IntN(2) {
		switch m.IntN(8) {
		case 0, 1, 2:
			set["host"] = m.hosts()
		case 3, 4:
			set["path"] = m.paths()
		case 5:
			set["method"] = []string{pick(m, "GET", "POST")}
		case 6:
			set["header"] = object{"X-T": []string{pick(m, "1", "2")}}
		case 7:
			if depth > 0 {
				set["not"] = []object{m.set(0)}
			}
		}
	}
	return set
}

func (m *maker) route(depth int) object {
	r := object{}
	for range pick(m, 0, 1, 1, 1, 1, 2) {
		sets, _ := r["match"].([]object)
		r["match"] = append(sets, m.set(1))
	}
	if m.IntN(3) == 0 {
		r["group"] = pick(m, "g", "h")
	}
	if m.IntN(6) == 0 {
		r["terminal"] = true
	}
	var handlers []object
	for range 1 + m.IntN(3) {
		handlers = append(handlers, m.handler(depth))
	}
	r["handle"] = handlers
	return r
}

func (m *maker) handler(depth int) object {
	switch m.IntN(16) {
	case 0:
		return object{"handler": "static_response", "body": "ok"}
	case 2:
		return object{"handler": "static_response", "status_code": "103"}
	case 3:
		return object{"handler": "error", "status_code": "500"}
	case 4:
		return object{"handler": "rewrite", "uri": pick(m, "/a", "/b", "/c?x")}
	case 5:
		return object{"handler": "headers", "request": object{"set": object{pick(m, "X-T", "Host"): []string{pick(m, "1", "a.test")}}}}
	case 6:
		return object{"handler": "reverse_proxy", "handle_response": []object{{"routes": m.routes(0)}}}
	case 7:
		return object{"handler": "intercept", "handle_response": []object{{"routes": m.routes(0)}}}
	case 8:
		return object{"handler": "invoke", "name": pick(m, m.invokes...)}
	case 9, 10, 11, 12:
		if depth > 0 {
			sub := object{"handler": "subroute", "routes": m.routes(depth - 1)}
			if m.IntN(4) == 0 {
				sub["errors"] = object{"routes": m.routes(depth - 1)}
			}
			return sub
		}
	}
	m.probes++
	return object{"handler": "probe", "id": fmt.Sprint(m.probes), "at": fmt.Sprint(m.probes)}
}

func (m *maker) routes(depth int) []object {
	var routes []object
	for range 1 + m.IntN(4) {
		routes = append(routes, m.route(depth))
	}
	return routes
}

// app returns a random HTTP app.
func (m *maker) app() []byte {
	m.invokes = []string{"one"} // no route invokes itself
	one, two := m.route(0), m.route(1)
	one["handle"] = []object{{"handler": "probe", "id": "one", "at": "one"}}
	m.invokes = []string{"one", "two"}
	server := object{
		"listen": []string{"127.0.0.1:0"}, "automatic_https": object{"disable": true},
		"routes": m.routes(2), "named_routes": object{"one": one, "two": two},
	}
	if m.IntN(3) == 0 {
		server["errors"] = object{"routes": m.routes(1)}
	}
	b, _ := json.Marshal(object{"servers": object{"s": server}})
	return b
}

// TestSurvey_Random sends requests through random routes: what the survey says no request
// reaches, none reaches, and each request that comes to a handler takes one of its ways.
func TestSurvey_Random(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	var never, reached, silent int
	for seed := range rounds {
		source := (&maker{Rand: rand.New(rand.NewPCG(1, uint64(seed)))}).app()
		report := Survey(raw(t, source), probes)
		refused := map[string]bool{}
		for _, f := range report.Refused {
			refused[f.At] = true
		}
		seen, loaded := sendAll(t, source)
		for id := range seen {
			reached++
			if refused[id] {
				t.Errorf("seed %d: probe %s is reached: %s", seed, id, source)
			}
		}
		all := map[string]bool{}
		for _, w := range Ways(loaded, "probe") {
			all[w.Module.(*probe).ID] = true
		}
		never += len(refused)
		silent += len(all) - len(seen) - len(refused)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d reached, %d never, of %d it was not known", reached, never, silent)
	if never < rounds/10 {
		t.Errorf("only %d are never reached", never)
	}
}

// raw returns an app of which nothing is loaded.
func raw(t *testing.T, source []byte) *caddyhttp.App {
	t.Helper()
	app := new(caddyhttp.App)
	if err := caddy.StrictUnmarshalJSON(source, app); err != nil {
		t.Fatal(err)
	}
	return app
}

// sendAll sends requests of all kinds, and returns which probes they reached, and the app.
func sendAll(t *testing.T, source []byte) (map[string]bool, *caddyhttp.App) {
	t.Helper()
	config := &caddy.Config{AppsRaw: caddy.ModuleMap{"http": source}}
	config.Logging = quiet()
	ctx, err := caddy.ProvisionContext(config)
	if err != nil {
		t.Fatalf("%v: %s", err, source)
	}
	loaded, err := ctx.App("http")
	if err != nil {
		t.Fatal(err)
	}
	app := loaded.(*caddyhttp.App)
	ways := Ways(app, "probe")
	seen := map[string]bool{}
	passed = func(p *probe, r *http.Request) {
		seen[p.ID] = true
		if p.ID != "" && !covered(ways, p, r) {
			t.Errorf("no way to %s for %s: %s", p.ID, r.Host, source)
		}
	}
	defer func() { passed = nil }()
	var server *caddyhttp.Server
	for _, server = range app.Servers {
		break // the only one
	}
	for _, host := range fuzzHosts {
		for _, path := range fuzzPaths {
			for _, method := range []string{"GET", "POST"} {
				for _, header := range []string{"", "1"} {
					r := httptest.NewRequest(method, "http://"+host+path, http.NoBody)
					r.Header.Set("X-Asked", "http://"+host)
					if header != "" {
						r.Header.Set("X-T", header)
					}
					serve(server, r)
				}
			}
		}
	}
	return seen, app
}

func covered(ways []Way, p *probe, r *http.Request) bool {
	asked := *r
	if u, err := url.ParseRequestURI(r.Header.Get("X-Asked")); err == nil {
		asked.Host = u.Host // a handler may have changed it since the matchers
	}
	for _, w := range ways {
		if w.Module == caddyhttp.MiddlewareHandler(p) && (w.Covers(r) || w.Covers(&asked)) {
			return true
		}
	}
	return false
}

func quiet() *caddy.Logging {
	return &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{Level: "FATAL"}}}}
}

// serve lets a server answer. A handler may panic: static_response does to close the
// connection, intercept for an answer without a status.
func serve(server *caddyhttp.Server, r *http.Request) {
	defer func() { _ = recover() }()
	server.ServeHTTP(httptest.NewRecorder(), r)
}
