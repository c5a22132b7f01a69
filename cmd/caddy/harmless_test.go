package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// surroundings are everything that a configuration names: addresses that count what
// comes, and the files of a machine.
type surroundings struct {
	t       *testing.T
	dir     string
	packets atomic.Int64
	from    sync.Map // names of what was called
}

func newSurroundings(t *testing.T) *surroundings {
	t.Helper()
	return &surroundings{t: t, dir: t.TempDir()}
}

// address returns one that counts connections and packets.
func (s *surroundings) address(name string) string {
	s.t.Helper()
	l := machine.Listener(s.t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.packets.Add(1)
			s.from.Store(name, true)
			_ = conn.Close()
		}
	}()
	udp, err := new(net.ListenConfig).ListenPacket(s.t.Context(), "udp", l.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = udp.Close() })
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			s.packets.Add(1)
			s.from.Store(name+", UDP", true)
		}
	}()
	return l.Addr().String()
}

// caddyfile is a configuration that asks, writes and listens wherever it can.
func (s *surroundings) caddyfile() string {
	s.t.Helper()
	_, site, _ := net.SplitHostPort(s.address("the site")) // of a listener
	return strings.NewReplacer("DIR", s.dir, "SITE", site).Replace(fmt.Sprintf(`{
	admin %s
	http_port SITE
	storage file_system DIR/storage
	acme_ca http://%s/directory
	email a@example.com
	on_demand_tls {
		ask http://%s/ask
	}
	log default {
		output file DIR/log/caddy.log
	}
	log remote {
		output net %s {
			soft_start
		}
	}
	metrics
	restwarden {
		store redis %s {
			password {env.NOT_SET_ANYWHERE}
		}
	}
	servers {
		trusted_proxies static private_ranges
		listener_wrappers {
			proxy_protocol
			tls
		}
	}
}
`, s.address("admin"), s.address("ACME"), s.address("on demand"), s.address("log"), s.address("Redis"))) +
		strings.NewReplacer("DIR", s.dir, "SITE", site).Replace(fmt.Sprintf(`
http://shop.example.com:SITE {
	log {
		output file DIR/log/access.log
	}
	forward_auth %s {
		uri /auth
		copy_headers Remote-User
	}
	restwarden wordpress {
		spool_dir DIR
		login_only
		allow anyone POST /complianz/v1/track
		rate_limit 10/1m POST /complianz/v1/track
		order_type {
			credential {env.NOT_SET_EITHER}
		}
	}
	handle /dynamic/* {
		reverse_proxy {
			dynamic a upstream.example.com 80 {
				resolvers %s
			}
		}
	}
	handle /php/* {
		php_fastcgi %s
	}
	handle {
		reverse_proxy %s {
			health_uri /health
			health_interval 10ms
			lb_try_duration 5s
		}
	}
}

https://*.example.com {
	tls {
		on_demand
		get_certificate http http://%s/certificate
	}
	acme_server
	restwarden wordpress
	reverse_proxy %s
}
`, s.address("forward_auth"), s.address("resolver"), s.address("php"), s.address("upstream"), s.address("certificates"), s.address("wildcard")))
}

const aTest = `config: Caddyfile
tests:
  - name: users are closed
    request: GET http://shop.example.com:SITE/wp-json/wp/v2/users
    spellings: all
    expect: { refused: rest_not_logged_in }
  - name: consent is open
    request: POST http://shop.example.com:SITE/wp-json/complianz/v1/track
    expect: pass
  - never: { as: anonymous, calls: [POST], routes: [/wp/v2/**], at: "http://shop.example.com:SITE" }
`

// files are all files below the directory of s.
func (s *surroundings) files() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		all[path] = fmt.Sprint(info.Mode(), info.ModTime(), info.Size())
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	delete(all, filepath.Join(s.dir, "tmp")) // its time changes
	return all
}

// outcome is what a command has printed, and how it ended.
type printed struct {
	out, problems string
	status        int
}

