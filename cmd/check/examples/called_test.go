package examples

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestMain(m *testing.M) { caddyrun.Main(m) }

// root is that of the repository.
const root = "../../.."

// TestCalled: the Caddyfile of each example that sends requests to one service guards it, as somebody starts it first,
// with a certificate of Caddy's own for localhost.
func TestCalled(t *testing.T) {
	t.Parallel()
	for name, upstream := range map[string]string{"wordpress": "wordpress:80", "nginx": "nginx:8080", "apache": "apache:80"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, program := read(t, name), caddyrun.Binary(t)
			if err := e.Odd(t.Context(), program, "caddy"); err != nil {
				t.Error(err)
			}
			p := place(t, map[string]string{upstream: platform(t)})
			start(t, e, "caddy", "localhost", p)
			c := Client(Visitor, p)
			if err := Guarded(t.Context(), c, "https://localhost"); err != nil {
				t.Error(err)
			}
			redirected(t, c, "http://localhost/")
		})
	}
}

// redirected holds that an address leads to https.
func redirected(t *testing.T, c *http.Client, address string) {
	t.Helper()
	req, err := client.Request(t.Context(), address, "GET ", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Do(c, req); err != nil || got.Status != http.StatusPermanentRedirect {
		t.Errorf("%s: %d, %v", address, got.Status, err)
	}
}

func read(t *testing.T, name string) *Example {
	t.Helper()
	e, err := Read(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// place returns free addresses for a Caddy.
func place(t *testing.T, instead map[string]string) Place {
	t.Helper()
	a := machine.FreeAddresses(t, 3)
	return Place{HTTP: a[0], HTTPS: a[1], Admin: a[2], Instead: instead}
}

// start runs an example's Caddy until the test ends, or the process is killed.
func start(t *testing.T, e *Example, service, host string, p Place) *machine.Process {
	t.Helper()
	process, err := e.Start(t.Context(), caddyrun.Binary(t), service, t.TempDir(), host, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	return process
}

// platform returns the address of a reference platform, which stands for WordPress.
func platform(t *testing.T) string {
	t.Helper()
	s, err := site.New(site.Options{Platform: "wordpress"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}
