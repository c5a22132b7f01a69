package gateway

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// hostsGuard is one directive for many hosts. The rate of questions is one that a single
// client of a test does not reach.
const hostsGuard = `	restwarden cms {
		login_only
		allow anyone GET /count/**
		rate_limit 40/1h GET /count/**
		identity {
			rate 1000000/1m
			ttl 1h
		}
	}
`

// knows tells whether the platform at a host knows the user admin. Half of them do.
func knows(host string) bool { return strings.Contains(host, "even") }

func hostName(i int) string {
	return fmt.Sprintf("%s%d.example.com", []string{"even", "odd"}[i%2], i)
}

// startHosts runs Caddy with one site for any number of hosts, in front of a platform
// that knows the user at half of them.
func startHosts(t *testing.T, global, site, tlsOption string) (address string) {
	t.Helper()
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		p.mu.Lock()
		p.seen, p.asks = nil, nil // thousands of them
		p.mu.Unlock()
		if r.URL.Path != "/cms-json/cms/v2/users/me" || knows(r.Host) {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"incorrect_password","message":"no","data":{"status":401}}`)
		return true
	})
	address = machine.FreeAddress(t)
	file := fmt.Sprintf("{\n\tadmin off\n\tpersist_config off\n\tgrace_period 1s\n\tlog {\n\t\toutput discard\n\t}\n%s}\n%s {\n\tbind 127.0.0.1\n%s%s%s\n}\n",
		global, strings.ReplaceAll(site, "PORT", machine.Port(address)), tlsOption, hostsGuard, p.proxied())
	if err := caddy.Load(caddyrun.Adapt(t, file), true); err != nil {
		t.Fatal(err)
	}
	caddyrun.StopAfter(t)
	return address
}

// visitHosts calls each host as admin and as nobody, and opens a page. Only hosts that know
// admin let the call pass, whatever the hosts before have answered.
func visitHosts(t *testing.T, from, to int, send func(host, line string, headers ...string) (int, error)) {
	t.Helper()
	const workers = 8
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := from + worker; i < to; i += workers {
				host, called := hostName(i), http.StatusUnauthorized
				if knows(host) {
					called = http.StatusOK
				}
				for _, visit := range []struct {
					status  int
					line    string
					headers []string
				}{
					{called, "GET /cms-json/cms/v2/posts", []string{asAdmin}},
					{called, "GET /cms-json/cms/v2/posts", []string{asAdmin}}, // as remembered
					{http.StatusUnauthorized, "GET /cms-json/cms/v2/posts", nil},
					{http.StatusOK, "GET /page", nil},
				} {
					if got, err := send(host, visit.line, visit.headers...); err != nil || got != visit.status {
						t.Errorf("%s %s %v: %d, %v, want %d", host, visit.line, visit.headers, got, err, visit.status)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

// TestHosts_Thousands: one directive behind a wildcard serves thousands of hosts. What one
// host has answered counts for no other, a limit is the site's, and memory does not grow
// with the hosts.
func TestHosts_Thousands(t *testing.T) {
	const first, all, bound = 500, 10_000, 24 << 20
	address := startHosts(t, "\tauto_https off\n", "http://*.example.com:PORT", "")
	send := func(host, line string, headers ...string) (int, error) {
		req, err := client.Request(t.Context(), "http://"+address, line, "", client.Lines(append(headers, "Host: "+host)...))
		if err != nil {
			return 0, err
		}
		got, err := client.Do(crowd, req)
		return got.Status, err
	}
	visitHosts(t, 0, first, send)
	before := heap.Live()
	visitHosts(t, first, all, send)
	grown := heap.Live() - before
	t.Logf("%d KiB more after %d more hosts", grown>>10, all-first)
	if grown > bound {
		t.Errorf("%d more hosts took %d bytes, more than %d", all-first, grown, bound)
	}
	passed := 0
	for i := range 60 { // each time as another host of the wildcard
		switch status, err := send(hostName(i), "GET /cms-json/count/x"); {
		case err != nil:
			t.Error(err)
		case status == http.StatusOK:
			passed++
		case status != http.StatusTooManyRequests:
			t.Errorf("a limited call: %d", status)
		}
	}
	if passed != 40 {
		t.Errorf("%d calls passed a limit of 40 of the site", passed)
	}
}

// TestHosts_OnDemand: the same with certificates that are made when a host is first asked
// for.
func TestHosts_OnDemand(t *testing.T) {
	global := "\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage file_system " + t.TempDir() + "\n"
	address := startHosts(t, global, "https://:PORT", "\ttls internal {\n\t\ton_demand\n\t}\n")
	send := func(host, line string, headers ...string) (int, error) {
		method, target, _ := strings.Cut(line, " ")
		dialer := &tls.Dialer{
			NetDialer: &net.Dialer{Timeout: 20 * time.Second},
			Config:    &tls.Config{ServerName: host, InsecureSkipVerify: true}, //nolint:gosec // the authority is one of the test
		}
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close() }()
		if names := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].DNSNames; len(names) != 1 || names[0] != host {
			return 0, fmt.Errorf("a certificate for %q", names)
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, target, host)
		for _, h := range headers {
			b.WriteString(h + "\r\n")
		}
		b.WriteString("\r\n")
		if _, err := conn.Write(b.Bytes()); err != nil {
			return 0, err
		}
		text, err := io.ReadAll(conn)
		if err != nil {
			return 0, err
		}
		var status int
		_, err = fmt.Sscanf(string(text), "HTTP/1.1 %d", &status)
		return status, err
	}
	visitHosts(t, 0, 200, send)
}
