package examples

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Visitor is an address for clients: not that of Caddy.
const Visitor = "127.0.0.7"

// Start runs program, a Caddy, with the Caddyfile of a service, in a directory of its own, and waits until
// it has a certificate for host. more is added to its environment.
func (e *Example) Start(ctx context.Context, program, service, dir, host string, p Place, more ...string) (*machine.Process, error) {
	config, err := e.Adapt(ctx, program, service, p.Caddyfile)
	if err != nil {
		return nil, err
	}
	if config, err = p.Move(config); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "caddy.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	env, err := e.Environment(service)
	if err != nil {
		return nil, err
	}
	env = append(append(env, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "TMPDIR="+dir), more...)
	process, err := machine.Server{Name: program, Args: []string{"run", "--config", file}, Dir: dir, Env: env}.Start()
	if err != nil {
		return nil, err
	}
	if err := process.Ready(ctx, secure(p.HTTPS, host)); err != nil {
		process.Kill()
		return nil, err
	}
	return process, nil
}

// secure returns a probe: it succeeds if a server has a certificate for host.
func secure(address, host string) func(context.Context) error {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: host}} //nolint:gosec // Caddy's own authority signs here
	return func(ctx context.Context) error {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// Client returns a client at an address, which finds every site of p. It trusts any certificate, and makes a connection
// for each request.
func Client(from string, p Place) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := client.New()
	transport := c.Transport.(*http.Transport)
	transport.DisableKeepAlives = true
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // Caddy's own authority signs here
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if to := map[string]string{"443": p.HTTPS, "80": p.HTTP}[machine.Port(address)]; to != "" {
			address = to
		}
		return dialer.DialContext(ctx, network, address)
	}
	return c
}

// calls are what every example must answer to a stranger.
var calls = []struct {
	line   string
	status int
}{
	{"GET /", http.StatusOK},
	{"GET /wp-json/wp/v2/users", http.StatusUnauthorized},
	{"GET /?rest_route=/wp/v2/users", http.StatusUnauthorized},
	{"GET /wp-json/wp/v2/posts", http.StatusUnauthorized},
	{"GET /wp-json/wc/store/v1/cart", http.StatusOK},
}

// Guarded is that the site at an address, "https://host", is guarded: a page and a call of a shopper pass,
// and others are refused by the gateway.
func Guarded(ctx context.Context, c *http.Client, site string) error {
	for _, call := range calls {
		req, err := client.Request(ctx, site, call.line, "")
		if err != nil {
			return err
		}
		got, err := client.Do(c, req)
		if err != nil {
			return err
		}
		code, _ := client.At(got.Body, "code").(string)
		if got.Status != call.status || (code == "rest_not_logged_in") != (call.status == http.StatusUnauthorized) {
			return fmt.Errorf("%s at %s: %d %s, want %d\n%.300s", call.line, site, got.Status, code, call.status, got.Body)
		}
	}
	return nil
}
