package livetest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

func init() {
	caddy.RegisterModule(panics{})
	httpcaddyfile.RegisterHandlerDirective("panics", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return panics{}, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("panics", httpcaddyfile.Before, "basic_auth") // behind restwarden
}

// panics is a handler behind the gateway that panics in the middle of a body.
type panics struct{}

// CaddyModule returns the Caddy module information.
func (panics) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.panics", New: func() caddy.Module { return new(panics) }}
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (panics) ServeHTTP(_ http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if _, err := io.CopyN(io.Discard, r.Body, 100<<10); err != nil {
		return err
	}
	panic("of a test")
}

// spool watches what the gateway keeps on disk.
type spool struct {
	dir     string
	metrics string // address
}

// newSpool gives the process its own directory for temporary files.
func newSpool(t *testing.T) *spool {
	t.Helper()
	s := &spool{dir: t.TempDir()}
	t.Setenv("TMPDIR", s.dir)
	return s
}

// files counts spooled bodies: by name, and open without one.
func (s *spool) files(t *testing.T) (n int) {
	t.Helper()
	named, err := filepath.Glob(filepath.Join(s.dir, "restwarden-*"))
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		target, _ := os.Readlink("/proc/self/fd/" + fd.Name()) // gone meanwhile
		if strings.HasPrefix(target, filepath.Join(s.dir, "restwarden-")) {
			n++
		}
	}
	return n + len(named)
}

var gauge = regexp.MustCompile(`(?m)^caddy_restwarden_spooled_bytes(?:\{[^}]*\})? (\S+)$`)

// bytes is the gauge of spooled bytes.
func (s *spool) bytes(t *testing.T) string {
	t.Helper()
	r := send(t, s.metrics, request("GET /metrics", ""))
	m := gauge.FindStringSubmatch(r.body)
	if m == nil {
		t.Fatalf("no gauge in %d %.300q", r.status, r.raw)
	}
	return m[1]
}

// empty waits until nothing is spooled any more.
func (s *spool) empty(t *testing.T) {
	t.Helper()
	eventually(t, "the spool is empty", func() bool { return s.files(t) == 0 && s.bytes(t) == "0" })
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	wait.For(t, patience, what, happened)
}

var half = request("POST /contact/", upload(2<<20), multipartType)

// begin sends the first half of an upload and waits until it is on disk.
func (s *spool) begin(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(half[:len(half)/2]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "half an upload is spooled", func() bool { return s.files(t) == 1 && s.bytes(t) > "0" })
	return conn
}

// finish sends the rest and returns the answer.
func finish(t *testing.T, conn net.Conn) string {
	t.Helper()
	_, _ = conn.Write(half[len(half)/2:])
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		t.Error(err)
	}
	return string(answer)
}

