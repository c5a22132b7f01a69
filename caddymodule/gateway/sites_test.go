package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// neighbours is a Caddy with several sites on one address, and its logs.
type neighbours struct {
	*gateway
	access string
}

// startSites runs Caddy with a Caddyfile in which PORT stands for the port. Every site has
// an access log.
func startSites(t *testing.T, caddyfile string) *neighbours {
	t.Helper()
	dir := t.TempDir()
	s := &neighbours{access: filepath.Join(dir, "access")}
	address := machine.FreeAddress(t)
	s.gateway = &gateway{t: t, addr: address, url: "http://" + address, log: filepath.Join(dir, "log")}
	s.reload(caddyfile)
	caddyrun.StopAfter(t)
	return s
}

func (s *neighbours) reload(caddyfile string) {
	s.t.Helper()
	const global = `{
	admin off
	persist_config off
	auto_https off
	grace_period 1s
	log {
		output file %s
		format json
	}
	metrics {
		per_host
	}
	default_bind 127.0.0.1
}
(logged) {
	log {
		output file %s
		format json
	}
}
`
	text := fmt.Sprintf(global, s.log, s.access) +
		strings.ReplaceAll(caddyfile, "PORT", machine.Port(s.addr))
	if err := caddy.Load(caddyrun.Adapt(s.t, text), true); err != nil {
		s.t.Fatal(err)
	}
}

// at sends a request to a host.
func (s *neighbours) at(host, line, body string, headers ...string) reply {
	s.t.Helper()
	req, err := client.RequestFrom(s.t.Context(), s.url, line, strings.NewReader(body), client.Lines(headers...))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = host
	return s.roundTrip(req)
}

// lines returns the lines of a log that hold a text, decoded.
func lines(t *testing.T, file, with string) (found []map[string]any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte(with)) {
			var fields map[string]any
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Fatal(err)
			}
			found = append(found, fields)
		}
	}
	return found
}

const customers = `(guard) {
	import logged
	restwarden cms {
		login_only
		allow anyone GET /count/**
		rate_limit 3/1h GET /count/**
	}
	%s
}
`

// TestSites_Limits: a site keeps its limit when another is added before it, and no site
// gets the limit of another.
func TestSites_Limits(t *testing.T) {
	p := newPlatform(t)
	guard := fmt.Sprintf(customers, strings.TrimSpace(p.proxied()))
	block := func(name string) string { return "http://" + name + ".example:PORT {\n\timport guard\n}\n" }
	s := startSites(t, guard+block("anton")+block("carla"))
	for range 3 {
		s.at("carla.example", "GET /cms-json/count/x", "").want(t, 200, "")
	}
	s.at("carla.example", "GET /cms-json/count/x", "").want(t, 429, "")
	s.reload(guard + block("anton") + block("berta") + block("carla"))
	for range 3 {
		s.at("berta.example", "GET /cms-json/count/x", "").want(t, 200, "")
		s.at("anton.example", "GET /cms-json/count/x", "").want(t, 200, "")
	}
	s.at("carla.example", "GET /cms-json/count/x", "").want(t, 429, "")
	s.reload(strings.Replace(guard, "login_only", "login_only\n\t\tdeny /old/**", 1) + block("carla") + block("anton"))
	s.at("carla.example", "GET /cms-json/count/x", "").want(t, 429, "")
	s.at("anton.example", "GET /cms-json/count/x", "").want(t, 429, "")
}

// TestSites_Record: two customers with one snippet give lines that differ by site, and the
// id in either answer finds one line in each of the two logs.
func TestSites_Record(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, fmt.Sprintf(customers, strings.TrimSpace(p.proxied()))+`http://anton.example:PORT, http://www.anton.example:PORT {
	import guard
}
http://*.berta.example:PORT {
	import guard
}
`)
	for _, c := range []struct{ host, site, named string }{
		{"anton.example", "anton.example", "anton.example"},
		{"WWW.anton.example:80", "anton.example", "www.anton.example"},
		{"shop.berta.example", "*.berta.example", "shop.berta.example"},
	} {
		r := s.at(c.host, "GET /cms-json/cms/v2/posts", "", "Referer: http://"+c.host+"/page")
		r.want(t, 401, "rest_not_logged_in")
		id := r.header.Get("X-Request-Id")
		refusals, accesses := lines(t, s.log, id), lines(t, s.access, id)
		if len(id) != 36 || len(refusals) != 1 || len(accesses) != 1 {
			t.Fatalf("%s: id %q is in %d and %d lines", c.host, id, len(refusals), len(accesses))
		}
		got := refusals[0]
		for name, want := range map[string]any{
			"v": 1.0, "request_id": id, "site": c.site, "host": c.named, "base": "", "policy": "access",
			"code": "rest_not_logged_in", "outcome": "refused", "rule": "login_only", "from": "page", "method": "GET",
			"form": "pretty", "client_ip": "127.0.0.1", "caller": "anonymous",
		} {
			if got[name] != want {
				t.Errorf("%s: %s is %v, want %v", c.host, name, got[name], want)
			}
		}
		if got["why"] == "" || !strings.HasPrefix(got["imported"].(string), "Caddyfile:") || accesses[0]["uuid"] != id {
			t.Errorf("%s: %v, %v", c.host, got, accesses[0])
		}
	}
}

