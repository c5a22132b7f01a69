package livetest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/requestbody"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/fastcgi"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
	_ "github.com/caddyserver/caddy/v2/modules/caddypki"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls/standardstek"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"
	_ "github.com/caddyserver/caddy/v2/modules/metrics"

	_ "github.com/restwarden/restwarden/caddymodule"
)

// globals of every configuration: nothing leaves the machine, nothing is kept.
const globals = `
	admin off
	persist_config off
	auto_https disable_redirects
	skip_install_trust
	grace_period 2s
	log {
		output discard
		level ERROR
	}
`

// block is one site: the directives between its braces.
type block struct {
	body   string
	secure bool // over TLS
}

// run starts Caddy with these sites until the test ends and returns their
// addresses in order. options are more global options.
func run(t testing.TB, options string, sites ...block) []string {
	t.Helper()
	for attempt := 0; ; attempt++ {
		addresses := freeAddresses(t, len(sites))
		err := caddy.Load(adapt(t, options, addresses, sites...), true)
		if err == nil {
			t.Cleanup(func() {
				if err := caddy.Stop(); err != nil {
					t.Error(err)
				}
			})
			return addresses
		}
		if attempt == 5 || !errors.Is(err, syscall.EADDRINUSE) { // somebody was faster
			t.Fatal(err)
		}
	}
}

// adapt returns the configuration of sites at their addresses.
func adapt(t testing.TB, options string, addresses []string, sites ...block) []byte {
	t.Helper()
	var source strings.Builder
	fmt.Fprintf(&source, "{%s\tstorage file_system %s\n%s\n}\n", globals, t.TempDir(), options)
	for i, s := range sites {
		_, port, _ := net.SplitHostPort(addresses[i])
		name := "http://:" + port
		if s.secure {
			name = "https://" + addresses[i]
		}
		fmt.Fprintf(&source, "%s {\n\tbind 127.0.0.1\n%s\n}\n", name, s.body)
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source.String()), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatalf("%v\n%s", err, source.String())
	}
	return config
}

// freeAddresses returns n different addresses where nobody listens.
func freeAddresses(t testing.TB, n int) (free []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		free = append(free, l.Addr().String())
	}
	return free
}
