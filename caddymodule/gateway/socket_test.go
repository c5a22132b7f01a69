package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
)

// TestSocket: behind a Unix socket the clients are those that the proxy names, where the server trusts
// it. All others are one client, whose calls pass as far as a limit allows.
func TestSocket(t *testing.T) {
	for name, test := range map[string]struct {
		global   string
		statuses string // of three clients with two calls each, and of one without an address
	}{
		"trusted":     {"\tservers {\n\t\ttrusted_proxies_unix\n\t}\n", "200 429 200 429 200 429 200 429"},
		"not trusted": {"", "200 429 429 429 429 429 429 429"},
		"ranges":      {caddyrun.TrustLoopback, "200 429 429 429 429 429 429 429"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			socket := filepath.Join(t.TempDir(), "s")
			site := "\tbind unix/" + socket + "\n\trestwarden cms {\n\t\trate_limit 1/1h /cms/v2/posts\n\t}\n" + p.proxied()
			g := startFile(t, &caddyrun.File{Global: test.global, Sites: []caddyrun.Site{{Body: site}}})
			through := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", socket)
			}}}
			t.Cleanup(through.CloseIdleConnections)
			var statuses []string
			for _, address := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1", ""} {
				for range 2 {
					var lines []string
					if address != "" {
						lines = []string{"X-Forwarded-For: " + address}
					}
					req, err := client.Request(t.Context(), g.url, "GET /cms-json/cms/v2/posts", "", client.Lines(lines...))
					if err != nil {
						t.Fatal(err)
					}
					got, err := client.Do(through, req)
					if err != nil {
						t.Fatal(err)
					}
					statuses = append(statuses, strconv.Itoa(got.Status))
				}
			}
			if got := strings.Join(statuses, " "); got != test.statuses {
				t.Errorf("%s, want %s", got, test.statuses)
			}
			if log := g.logged(); !strings.Contains(log, `"client_ip":""`) || strings.Contains(log, "invalid") {
				t.Errorf("no record says that there is no address: %s", log)
			}
		})
	}
}

// TestSocket_Shares: clients without an address have no share of their own, as those of a private one.
func TestSocket_Shares(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		r := prepared(nil, "/")
		r.RemoteAddr = "@"
		if got := (peer{trusted: trusted}).share(r); got != (netip.Addr{}) {
			t.Errorf("trusted %t: %v has a share", trusted, got)
		}
	}
}