// TestSites_Metrics: with per_host decisions have the host as configured; hosts and routes
// of clients add no series.
func TestSites_Metrics(t *testing.T) {
	p := newPlatform(t)
	p.withRoot()
	s := startSites(t, fmt.Sprintf(customers, strings.TrimSpace(p.proxied()))+`http://anton.example:PORT {
	import guard
}
http://metrics.example:PORT {
	metrics
}
http://:PORT {
	import guard
}
`)
	own := func() string {
		return strings.Join(slices.DeleteFunc(strings.Split(s.at("metrics.example", "GET /", "").body, "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "caddy_restwarden_")
		}), "\n")
	}
	s.at("anton.example", "GET /cms-json/cms/v2/posts", "")
	s.at("random.example", "GET /cms-json/cms/v2/posts", "")
	eventually(t, "the roots are read", func() bool { return strings.Contains(own(), `lookups_total{kind="index",result="ok"} 2`) })
	metrics := own()
	for _, want := range []string{
		`decisions_total{code="rest_not_logged_in",host="anton.example",outcome="refused",policy="access"} 1`,
		`decisions_total{code="rest_not_logged_in",host="other",outcome="refused",policy="access"} 1`,
		`site_info{mode="enforce",platform="cms",release="auto",site="anton.example"} 1`,
		`site_info{mode="enforce",platform="cms",release="auto",site="*:` + s.port() + `"} 1`,
	} {
		if !strings.Contains(metrics, "caddy_restwarden_"+want) {
			t.Errorf("no %s in\n%s", want, metrics)
		}
	}
	for i := range 1000 {
		s.at(fmt.Sprintf("random%d.example", i), fmt.Sprintf("GET /cms-json/word%d/v1/x", i), "")
	}
	if before, after := strings.Count(metrics, "\n"), strings.Count(own(), "\n"); after != before {
		t.Errorf("%d series, %d after 1,000 hosts", before, after)
	}
}

// TestSites_NamedRoute: one handler of a named route guards the sites that invoke it, each
// with a limit of its own.
func TestSites_NamedRoute(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `&(guarded) {
	restwarden cms {
		allow anyone /count/**
		rate_limit 2/1h /count/**
	}
	`+strings.TrimSpace(p.proxied())+`
}
http://anton.example:PORT {
	invoke guarded
}
http://berta.example:PORT {
	invoke guarded
}
`)
	for _, host := range []string{"anton.example", "berta.example"} {
		for range 2 {
			s.at(host, "GET /cms-json/count/x", "").want(t, 200, "")
		}
		id := s.at(host, "GET /cms-json/count/x", "").header.Get("X-Request-Id")
		if got := lines(t, s.log, id); len(got) != 1 || got[0]["site"] != host {
			t.Errorf("%s: %v", host, got)
		}
	}
}

// TestSites_Spellings: a handler of several sites takes a request for the one that Caddy
// takes it for, in every spelling of the host.
func TestSites_Spellings(t *testing.T) {
	s := startSites(t, `&(guarded) {
	restwarden cms {
		login_only
	}
}
http://serta.example:PORT, http://berta.example:PORT {
	invoke guarded
}
http://*.wild.example:PORT {
	invoke guarded
}
http://named.wild.example:PORT {
	invoke guarded
}
http://:PORT {
	invoke guarded
}
`)
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"serta.example": "serta.example", "SERTA.example": "serta.example", "berta.example:80": "serta.example",
		"x.wild.example": "*.wild.example", "named.wild.example": "named.wild.example", "a.b.wild.example": "*:" + machine.Port(s.addr),
		"serta.example.": "*:" + machine.Port(s.addr), "[::1]": "*:" + machine.Port(s.addr),
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/cms-json/x", nil)
		r.Host = host
		app.(*caddyhttp.App).Servers["srv0"].ServeHTTP(w, r)
		if got := lines(t, s.log, w.Header().Get("X-Request-Id")); len(got) != 1 || got[0]["site"] != want {
			t.Errorf("%q: %v, want %s", host, got, want)
		}
	}
}