// run runs "caddy restwarden …" on a machine whose every directory is that of s.
func (s *surroundings) run(env []string, args ...string) printed {
	s.t.Helper()
	return runBinary(s.t, s.dir, append([]string{
		"HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir + "/data", "XDG_CONFIG_HOME=" + s.dir + "/config", "XDG_CACHE_HOME=" + s.dir + "/cache",
		"TMPDIR=" + filepath.Join(s.dir, "tmp"), "PATH=" + os.Getenv("PATH"),
	}, env...), append([]string{caddyrun.Binary(s.t), "restwarden"}, args...)...)
}

func runBinary(t *testing.T, dir string, env []string, args ...string) (p printed) {
	t.Helper()
	cmd, err := machine.Command(t.Context(), dir, args[0], args[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &problems, env
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return printed{out.String(), problems.String(), cmd.ProcessState.ExitCode()}
}

// asking are the commands that answer from a configuration alone, and how each ends.
func asking(port string) map[string]struct {
	args   []string
	status int
} {
	site := "http://shop.example.com:" + port
	return map[string]struct {
		args   []string
		status int
	}{
		"explain a call":      {[]string{"explain", "-X", "POST", "-d", "a=b", site + "/wp-json/complianz/v1/track"}, 0},
		"explain an editor":   {[]string{"explain", "--as", "role:editor", site + "/wp-json/wp/v2/users"}, 0},
		"explain a key":       {[]string{"explain", "--as", "key", "--id", "7=subscription", "-X", "PUT", "-d", "{}", "-H", "Content-Type: application/json", site + "/wp-json/wc/v3/orders/7"}, 1},
		"explain dynamic":     {[]string{"explain", "--as", "user", site + "/dynamic/?rest_route=/wp/v2/posts"}, 0},
		"explain php":         {[]string{"explain", "--as", "user", site + "/php/?rest_route=/wp/v2/posts"}, 0},
		"explain a refusal":   {[]string{"explain", site + "/wp-json/wp/v2/users"}, 1},
		"explain nowhere":     {[]string{"explain", "http://elsewhere.example.org:" + port + "/"}, 4},
		"explain a wildcard":  {[]string{"explain", "https://any.example.com/wp-json/wp/v2/posts"}, 0},
		"check":               {[]string{"check"}, 0},
		"test":                {[]string{"test", "shop.test.yaml"}, 0},
		"explain, no request": {[]string{"explain"}, 2},
	}
}

// machineWith writes the configuration and the tests.
func (s *surroundings) machineWith(caddyfile string) (port string) {
	s.t.Helper()
	_, port, _ = strings.Cut(caddyfile, "http_port ")
	port, _, _ = strings.Cut(port, "\n")
	for name, text := range map[string]string{"Caddyfile": caddyfile, "shop.test.yaml": strings.ReplaceAll(aTest, "SITE", port)} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.dir, "tmp"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return port
}

// TestAsking_Harmless: explain, check and test open no connection, make no file and take no
// address, whatever the configuration names.
func TestAsking_Harmless(t *testing.T) {
	s := newSurroundings(t)
	port := s.machineWith(s.caddyfile())
	before := s.files()
	for name, c := range asking(port) {
		if got := s.run(nil, c.args...); got.status != c.status {
			t.Errorf("%s: exit status %d, want %d\n%s%s", name, got.status, c.status, got.out, got.problems)
		}
		if n := s.packets.Swap(0); n > 0 {
			t.Errorf("%s: %d packets or connections", name, n)
		}
		if after := s.files(); !maps.Equal(before, after) {
			t.Errorf("%s: files changed:\n%v\n%v", name, before, after)
			before = after
		}
	}
	s.from.Range(func(name, _ any) bool {
		t.Errorf("called: %v", name)
		return true
	})
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.address("this test")); err != nil {
		t.Error(err)
	} else {
		_ = conn.Close()
		wait.For(t, 5*time.Second, "a connection is counted", func() bool { return s.packets.Load() == 1 })
	}
}

// TestAsking_Live: with --live the site gets questions that read, never the request.
func TestAsking_Live(t *testing.T) {
	s := newSurroundings(t)
	var mu sync.Mutex
	var lines []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, r.Method+" "+r.URL.String())
		if r.Method != http.MethodGet && r.Method != http.MethodHead || len(body) > 0 || r.Header.Get("X-Request") != "" {
			t.Errorf("the site got %s %s %v %q", r.Method, r.URL, r.Header, body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code":"woocommerce_rest_order_invalid_id","message":"","data":{"status":404}}`)
	}))
	defer site.Close()
	s.machineWith("{\n\thttp_port 8099\n}\nhttp://shop.example.com:8099 {\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n\treverse_proxy " + site.Listener.Addr().String() + "\n}\n")
	const orders = "http://shop.example.com:8099/wp-json/wc/v3/orders/7"
	for _, args := range [][]string{
		{"-X", "PUT", "-d", `{"status":"completed"}`, "-H", "Content-Type: application/json", "-u", "ck_a:cs_b", orders},
		{"-X", "DELETE", "-u", "admin:secret", orders},
		{"-X", "POST", "-d", "expected_total=1", "http://shop.example.com:8099/wp-json/wc/store/v1/checkout"},
		{"--as", "key", "-X", "PUT", "-d", "{}", "-H", "Content-Type: application/json", orders},
	} {
		got := s.run(nil, append([]string{"explain", "--live", "-H", "X-Request: 1"}, args...)...)
		if got.status > 3 {
			t.Errorf("%q: %+v", args, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lines) == 0 {
		t.Error("nobody asked the site")
	}
}

const escape = "\x1b["

// TestAsking_Silent: results alone go to standard output. It has no colours in a pipe, and
// in a terminal none with NO_COLOR. With --format json it is one object.
func TestAsking_Silent(t *testing.T) {
	s := newSurroundings(t)
	port := s.machineWith(s.caddyfile())
	all := asking(port)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		text := s.run(nil, c.args...)
		if strings.Contains(text.out+text.problems, escape) {
			t.Errorf("%s: colours in a pipe:\n%s%s", name, text.out, text.problems)
		}
		if c.status == 2 {
			if text.out != "" || text.problems == "" {
				t.Errorf("%s: a mistake is said on standard error: %+v", name, text)
			}
			continue
		}
		if text.out == "" || text.problems != "" {
			t.Errorf("%s: %q, and on standard error %q", name, text.out, text.problems)
		}
		if strings.Contains(text.out, `"level"`) || strings.Contains(text.out, "INFO") || strings.Contains(text.out, "WARN") {
			t.Errorf("%s: a log on standard output:\n%s", name, text.out)
		}
		asJSON := s.run(nil, append([]string{c.args[0], "--format", "json"}, c.args[1:]...)...)
		var got struct {
			V int `json:"v"`
		}
		in := json.NewDecoder(strings.NewReader(asJSON.out))
		if err := in.Decode(&got); err != nil || got.V != 1 || asJSON.status != c.status || asJSON.problems != "" {
			t.Errorf("%s: %v, %+v", name, err, asJSON)
		}
		if _, err := in.Token(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: more than one object: %v\n%s", name, err, asJSON.out)
		}
	}
}

// TestAsking_Terminal: colours on a terminal, unless NO_COLOR is set.
func TestAsking_Terminal(t *testing.T) {
	s := newSurroundings(t)
	port := s.machineWith(s.caddyfile())
	for name, c := range asking(port) {
		if c.status == 2 {
			continue
		}
		line := []string{}
		for _, arg := range append([]string{caddyrun.Binary(t), "restwarden"}, c.args...) {
			line = append(line, "'"+arg+"'")
		}
		for _, env := range []string{"A=b", "NO_COLOR=1", "TERM=dumb"} {
			got := runBinary(t, s.dir, []string{"HOME=" + s.dir, "TERM=xterm", "PATH=" + os.Getenv("PATH"), env}, "script", "-qec", strings.Join(line, " "), "/dev/null")
			if coloured := strings.Contains(got.out, escape); coloured != (env == "A=b") || got.status != c.status {
				t.Errorf("%s with %s: colours %t, status %d\n%q", name, env, coloured, got.status, got.out)
			}
		}
	}
}
