package livetest

import (
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

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
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
func (s *spool) bytes(t *testing.T) (n float64) {
	t.Helper()
	var x rawhttp.Exchange
	eventually(t, "the metrics are told", func() (told bool) {
		var err error // a connection that waits at the old listener of a reload is reset when it closes
		x, err = rawhttp.HTTP1(t.Context(), s.metrics, request("GET /metrics", ""))
		return err == nil
	})
	m := gauge.FindSubmatch(x.Body)
	if m == nil {
		t.Fatalf("no gauge in %d %.300q", x.Status, x.Raw)
	}
	_, _ = fmt.Sscan(string(m[1]), &n) // it is a number
	return n
}

// empty waits until nothing is spooled any more.
func (s *spool) empty(t *testing.T) {
	t.Helper()
	eventually(t, "the spool is empty", func() bool { return s.files(t) == 0 && s.bytes(t) == 0 })
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	wait.For(t, patience, what, happened)
}

var whole = request("POST /contact/", upload(2<<20), multipartType)

// begin sends the first half of an upload and waits until it is on disk, all of it: a
// goodbye over HTTP/3 is lost where too much is on its way.
func (s *spool) begin(t *testing.T, protocol, address string) *halfSent {
	t.Helper()
	h := halfSender(t, protocol, whole)(address)
	eventually(t, "half an upload is spooled", func() bool { return s.files(t) == 1 && s.bytes(t) >= 1<<20-64<<10 })
	return h
}

// TestSpool_Removed: a spooled body is gone in every outcome.
func TestSpool_Removed(t *testing.T) {
	s, b := newSpool(t), newBackend(t)
	mute := listen(t, func(_ *backend, conn net.Conn) { _, _ = io.CopyN(io.Discard, conn, 100<<10) }) // goes away in the middle
	guard := "\trestwarden wordpress\n\twitness\n"
	f, at := everywhere("\tmetrics\n",
		guard+b.proxied(),
		guard+mute.proxied(),
		guard+"\treverse_proxy "+machine.FreeAddress(t)+"\n",
		"\trestwarden wordpress\n\tpanics\n",
		"\trestwarden wordpress {\n\t\tupload_limit 1500KiB\n\t}\n\twitness\n"+b.proxied(),
		"\tmetrics\n")
	caddyrun.Start(t, f)
	s.metrics = at(http1)[5]
	overAll(t, "", func(t *testing.T, by *client) {
		addresses := at(by.protocol)
		for _, c := range []struct {
			name   string
			site   int
			rest   bool // is sent
			status int  // 0: whatever it is
		}{
			{"served", 0, true, http.StatusOK},
			{"client done early", 0, false, 0},
			{"backend gone in the middle", 1, true, http.StatusBadGateway},
			{"no backend", 2, true, http.StatusBadGateway},
			{"panic", 3, true, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				got := s.begin(t, by.protocol, addresses[c.site]).finish(c.rest)
				if c.status != 0 && got != c.status || got == http.StatusOK && c.status == 0 {
					t.Errorf("got %d", got)
				}
				s.empty(t)
			})
		}
		t.Run("client gone", func(t *testing.T) {
			s.begin(t, by.protocol, addresses[0]).leave()
			s.empty(t)
		})
		t.Run("over the limit", func(t *testing.T) {
			raw := chunked("POST /contact/", upload(2<<20), 10_000, multipartType)
			by.try(t, addresses[4], b, raw).refused(t, http.StatusRequestEntityTooLarge)
			s.empty(t)
		})
		t.Run("reload", func(t *testing.T) {
			h := s.begin(t, by.protocol, addresses[0])
			reload, reloaded := caddyrun.Reload(t, f), make(chan error)
			go func() { reloaded <- reload() }() // waits for the upload, a while
			eventually(t, "the new configuration serves", func() bool {
				x, err := rawhttp.HTTP1(t.Context(), at(http1)[0], request(posts, ""))
				return err == nil && x.Status == http.StatusOK
			})
			if got := h.finish(true); got != http.StatusOK {
				t.Errorf("got %d", got)
			}
			if err := <-reloaded; err != nil {
				t.Error(err)
			}
			s.empty(t)
		})
	})
	sent := digestOf([]byte(upload(2 << 20))).String()
	for _, a := range b.rest() {
		if a.method == http.MethodPost && a.body.String() != sent {
			t.Errorf("arrived: %v", a.body)
		}
	}
}

// TestSpool_Slow: clients that send slowly hold what fits in memory and no
// more, and nothing when they are gone.
func TestSpool_Slow(t *testing.T) {
	s, b := newSpool(t), newBackend(t)
	at := runEverywhere(t, "\tmetrics\n", "\trestwarden wordpress\n\twitness\n"+b.proxied(), "\tmetrics\n")
	s.metrics = at(http1)[1]
	const clients, each = 100, 512 << 10
	raw := request("POST /contact/", upload(2*each), multipartType)
	overAll(t, "", func(t *testing.T, by *client) {
		begin, address := halfSender(t, by.protocol, raw), at(by.protocol)[0]
		by.try(t, address, b, request(posts, "")).passed(t, aCall, route) // all that is made once is there
		s.empty(t)
		goroutines, before := runtime.NumGoroutine(), heap.Live()

		slow := make([]*halfSent, clients)
		for i := range slow {
			slow[i] = begin(address)
		}
		eventually(t, "all of it is read", func() bool {
			return s.bytes(t) >= clients*(each-64<<10) && s.files(t) == clients
		})
		most := map[bool]int64{true: 3, false: 5}[by.protocol == http1] * clients << 16 // both ends of a connection are here
		if held := heap.Live() - before; held > most {
			t.Errorf("%d clients hold %d KiB each", clients, held/clients>>10)
		} else {
			t.Logf("%d clients that have sent %d KiB each hold %d KiB each", clients, each>>10, held/clients>>10)
		}
		for _, h := range slow {
			h.leave()
		}
		s.empty(t)
		eventually(t, "their goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	})
}