// TestSpool_Removed: a spooled body is gone in every outcome.
func TestSpool_Removed(t *testing.T) {
	s, b := newSpool(t), newBackend(t)
	mute := listen(t, func(_ *backend, conn net.Conn) { _, _ = io.CopyN(io.Discard, conn, 100<<10) }) // goes away in the middle
	guard := "\trestwarden wordpress\n\twitness\n"
	f := &caddyrun.File{Global: "\tmetrics\n", Sites: []block{
		{Body: guard + b.proxied()},
		{Body: guard + mute.proxied()},
		{Body: guard + "\treverse_proxy " + machine.FreeAddress(t) + "\n"},
		{Body: "\trestwarden wordpress\n\tpanics\n"},
		{Body: "\tmetrics\n"},
		{Body: "\trestwarden wordpress {\n\t\tupload_limit 1500KiB\n\t}\n\twitness\n" + b.proxied()},
	}}
	caddyrun.Start(t, f)
	addresses := f.Addresses()
	s.metrics = addresses[4]

	t.Run("served", func(t *testing.T) {
		conn := s.begin(t, addresses[0])
		if answer := finish(t, conn); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Errorf("got %.200q", answer)
		}
		s.empty(t)
	})
	t.Run("client gone", func(t *testing.T) {
		_ = s.begin(t, addresses[0]).Close()
		s.empty(t)
	})
	t.Run("client done early", func(t *testing.T) {
		conn := s.begin(t, addresses[0])
		_ = conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(conn); len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) {
			t.Errorf("got %.200q", answer)
		}
		s.empty(t)
	})
	t.Run("backend gone in the middle", func(t *testing.T) {
		if answer := finish(t, s.begin(t, addresses[1])); !strings.HasPrefix(answer, "HTTP/1.1 502 ") {
			t.Errorf("got %.200q", answer)
		}
		s.empty(t)
	})
	t.Run("no backend", func(t *testing.T) {
		if answer := finish(t, s.begin(t, addresses[2])); !strings.HasPrefix(answer, "HTTP/1.1 502 ") {
			t.Errorf("got %.200q", answer)
		}
		s.empty(t)
	})
	t.Run("panic", func(t *testing.T) {
		conn := s.begin(t, addresses[3])
		_, _ = conn.Write(half[len(half)/2:])
		_, _ = io.ReadAll(conn)
		s.empty(t)
	})
	t.Run("over the limit", func(t *testing.T) {
		raw := chunked("POST /contact/", upload(2<<20), 10_000, multipartType)
		try(t, addresses[5], b, raw).refused(t, http.StatusRequestEntityTooLarge)
		s.empty(t)
	})
	t.Run("reload", func(t *testing.T) {
		conn := s.begin(t, addresses[0])
		reload, reloaded := caddyrun.Reload(t, f), make(chan error)
		go func() { reloaded <- reload() }() // waits for the upload, a while
		// A connection that waits at the old listener is reset when it closes.
		eventually(t, "the new configuration serves", func() bool {
			x, err := rawhttp.HTTP1(t.Context(), addresses[0], request(posts, ""))
			return err == nil && x.Status == http.StatusOK
		})
		if answer := finish(t, conn); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Errorf("got %.200q", answer)
		}
		if err := <-reloaded; err != nil {
			t.Error(err)
		}
		s.empty(t)
	})
	whole := digestOf([]byte(upload(2 << 20))).String()
	for _, a := range b.rest() {
		if a.method == http.MethodPost && a.body.String() != whole {
			t.Errorf("arrived: %v", a.body)
		}
	}
}

// TestSpool_Slow: clients that send slowly hold what fits in memory and no
// more, and nothing when they are gone.
func TestSpool_Slow(t *testing.T) {
	s, b := newSpool(t), newBackend(t)
	addresses := run(t, "\tmetrics\n", block{Body: "\trestwarden wordpress\n\twitness\n" + b.proxied()}, block{Body: "\tmetrics\n"})
	s.metrics = addresses[1]
	send(t, addresses[0], request(posts, "")) // all that is made once is there
	s.empty(t)
	goroutines, before := runtime.NumGoroutine(), heap()

	const clients, each = 100, 512 << 10
	raw := []byte(fmt.Sprintf("POST /contact/ HTTP/1.1\r\nHost: a\r\n%s\r\nContent-Length: %d\r\n\r\n%s", multipartType, 10*each, upload(each)))
	conns := make([]net.Conn, clients)
	for i := range conns {
		var err error
		if conns[i], err = new(net.Dialer).DialContext(t.Context(), "tcp", addresses[0]); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
		go func() { _, _ = conns[i].Write(raw) }()
	}
	eventually(t, "all of it is read", func() bool {
		var spooled float64
		_, _ = fmt.Sscan(s.bytes(t), &spooled)
		return spooled >= clients*(each-64<<10) && s.files(t) == clients
	})
	if held := heap() - before; held > clients*(64<<10)*3 {
		t.Errorf("%d clients hold %d KiB each", clients, held/clients>>10)
	} else {
		t.Logf("%d clients that have sent %d KiB each hold %d KiB each", clients, each>>10, held/clients>>10)
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	s.empty(t)
	eventually(t, "their goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
