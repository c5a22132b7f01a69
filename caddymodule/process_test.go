package caddymodule

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// binary is cmd/caddy, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "restwarden-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "caddy")
	out, err := exec.Command("go", "build", "-o", path, "../cmd/caddy").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// TestMain removes what binary has built.
func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binaryIfBuilt(); err == nil && path != "" {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

var built bool

func binaryIfBuilt() (string, error) {
	if !built {
		return "", nil
	}
	return binary()
}

// process is a gateway that runs as a program of its own. Its listener is handed
// to it, as systemd does, so that all gateways have the same Caddyfile.
type process struct {
	t           *testing.T
	dir         string
	addr, admin string
	listener    *os.File
	cmd         *exec.Cmd
	ended       chan error
	log         *bytes.Buffer
}

// startProcess runs a gateway until the test ends. The Caddyfile's site gets
// its address and the global options from here.
func startProcess(t *testing.T, store, siteBlock string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := &process{t: t, dir: t.TempDir(), addr: l.Addr().String(), admin: freeAddr(t)}
	if p.listener, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.listener.Close() })
	p.write(store, siteBlock)
	p.start()
	t.Cleanup(p.stop)
	return p
}

func (p *process) file() string { return filepath.Join(p.dir, "Caddyfile") }

func (p *process) write(store, siteBlock string) {
	p.t.Helper()
	_, port, _ := net.SplitHostPort(p.addr)
	source := fmt.Sprintf("{\n\tadmin %s\n\tpersist_config off\n\tauto_https off\n\tgrace_period 5s\n"+trustLoopback+"\trestwarden {\n\t\tstore %s\n\t}\n}\nhttp://:%s {\n\tbind fd/3\n%s\n}\n",
		p.admin, store, port, siteBlock)
	if err := os.WriteFile(p.file(), []byte(source), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) start() {
	p.t.Helper()
	built = true
	path, err := binary()
	if err != nil {
		p.t.Fatal(err)
	}
	p.log = new(bytes.Buffer)
	p.cmd = exec.Command(path, "run", "--config", p.file(), "--adapter", "caddyfile")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_DATA_HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir)
	p.cmd.ExtraFiles = []*os.File{p.listener}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan<- error) { ended <- cmd.Wait() }(p.cmd, p.ended)
	answers := make(chan error, 1)
	go func() { // the listener was there before the gateway
		_, _, err := p.send("GET /", "")
		answers <- err
	}()
	select {
	case err := <-p.ended:
		p.cmd = nil
		p.t.Fatalf("the gateway ended: %v: %s", err, p.log)
	case err := <-answers:
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// stop ends the gateway as an operator would.
func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	crowd.CloseIdleConnections() // or it would wait for them
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(15 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.t.Error("the gateway did not stop")
	}
	p.cmd = nil
}

// reload loads the Caddyfile as it stands now.
func (p *process) reload() error {
	source, err := os.ReadFile(p.file())
	if err != nil {
		return err
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(source, map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+p.admin+"/load", bytes.NewReader(config))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cache-Control", "must-revalidate") // also where nothing has changed
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("%s: %s", res.Status, text)
	}
	return nil
}

// send sends "METHOD target"; unlike gateway.do it can be used by many at once.
func (p *process) send(line, body string, headers ...string) (status int, header http.Header, err error) {
	method, target, _ := strings.Cut(line, " ")
	req, err := http.NewRequest(method, "http://"+p.addr+target, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	c := crowd
	if method == http.MethodPost {
		c = strangers
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header, err
}

// body returns what the gateway answers to a GET.
func (p *process) body(target string, headers ...string) string {
	p.t.Helper()
	g := &gateway{t: p.t, addr: p.addr, url: "http://" + p.addr}
	return g.do("GET "+target, "", headers...).body
}

// crowd and strangers are clients for many requests at once. Strangers connect
// for each: a server may close an idle connection while a request is on its way,
// and a POST may not be repeated.
var (
	crowd     = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	strangers = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
)

// pair is two gateways in front of one platform, with one Redis.
type pair struct {
	t     *testing.T
	a, b  *process
	redis *redisServer
	site  *site.Site
	info  site.Info
	block string

	questions atomic.Int64 // about callers, that reached the platform
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
	s, err := site.New(site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, redis: startRedis(t, redisArgs...), site: s, info: s.Info()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/users/me") {
			p.questions.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.block = pairSite + "\treverse_proxy " + strings.TrimPrefix(server.URL, "http://")
	p.a = startProcess(t, p.store(), p.block)
	p.b = startProcess(t, p.store(), p.block)
	return p
}

// store has a deadline that only a Redis that is away exceeds, not a machine that
// is busy with other tests.
func (p *pair) store() string { return "redis " + p.redis.addr + " {\n\t\t\ttimeout 2s\n\t\t}" }

// balanced sends a request to first and, should the connection fail without an
// answer, to second: what a load balancer does. Caddy drops a few connections
// that are just being accepted when a reload closes the old server.
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
