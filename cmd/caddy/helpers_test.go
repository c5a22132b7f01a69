package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

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
	tap      *tap
}

// tap stands between gateway and platform and writes down what reaches it.
type tap struct {
	platform http.Handler

	mu        sync.Mutex
	forwarded int             // requests of clients
	questions []*http.Request // of the gateway, the reading of the REST root aside
	roots     int             // readings of the REST root that have been answered
	// answer, where set, may answer in place of the platform.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

// mark is on every request of the tests' clients; questions do not carry it,
// since nothing gets into them but what an allow-list names.
const mark = "X-Test-Client"

// ServeHTTP implements http.Handler.
func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isRoot := strings.HasSuffix(r.URL.Path, "-json/")
	p.mu.Lock()
	switch {
	case r.Header.Get(mark) != "":
		p.forwarded++
	case !isRoot:
		p.questions = append(p.questions, r.Clone(r.Context()))
	}
	answer := p.answer
	p.mu.Unlock()
	if answer == nil || !answer(w, r) {
		p.platform.ServeHTTP(w, r)
	}
	if isRoot && r.Header.Get(mark) == "" {
		p.mu.Lock()
		p.roots++
		p.mu.Unlock()
	}
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
	bare := httptest.NewServer(s)
	t.Cleanup(bare.Close)
	return &world{t: t, site: s, info: s.Info(), base: options.Base, platform: bare.URL, tap: &tap{platform: s}}
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
	d := demo{options: options, listen: "127.0.0.1:0"}
	running, err := d.startGateway(w.startTap(), w.info)
	if err != nil {
		t.Fatal(err)
	}
	stopCaddy(t)
	w.gateway, w.metrics = running.Gateway, running.Metrics
	return w
}

// newWorld starts a gateway with the given options of the directive, and the
// given further lines of the site block.
func newWorld(t *testing.T, options site.Options, directive string, site ...string) *world {
	t.Helper()
	w := newPlatform(t, options)
	if options.Base != "" {
		directive = "base " + options.Base + "\n" + directive
	}
	proxy := "reverse_proxy " + w.startTap()
	rest := strings.Join(site, "\n")
	if strings.Contains(rest, "PROXY") {
		rest = strings.ReplaceAll(rest, "PROXY", proxy)
	} else {
		rest += "\n" + proxy
	}
	addr, metrics := freeAddr(t), freeAddr(t)
	_, port, _ := net.SplitHostPort(addr) // any Host is this site's
	w.log = filepath.Join(t.TempDir(), "log")
	w.load(fmt.Sprintf(`{
	admin off
	persist_config off
	auto_https off
	grace_period 5s
	log {
		output file %s
		format json
	}
	servers {
		trusted_proxies static 127.0.0.1/32
	}
}
http://:%s {
	bind 127.0.0.1
	restwarden %s {
		identity {
			rate 1000000/1m
		}
		%s
	}
	%s
}
http://%s {
	bind 127.0.0.1
	metrics /metrics
}
`, w.log, port, w.info.Platform, w.branded(directive), w.branded(rest), metrics))
	w.gateway, w.metrics = "http://"+addr, "http://"+metrics+"/metrics"
	return w
}

func (w *world) load(caddyfile string) {
	w.t.Helper()
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := caddy.Load(config, true); err != nil {
		w.t.Fatal(err)
	}
	stopCaddy(w.t)
}

func stopCaddy(t *testing.T) {
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// learned waits until the gateway has read the REST root, so that "release
// auto" is decided: until then a checkout that states a total asks for the cart.
func (w *world) learned() {
	w.t.Helper()
	w.gate("GET /", "")
	w.eventually("the REST root is read", func() bool {
		w.tap.mu.Lock()
		defer w.tap.mu.Unlock()
		return w.tap.roots > 0
	})
	if w.info.Release == "11.1" {
		w.eventually("the release is learnt", func() bool {
			return w.gate("POST /cms-json/shop/store/v1/checkout", `{"expected_total":1}`).asked == 0
		})
	}
}

func (w *world) eventually(what string, happened func() bool) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if happened() {
			return
		}
	}
	w.t.Errorf("never happened: %s", what)
}

// branded turns the neutral words of a test into those of the world's platform.
func (w *world) branded(s string) string {
	if w.info.Platform != "wordpress" {
		return s
	}
	return strings.NewReplacer(
		"cms-json", "wp-json", "%63ms-json", "%77p-json", "cms/v2", "wp/v2", "CMS/V2", "WP/V2", "cms-abilities", "wp-abilities", "/cms-", "/wp-",
		"_cmsnonce", "_wpnonce", "X-CMS-", "X-WP-", "shop-admin", "wc-admin", "shop-analytics", "wc-analytics", "shop/mcp", "woocommerce/mcp",
		"shop_rest_", "woocommerce_rest_", "shop/store", "wc/store", "shop/v", "wc/v", "SHOP/V", "WC/V", "shop-orders", "woocommerce-orders",
	).Replace(s)
}

// edit changes a request before it is sent.
type edit func(*http.Request)

func header(name, value string) edit {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

const (
	asForm = "application/x-www-form-urlencoded"
	asJSON = "application/json"
)

func contentType(value string) edit { return header("Content-Type", value) }

// noContentType sends none, whatever the body looks like.
func noContentType(r *http.Request) { r.Header.Del("Content-Type") }

// as logs a user in by application password.
func (w *world) as(login string) edit {
	return func(r *http.Request) { r.SetBasicAuth(login, w.info.Users[login].ApplicationPassword) }
}

// withKey logs in by a shop key "ck_…:cs_…".
func withKey(pair string) edit {
	key, secret, _ := strings.Cut(pair, ":")
	return func(r *http.Request) { r.SetBasicAuth(key, secret) }
}

// session logs a user in by cookie; the first edit adds the cookie, the second
// the nonce.
func (w *world) session(login string) (cookie, nonce edit) {
	c, n := w.site.Nonce(login)
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) },
		header(w.branded("X-CMS-Nonce"), n)
}

