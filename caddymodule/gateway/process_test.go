package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

func TestMain(m *testing.M) { caddyrun.Main(m) }

// process is a gateway that runs as a program of its own.
type process struct {
	*caddyrun.Process
	t *testing.T
}

// startProcess runs a gateway until the test ends.
func startProcess(t *testing.T, store, siteBlock string) *process {
	t.Helper()
	p := &process{caddyrun.StartProcess(t, sharing(store), siteBlock), t}
	t.Cleanup(crowd.CloseIdleConnections) // or it would wait for them
	return p
}

// sharing are the global options of gateways that share a store.
func sharing(store string) string {
	return caddyrun.TrustLoopback + "\trestwarden {\n\t\tstore " + store + "\n\t}\n"
}

// stop ends the gateway with a signal.
func (p *process) stop() {
	crowd.CloseIdleConnections() // or it would wait for them
	p.Stop()
}

// send sends "METHOD target"; unlike gateway.do it can be used by many at once.
func (p *process) send(line, body string, headers ...string) (status int, header http.Header, err error) {
	c := crowd
	if strings.HasPrefix(line, http.MethodPost+" ") {
		c = strangers
	}
	return p.sendBy(c, line, body, headers...)
}

// sendBy sends with a client of its own.
func (p *process) sendBy(c *http.Client, line, body string, headers ...string) (status int, header http.Header, err error) {
	req, err := client.Request(p.t.Context(), "http://"+p.Address, line, body, client.Lines(headers...))
	if err != nil {
		return 0, nil, err
	}
	got, err := client.Do(c, req)
	return got.Status, got.Header, err
}

// body returns what the gateway answers to a GET.
func (p *process) body(target string, headers ...string) string {
	p.t.Helper()
	g := &gateway{t: p.t, addr: p.Address, url: "http://" + p.Address}
	return g.do("GET "+target, "", headers...).body
}

// crowd and strangers are clients for many requests at once. Strangers connect for each
// request: a server may close an idle connection while a request is on its way, and a
// POST may not be repeated.
var (
	crowd     = client.New()
	strangers = &http.Client{Timeout: crowd.Timeout, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
)

// pair is two gateways in front of one platform, with one Redis.
type pair struct {
	t     *testing.T
	a, b  *process
	redis *redisrun.Server
	site  *referencesite.Site
	info  referencesite.Info
	block string
	// platform serves the site.
	platform *httptest.Server

	questions atomic.Int64 // questions about callers that reached the platform
	records   atomic.Int64 // questions about records
}

const pairSite = `	restwarden cms {
		login_only
		allow anyone GET /cms/v2/taxonomies
		allow signed hook POST /consent/v1/consent
		signature hook {
			scheme request
			key secret
			once
		}
		rate_limit 10/1h GET /cms/v2/taxonomies
		identity {
			ttl 1m
		}
	}
`

func startPair(t *testing.T, redisArgs ...string) *pair {
	t.Helper()
	s, err := referencesite.New(referencesite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, redis: redisrun.Start(t, redisArgs...), site: s, info: s.Info()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/users/me") {
			p.questions.Add(1)
		}
		if strings.HasSuffix(r.URL.Path, "/notes/0") {
			p.records.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.platform = server
	p.block = pairSite + "\treverse_proxy " + strings.TrimPrefix(server.URL, "http://")
	p.a = startProcess(t, p.store(), p.block)
	p.b = startProcess(t, p.store(), p.block)
	return p
}

// store has a deadline that only a missing Redis exceeds, not a machine that is busy with
// other tests.
func (p *pair) store() string { return "redis " + p.redis.Addr + " {\n\t\t\ttimeout 2s\n\t\t}" }

// balanced sends a request to first, and to second if the connection fails without an
// answer, as a load balancer does. Caddy drops a few connections that are just being
// accepted when a reload closes the old server.
func (p *pair) balanced(what string, first, second *process, status int, line, body string, headers ...string) (retried bool) {
	p.t.Helper()
	got, _, err := first.send(line, body, headers...)
	if retried = err != nil; retried {
		got, _, err = second.send(line, body, headers...)
	}
	if err != nil || got != status {
		p.t.Errorf("%s: %d, %v, want %d (sent again: %v)", what, got, err, status, retried)
	}
	return retried
}

// want sends a request and compares the status.
func (p *pair) want(what string, g *process, status int, line, body string, headers ...string) {
	p.t.Helper()
	got, _, err := g.send(line, body, headers...)
	if err != nil || got != status {
		p.t.Errorf("%s: %d, %v, want %d", what, got, err, status)
	}
}
