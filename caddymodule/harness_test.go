package caddymodule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/encode/gzip"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/requestbody"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/fastcgi"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"
	_ "github.com/caddyserver/caddy/v2/modules/metrics"
)

// gateway is a running Caddy with one site.
type gateway struct {
	t    *testing.T
	url  string
	addr string
	log  string
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startGateway runs Caddy with a site block until the test ends.
func startGateway(t *testing.T, site string) *gateway {
	t.Helper()
	addr := freeAddr(t)
	g := &gateway{t: t, addr: addr, url: "http://" + addr, log: filepath.Join(t.TempDir(), "log")}
	g.load(site)
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *gateway) load(site string) {
	g.t.Helper()
	_, port, _ := net.SplitHostPort(g.addr)
	source := fmt.Sprintf("{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tgrace_period 5s\n\tlog {\n\t\toutput file %s\n\t\tformat json\n\t}\n}\nhttp://:%s {\n\tbind 127.0.0.1\n%s\n}\n", g.log, port, site)
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		g.t.Fatal(err)
	}
	if err := caddy.Load(config, true); err != nil {
		g.t.Fatal(err)
	}
}

// logged returns the log so far.
func (g *gateway) logged() string {
	b, err := os.ReadFile(g.log)
	if err != nil && !os.IsNotExist(err) {
		g.t.Fatal(err)
	}
	return string(b)
}

// eventually waits for something that happens in the background.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Errorf("never happened: %s", what)
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

var client = &http.Client{
	Timeout:       20 * time.Second,
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends "METHOD target" with header lines and a body.
func (g *gateway) do(line, body string, headers ...string) reply {
	g.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	return g.send(line, r, headers...)
}

func (g *gateway) send(line string, body io.Reader, headers ...string) reply {
	g.t.Helper()
	method, target, _ := strings.Cut(line, " ")
	req, err := http.NewRequest(method, g.url+target, body)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := client.Do(req)
	if errors.Is(err, syscall.ECONNRESET) && (body == nil || req.GetBody != nil) {
		// Right behind a reload: it waited in the backlog of the old listener.
		if body != nil {
			req.Body, _ = req.GetBody()
		}
		res, err = client.Do(req)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

func (r reply) want(t *testing.T, status int, contains string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, contains) {
		t.Errorf("got %d %s, want %d with %s", r.status, r.body, status, contains)
	}
}

const form = "Content-Type: application/x-www-form-urlencoded"

// basic headers of the fake platform's users.
const (
	asAdmin    = "Authorization: Basic YWRtaW46cHc="     // admin:pw
	asCustomer = "Authorization: Basic Y3VzdG9tZXI6cHc=" // customer:pw
	asWrong    = "Authorization: Basic YWRtaW46d3Jvbmc=" // admin:wrong
)

// platform is a small stand-in for the content platform: it knows two users and
// echoes everything else.
type platform struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // "METHOD uri body" of all that reached it but questions
	asks []*http.Request
	// answer, where set, answers a request instead.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newPlatform(t testing.TB) *platform {
	p := new(platform)
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *platform) proxied() string { return "\treverse_proxy " + strings.TrimPrefix(p.URL, "http://") }

func isQuestion(r *http.Request) bool {
	return r.Header.Get("Accept") == "application/json" && r.Header.Get("Accept-Encoding") == "identity"
}

// ServeHTTP implements http.Handler.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.mu.Lock()
	if isQuestion(r) {
		p.asks = append(p.asks, r)
	} else {
		p.seen = append(p.seen, r.Method+" "+r.RequestURI+" "+string(body))
	}
	answer := p.answer
	p.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	route := r.URL.Query().Get("rest_route")
	if route == "" {
		route = strings.TrimPrefix(r.URL.Path, "/cms-json")
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Set-Cookie", "leak=1")
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", "GET, POST")
	}
	user, password, _ := r.BasicAuth()
	switch {
	case route == "/" && isQuestion(r):
		fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["cms/v2"],"routes":{}}`, r.Host, r.Host)
	case route != "/cms/v2/users/me":
		fmt.Fprintf(w, `{"route":%q,"body":%q,"access_token":"t0ken"}`, route, body)
	case user != "" && password != "pw":
		w.Header().Set("WWW-Authenticate", `Basic realm="platform"`)
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"code":"incorrect_password","message":"no","data":{"status":401}}`)
	case user == "admin":
		io.WriteString(w, `{"id":1,"roles":["administrator"],"capabilities":{"list_users":true}}`)
	case user == "customer":
		io.WriteString(w, `{"id":2,"roles":["customer"],"capabilities":[]}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`)
	}
}

// received returns what reached the platform, questions aside, and forgets it.
func (p *platform) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// asked returns the questions so far, those of the discovery aside.
func (p *platform) asked() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []*http.Request
	for _, r := range p.asks {
		if r.RequestURI != "/cms-json/" {
			found = append(found, r)
		}
	}
	return found
}
