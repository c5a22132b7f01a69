package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// gateway is a running Caddy with one site.
type gateway struct {
	t    *testing.T
	url  string
	addr string
	log  string
	file *caddyrun.File
}

// startGateway runs Caddy with a site block until the test ends.
func startGateway(t *testing.T, site string) *gateway {
	t.Helper()
	return startFile(t, &caddyrun.File{Sites: []caddyrun.Site{{Body: site}}})
}

// startFile runs Caddy with a site, and logs.
func startFile(t *testing.T, f *caddyrun.File) *gateway {
	t.Helper()
	g := &gateway{t: t, log: filepath.Join(t.TempDir(), "log"), file: f}
	f.Log = "file " + g.log
	caddyrun.Start(t, f)
	g.addr, g.url = f.Sites[0].Address, "http://"+f.Sites[0].Address
	return g
}

func (g *gateway) load(site string) {
	g.t.Helper()
	g.file.Sites[0].Body = site
	caddyrun.Load(g.t, g.file)
}

// port returns the port that the gateway listens on.
func (g *gateway) port() string { return g.addr[strings.LastIndex(g.addr, ":")+1:] }

// logged returns the log so far.
func (g *gateway) logged() string {
	b, err := os.ReadFile(g.log)
	if err != nil && !os.IsNotExist(err) {
		g.t.Fatal(err)
	}
	return string(b)
}

// eventually waits for an event in the background.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	wait.For(t, 30*time.Second, what, happened) // the machine may be busy
}

// reply is the answer that a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

var httpClient = client.New()

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
	req, err := client.RequestFrom(g.t.Context(), g.url, line, body, client.Lines(headers...))
	if err != nil {
		g.t.Fatal(err)
	}
	return g.roundTrip(req)
}

// cutOff is how often a reload may cut a request off: it has waited in the backlog of the old
// listener, or the old server has read and dropped it.
const cutOff = 3

// roundTrip sends req, and again where a reload has cut it off.
func (g *gateway) roundTrip(req *http.Request) reply {
	g.t.Helper()
	got, err := client.Do(httpClient, req)
	for n := 0; n < cutOff && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)) && (req.Body == nil || req.GetBody != nil); n++ {
		if req.Body != nil {
			req.Body, _ = req.GetBody()
		}
		got, err = client.Do(httpClient, req)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return reply{got.Status, got.Header, got.Body}
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

// platform is a small stand-in for the content platform. It knows two users and echoes
// all other requests.
type platform struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // "METHOD uri body" of all requests that reached it, without questions
	asks []*http.Request
	own  answerFunc
}

// answerFunc answers a request, or returns false.
type answerFunc func(w http.ResponseWriter, r *http.Request) bool

func newPlatform(tb testing.TB) *platform {
	tb.Helper()
	p := new(platform)
	p.Server = httptest.NewServer(p)
	tb.Cleanup(p.Close)
	return p
}

func (p *platform) proxied() string { return "\treverse_proxy " + strings.TrimPrefix(p.URL, "http://") }

// fastCGI serves the platform over FastCGI as well, and returns the address.
func (p *platform) fastCGI(t *testing.T) string {
	t.Helper()
	l := machine.Listener(t)
	go func() {
		_ = fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RequestURI = r.URL.RequestURI()
			p.ServeHTTP(w, r)
		})) // ends with the listener
	}()
	return l.Addr().String()
}

// setAnswer answers by f what f answers. A question may come at any time, so that nobody writes
// the field itself.
func (p *platform) setAnswer(f answerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own = f
}

// answering returns what setAnswer has set.
func (p *platform) answering() answerFunc {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.own
}

// answerCalls answers clients by f, with JSON unless it says otherwise, and questions as ever.
func (p *platform) answerCalls(f http.HandlerFunc) {
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		f(w, r)
		return true
	})
}

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
	p.mu.Unlock()
	if own := p.answering(); own != nil && own(w, r) {
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
		_, _ = fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["cms/v2"],"routes":{}}`, r.Host, r.Host)
	case route != "/cms/v2/users/me":
		_, _ = fmt.Fprintf(w, `{"route":%q,"body":%q,"access_token":"t0ken"}`, route, body)
	case user != "" && password != "pw":
		w.Header().Set("WWW-Authenticate", `Basic realm="platform"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"incorrect_password","message":"no","data":{"status":401}}`)
	case user == "admin":
		_, _ = io.WriteString(w, `{"id":1,"roles":["administrator"],"capabilities":{"list_users":true}}`)
	case user == "customer":
		_, _ = io.WriteString(w, `{"id":2,"roles":["customer"],"capabilities":[]}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`)
	}
}

// received returns the requests that reached the platform, without questions, and forgets
// them.
func (p *platform) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// asked returns the questions so far, without those of the discovery.
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

var clients atomic.Uint32

// aClient returns a header that makes a request one of a new client; there are 16 million
// of them.
func aClient() string {
	n := clients.Add(1)
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}
