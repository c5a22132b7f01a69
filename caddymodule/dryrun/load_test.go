package dryrun_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// TestLoad_Refused: a configuration that does not load says so as Caddy does.
func TestLoad_Refused(t *testing.T) {
	for want, caddyfile := range map[string]string{
		"Caddyfile:4":           "{\n\torder restwarden last\n}\nshop.example.com {\n\treverse_proxy 127.0.0.1:1\n\trestwarden wordpress\n}",
		"unrecognized":          "shop.example.com {\n\tnonsense\n}",
		"login_only":            "shop.example.com {\n\trestwarden wordpress {\n\t\tlogin-only\n\t}\n}",
		"has no site":           "{\n\tadmin off\n}",
		"there is no signature": "shop.example.com {\n\trestwarden wordpress {\n\t\tallow signed x /a/v1/b\n\t}\n\treverse_proxy 127.0.0.1:1\n}",
	} {
		if want == "Caddyfile:4" {
			want = "Caddyfile:6"
		}
		if _, err := tryLoad(t, caddyfile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestLive: only questions that read reach the real site, and never the request.
func TestLive(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/users/me"):
			_, _ = w.Write([]byte(`{"id":4,"roles":["editor"],"capabilities":{"edit_posts":true}}`))
		default:
			_, _ = w.Write([]byte(`{"namespaces":["wp/v2"],"routes":{}}`))
		}
	}))
	defer backend.Close()
	c := load(t, strings.Replace(fmt.Sprintf(shop, ""), "127.0.0.1:1", backend.Listener.Addr().(*net.TCPAddr).String(), 1), func(o *dryrun.Options) { o.Live = true })
	r := run(t, c, "", "POST https://shop.example.com/wp-json/wp/v2/media", "Authorization: Basic YTpi")
	if r.Answer != dryrun.Pass || r.Caller != "user" {
		t.Errorf("%+v", r)
	}
	if played := run(t, c, "role:subscriber", "POST https://shop.example.com/wp-json/wp/v2/media"); played.Answer != dryrun.Refused {
		t.Errorf("%+v", played)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, line := range asked {
		if !strings.HasPrefix(line, "GET ") || strings.Contains(line, "media") {
			t.Errorf("sent: %s", line)
		}
	}
	if n := len(slices.DeleteFunc(asked, func(line string) bool { return !strings.Contains(line, "users/me") })); n != 1 {
		t.Errorf("%d questions for the caller, want that of the real credentials", n)
	}
}

// TestStandIns: the modules of dry runs do not load in a Caddy that runs.
func TestStandIns(t *testing.T) {
	for _, handler := range []string{
		`{"handler":"restwarden_dry_run","does":"answers"}`,
		`{"handler":"reverse_proxy","transport":{"protocol":"restwarden_dry_run"},"upstreams":[{"dial":"a:1"}]}`,
	} {
		config := new(caddy.Config)
		if err := json.Unmarshal([]byte(`{"admin":{"disabled":true},"apps":{"http":{"servers":{"a":{"routes":[{"handle":[`+handler+`]}]}}}}}`), config); err != nil {
			t.Fatal(err)
		}
		if err := caddy.Validate(config); err == nil || !strings.Contains(err.Error(), "dry runs") {
			t.Error(err)
		}
	}
}

// BenchmarkRun measures one dry run.
func BenchmarkRun(b *testing.B) {
	c := load(b, fmt.Sprintf(shop, ""))
	r, err := dryrun.Build("", "https://shop.example.com/wp-json/wp/v2/posts", nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Run(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad measures loading a configuration.
func BenchmarkLoad(b *testing.B) {
	file := filepath.Join(b.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, fmt.Appendf(nil, shop, ""), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := dryrun.Load(dryrun.Options{File: file})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestClose: what a configuration holds is let go with it, however many are loaded one after the other.
func TestClose(t *testing.T) {
	var sites strings.Builder
	for i := range 100 {
		fmt.Fprintf(&sites, "shop-%d.example.com {\n\trestwarden wordpress {\n\t\tallow plugin woocommerce\n\t\tdeny /acme/v1/a%d\n\t}\n\treverse_proxy 127.0.0.1:1\n}\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(sites.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	held := func() (bytes uint64, goroutines int) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	once := func() {
		c, err := dryrun.Load(dryrun.Options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		if homes, err := c.Homes(t.Context()); err != nil || len(homes) != 100 {
			t.Fatal(len(homes), err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	once()
	before, running := held()
	for range 4 {
		once()
	}
	if after, more := held(); after > before+4<<20 || more > running+4 {
		t.Errorf("%d KiB more, %d goroutines more", (int64(after)-int64(before))>>10, more-running)
	}
}