// multipartBody returns a form of name-value pairs as multipart, and the edit
// that says so.
func multipartBody(pairs ...string) (string, edit) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		m.WriteField(pairs[i], pairs[i+1]) //nolint:errcheck // a Buffer takes everything
	}
	m.Close() //nolint:errcheck // as above
	return b.String(), contentType(m.FormDataContentType())
}

// reply is what a client got, and what the platform saw meanwhile.
type reply struct {
	w       *world
	line    string
	status  int
	header  http.Header
	body    string
	reached int // requests of clients that reached the platform
	asked   int // questions of the gateway
}

var client = &http.Client{
	Timeout:       20 * time.Second,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// gate sends "METHOD target" through the gateway.
func (w *world) gate(line, body string, edits ...edit) reply {
	w.t.Helper()
	forwarded, questions := w.tap.counts()
	r := w.send(w.gateway, line, body, edits...)
	r.reached, r.asked = w.tap.counts()
	r.reached -= forwarded
	r.asked -= questions
	return r
}

// bare sends "METHOD target" to the platform itself.
func (w *world) bare(line, body string, edits ...edit) reply {
	w.t.Helper()
	return w.send(w.platform, line, body, edits...)
}

func (w *world) send(to, line, body string, edits ...edit) reply {
	w.t.Helper()
	req := w.request(to, line, body, edits...)
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return reply{w: w, line: line, status: res.StatusCode, header: res.Header, body: string(b)}
}

func (w *world) request(to, line, body string, edits ...edit) *http.Request {
	w.t.Helper()
	line, body = w.branded(line), w.branded(body)
	method, target, _ := strings.Cut(line, " ")
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, to+w.base+target, r)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set(mark, "1")
	switch {
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		req.Header.Set("Content-Type", asJSON)
	case body != "":
		req.Header.Set("Content-Type", asForm)
	}
	for _, e := range edits {
		e(req)
	}
	return req
}

// want checks status and, where text is given, that the body contains it.
func (r reply) want(status int, text ...string) reply {
	r.w.t.Helper()
	if r.status != status {
		r.w.t.Errorf("%s: %d %.300s; want %d", r.line, r.status, r.body, status)
	}
	for _, s := range text {
		if !strings.Contains(r.body, r.w.branded(s)) {
			r.w.t.Errorf("%s: %d %.300s; want %q", r.line, r.status, r.body, s)
		}
	}
	return r
}

// stopped checks that the request did not reach the platform.
func (r reply) stopped() reply {
	r.w.t.Helper()
	if r.reached != 0 {
		r.w.t.Errorf("%s: reached the platform (%d %.200s)", r.line, r.status, r.body)
	}
	return r
}

// passed checks that the request reached the platform.
func (r reply) passed() reply {
	r.w.t.Helper()
	if r.reached != 1 {
		r.w.t.Errorf("%s: did not reach the platform (%d %.200s)", r.line, r.status, r.body)
	}
	return r
}

// unasked checks that the gateway asked no question.
func (r reply) unasked() reply {
	r.w.t.Helper()
	if r.asked != 0 {
		r.w.t.Errorf("%s: the gateway asked %d questions", r.line, r.asked)
	}
	return r
}

// refusedWith checks a refusal of the gateway: status, code, the shape of the
// error object, and that nothing reached the platform.
func (r reply) refusedWith(status int, code string) reply {
	r.w.t.Helper()
	r.stopped()
	if r.status != status || r.code() != r.w.branded(code) {
		r.w.t.Errorf("%s: %d %.300s; want %d %s", r.line, r.status, r.body, status, code)
		return r
	}
	if got, ok := r.at("data", "status").(float64); !ok || int(got) != status || r.at("message") == "" {
		r.w.t.Errorf("%s: not the error object: %s", r.line, r.body)
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/json; charset=UTF-8" {
		r.w.t.Errorf("%s: header of the refusal: %v", r.line, r.header)
	}
	return r
}

// at returns the value at a path of names and indices of the JSON body.
func (r reply) at(path ...string) any {
	var v any
	if json.Unmarshal([]byte(r.body), &v) != nil {
		return nil
	}
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (r reply) code() string {
	code, _ := r.at("code").(string)
	return code
}

// id is the "id" of the body.
func (r reply) id() int {
	id, _ := r.at("id").(float64)
	return int(id)
}

func (w *world) record(id int) site.Record {
	w.t.Helper()
	r, ok := w.site.Record(id)
	if !ok {
		w.t.Fatalf("no record %d", id)
	}
	return r
}

// logged returns the log so far.
func (w *world) logged() string {
	b, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

// counter returns the value of a series of the gateway's metrics, written as
// name{label="value",…} in the order of Prometheus; -1 where it is not there.
func (w *world) counter(series string) float64 {
	w.t.Helper()
	res, err := client.Get(w.metrics)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "caddy_restwarden_"+series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return v
		}
	}
	return -1
}

// decisions is the counter of one kind of decision.
func (w *world) decisions(policy, code, outcome string) float64 {
	w.t.Helper()
	return max(0, w.counter(fmt.Sprintf(`decisions_total{code=%q,outcome=%q,policy=%q}`, w.branded(code), outcome, policy)))
}
