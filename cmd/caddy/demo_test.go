package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestAddress: what is written into the Caddyfile, and what clients dial.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address    address
		site, dial string
	}{
		{address{"", "28111"}, "http://:28111 {", "127.0.0.1:28111"},
		{address{"0.0.0.0", "28111"}, "http://:28111 {\n\tbind 0.0.0.0", "127.0.0.1:28111"},
		{address{"::", "28111"}, "http://:28111 {\n\tbind ::", "127.0.0.1:28111"},
		{address{"127.0.0.1", "28111"}, "http://:28111 {\n\tbind 127.0.0.1", "127.0.0.1:28111"},
		{address{"localhost", "28111"}, "http://:28111 {\n\tbind localhost", "localhost:28111"},
		{address{"::1", "28111"}, "http://:28111 {\n\tbind ::1", "[::1]:28111"},
	} {
		if got := c.address.site(); got != c.site {
			t.Errorf("%v: site %q, want %q", c.address, got, c.site)
		}
		if got := c.address.dial(); got != c.dial {
			t.Errorf("%v: dial %q, want %q", c.address, got, c.dial)
		}
	}
}

// TestDemo_Listen: the demo answers at the address that it prints; TestAddress has the
// other ways to write one.
func TestDemo_Listen(t *testing.T) {
	options := site.Options{Release: "10.7", Platform: "cms"}
	for _, text := range []string{"127.0.0.1:0", "localhost:0"} {
		t.Run(text, func(t *testing.T) {
			w := newPlatform(t, options)
			d := demo{options: options, listen: text, dir: demoDir(t)}
			running, err := d.startGateway(t.Context(), w.startTap(), w.info)
			if err != nil {
				t.Fatal(err)
			}
			caddyrun.StopAfter(t)
			w.gateway = running.Gateway
			if !strings.HasPrefix(w.gateway, "http://"+strings.TrimSuffix(text, "0")) {
				t.Errorf("%s: printed as %s", text, w.gateway)
			}
			w.gate("GET /cms-json/cms/v2/users", "").refusedWith(401, "rest_not_logged_in")
		})
	}
}

// TestDemo_AnyHost: an unknown Host is guarded and proxied like the demo's own address.
func TestDemo_AnyHost(t *testing.T) {
	w := newDemo(t, site.Options{Release: "10.7", Platform: "cms"})
	for _, host := range []string{"shop.example.com", "localhost", "127.0.0.1:1", "[::1]"} {
		as := func(r *http.Request) { r.Host = host }
		w.gate("GET /cms-json/cms/v2/users", "", as).refusedWith(401, "rest_not_logged_in")
		w.gate("GET /cms-json/cms/v2/users", "", as, w.as("admin")).want(200, `"slug":"admin"`).passed()
		w.gate("GET /", "", as).want(200).passed()
	}
}

// TestDemo_PortInUse: Caddy would share the port without a message.
func TestDemo_PortInUse(t *testing.T) {
	port := machine.Listener(t).Addr().String()
	free := machine.FreeAddress(t)
	for name, c := range map[string]struct{ listen, backend, flag string }{
		"gateway":      {port, "127.0.0.1:0", "--listen"},
		"platform":     {"127.0.0.1:0", port, "--backend-listen"},
		"both one":     {free, free, "--listen"},
		"no port":      {"127.0.0.1", "127.0.0.1:0", "--listen"},
		"another host": {"192.0.2.1:0", "127.0.0.1:0", "--listen"},
	} {
		if err := runDemo(t, demo{listen: c.listen, backendListen: c.backend}); err == nil || !strings.HasPrefix(err.Error(), "demo: "+c.flag+": ") {
			t.Errorf("%s: %v, want an error that names %s", name, err, c.flag)
		}
	}
}

// TestDemo_SMTP: a mail server without a port is refused at once.
func TestDemo_SMTP(t *testing.T) {
	d := demo{listen: "127.0.0.1:0", backendListen: "127.0.0.1:0", options: site.Options{SMTP: "mail"}}
	if err := runDemo(t, d); err == nil || !strings.HasPrefix(err.Error(), "demo: --smtp: ") {
		t.Errorf("error %v", err)
	}
}

// TestDemo_Base: a base that the directive refuses is refused at once.
func TestDemo_Base(t *testing.T) {
	for _, base := range []string{"/blog/", "blog", "/"} {
		d := demo{listen: "127.0.0.1:0", backendListen: "127.0.0.1:0", options: site.Options{Base: base}}
		if err := runDemo(t, d); err == nil || !strings.HasPrefix(err.Error(), "demo: --base: ") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// runDemo runs a demo that should not start, for a second if it does.
func runDemo(t *testing.T, d demo) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return d.run(ctx, io.Discard)
}
