package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// world is a reference platform, reachable bare and through a gateway. Tests
// write the neutral names; a world of the other platform translates them.
type world struct {
	t        *testing.T
	site     *site.Site
	info     site.Info
	base     string
	gateway  string // addresses, without the base
	platform string
	metrics  string
	log      string // file
	file     *caddyrun.File
	identity string // options of the block of this name
	tap      *tap
	protocol string // of the gateway's clients; "" is HTTP/1.1
	client   *http.Client
}

// tap stands between gateway and platform and records the requests that reach the
// platform.
type tap struct {
	platform http.Handler

	mu        sync.Mutex
	forwarded int             // requests of clients
	questions []*http.Request // questions of the gateway, without those of the background
	roots     int             // answered readings of the REST root
	// answer, if set, may answer in place of the platform.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

// mark is on every request of the tests' clients. Questions do not carry it, since they
// carry only headers of an allow-list.
const mark = "X-Test-Client"

// ServeHTTP implements http.Handler.
func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isRoot := strings.HasSuffix(r.URL.Path, "-json/") || r.URL.Query().Get("rest_route") == "/"
	p.mu.Lock()
	switch {
	case r.Header.Get(mark) != "":
		p.forwarded++
	case !isRoot && (!strings.HasSuffix(r.URL.Path, "-admin/admin-ajax.php") || r.URL.RawQuery != ""): // not of the background
		p.questions = append(p.questions, r.Clone(r.Context()))
	}
	answer := p.answer
	p.mu.Unlock()
	if answer == nil || !answer(w, r) {
		p.now().ServeHTTP(w, r)
	}
	if isRoot && r.Header.Get(mark) == "" {
		p.mu.Lock()
		p.roots++
		p.mu.Unlock()
	}
}

// now returns the current platform.
func (p *tap) now() http.Handler {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.platform
}

func (p *tap) counts() (forwarded, questions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forwarded, len(p.questions)
}

// asked returns the questions since the first n.
func (p *tap) asked(n int) []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.questions[n:])
}

func (p *tap) answerWith(answer func(http.ResponseWriter, *http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func newPlatform(t *testing.T, options site.Options) *world {
	t.Helper()
	s, err := site.New(options)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, site: s, info: s.Info(), base: options.Base, tap: &tap{platform: s}, client: httpClient}
	bare := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.tap.now().ServeHTTP(rw, r) }))
	t.Cleanup(bare.Close)
	w.platform = bare.URL
	return w
}

// replace puts a fresh platform behind the same addresses.
func (w *world) replace(options site.Options) {
	w.t.Helper()
	s, err := site.New(options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.site, w.info = s, s.Info()
	w.tap.mu.Lock()
	w.tap.platform = s
	w.tap.mu.Unlock()
}

// startTap returns the address of the platform as the gateway sees it.
func (w *world) startTap() string {
	tapped := httptest.NewServer(w.tap)
	w.t.Cleanup(tapped.Close)
	return tapped.Listener.Addr().String()
}

// newDemo starts the demo's own gateway in front of the reference platform.
func newDemo(t *testing.T, options site.Options) *world {
	t.Helper()
	w := newPlatform(t, options)
	caddyrun.Stop(t)
	d := demo{options: options, listen: "127.0.0.1:0", dir: demoDir(t)}
	running, err := d.startGateway(t.Context(), w.startTap(), w.info)
	if err != nil {
		t.Fatal(err)
	}
	caddyrun.StopAfter(t)
	w.gateway, w.metrics = running.Gateway, running.Metrics
	return w
}

// demoDir returns a directory for a demo. Its name is short, as that of a socket must be.
func demoDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "demo-") //nolint:usetesting // that one has the name of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newWorld starts a gateway with the given options of the directive, and the
// given further lines of the site block.
func newWorld(t *testing.T, options site.Options, directive string, site ...string) *world {
	t.Helper()
	w := newPlatform(t, options)
	w.start(directive, site...)
	return w
}

// start starts the gateway of newWorld.
func (w *world) start(directive string, site ...string) {
	w.t.Helper()
	if w.base != "" {
		directive = "base " + w.base + "\n" + directive
	}
	proxy := "reverse_proxy " + w.startTap()
	rest := strings.Join(site, "\n")
	if strings.Contains(rest, "PROXY") {
		rest = strings.ReplaceAll(rest, "PROXY", proxy)
	} else {
		rest += "\n" + proxy
	}
	identity := w.identity
	if identity == "" {
		identity = "rate 1000000/1m"
	}
	w.log = filepath.Join(w.t.TempDir(), "log")
	w.tap.mu.Lock()
	w.tap.roots = 0
	w.tap.mu.Unlock()
	secured := ""
	if w.secure() {
		secured = "tls internal\n"
	}
	f := &caddyrun.File{
		Log: "file " + w.log, Global: caddyrun.TrustLoopback,
		Sites: []caddyrun.Site{
			{Secure: w.secure(), Body: fmt.Sprintf(secured+"restwarden %s {\nidentity {\n%s\n}\n%s\n}\n%s", w.info.Platform, identity, w.branded(directive), w.branded(rest))},
			{Body: "metrics /metrics"},
		},
	}
	w.load(f)
	w.file = f
	w.gateway, w.metrics = "http://"+f.Sites[0].Address, "http://"+f.Sites[1].Address+"/metrics"
	if w.secure() {
		w.gateway = "https://" + f.Sites[0].Address
		w.connect(f.Sites[0].Address)
	}
}

// load starts Caddy anew, so that it remembers nothing of another world.
func (w *world) load(f *caddyrun.File) {
	w.t.Helper()
	caddyrun.Stop(w.t)
	caddyrun.Start(w.t, f)
}

// learned waits until the gateway has read the REST root.
func (w *world) learned() {
	w.t.Helper()
	w.gate("GET /cms-json/", "")
	w.eventually("the REST root is read", func() bool {
		w.tap.mu.Lock()
		defer w.tap.mu.Unlock()
		return w.tap.roots > 0
	})
}

func (w *world) eventually(what string, happened func() bool) {
	w.t.Helper()
	wait.For(w.t, 10*time.Second, what, happened)
}
