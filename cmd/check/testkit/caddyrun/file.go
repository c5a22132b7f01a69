package caddyrun

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	// The modules that the tests' Caddyfiles use beside the gateway.
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/encode/gzip"
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

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TrustLoopback is the global option that lets a test set the client's address by
// X-Forwarded-For.
const TrustLoopback = "\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32\n\t}\n"

// File is a Caddyfile in parts. With it, nothing leaves the machine and nothing is kept.
type File struct {
	Admin  string // address of the admin endpoint; "" for none
	Log    string // where Caddy's log goes, as JSON: "file PATH" or "stderr"; "" for nowhere
	Global string // more global options
	Sites  []Site

	storage string // directory for certificates
}

// Site is a site on a loopback address that answers any host name.
type Site struct {
	Body    string // the directives
	Address string // "127.0.0.1:port"; Start finds a free one if it is empty
	Secure  bool   // over TLS, with a certificate for the address
	Bind    string // where Caddy listens, if not on the address
}

// String returns the Caddyfile.
func (f *File) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("{")
	if f.Admin == "" {
		line("\tadmin off")
	} else {
		line("\tadmin %s", f.Admin)
	}
	line("\tpersist_config off\n\tgrace_period 5s")
	if f.secure() {
		line("\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage file_system %s", f.storage)
	} else {
		line("\tauto_https off")
	}
	if f.Log == "" {
		line("\tlog {\n\t\toutput discard\n\t\tlevel ERROR\n\t}")
	} else {
		line("\tlog {\n\t\toutput %s\n\t\tformat json\n\t}", f.Log)
	}
	line("%s}", f.Global)
	for _, s := range f.Sites {
		line("%s", s.String())
	}
	return b.String()
}

// String returns the block of the site.
func (s *Site) String() string {
	name, bind := "http://:"+machine.Port(s.Address), s.Bind
	if s.Secure {
		name = "https://" + s.Address
	}
	if bind == "" {
		bind = "127.0.0.1"
	}
	return fmt.Sprintf("%s {\n\tbind %s\n%s\n}", name, bind, s.Body)
}

func (f *File) secure() bool {
	for _, s := range f.Sites {
		if s.Secure {
			return true
		}
	}
	return false
}

// Addresses returns the addresses of the sites.
func (f *File) Addresses() (all []string) {
	for _, s := range f.Sites {
		all = append(all, s.Address)
	}
	return all
}

// Adapt returns the configuration that Caddy makes of a Caddyfile. The test must
// have registered the directives in it.
func Adapt(tb testing.TB, caddyfile string) []byte {
	tb.Helper()
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		tb.Fatalf("%v\n%s", err, caddyfile)
	}
	return config
}
