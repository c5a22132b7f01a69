package questions

import (
	"maps"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// OwnAgent is how the gateway calls itself.
const OwnAgent = "RestWarden"

// secureHeaders say that a client uses https, in the one value that is taken from its request. A
// site may redirect what does not come by https.
var secureHeaders = [...][2]string{
	{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Ssl", "on"}, {"X-Forwarded-Port", "443"}, {"Cf-Visitor", `{"scheme":"https"}`},
}

// Own returns what asks in the gateway's own name, and outlives r; see Backend. What it finds counts
// for all clients of a host, so that no client has a say in what it sends but for the host and the
// scheme: a firewall of the site may refuse a client's address, User-Agent or proxy.
func (s *Site) Own(r *http.Request, vars map[string]any, next caddyhttp.Handler) *Backend {
	b := s.Backend(r, vars, next, r.Host, nil)
	b.header, b.remoteAddr, b.vars = http.Header{"User-Agent": {OwnAgent}}, "127.0.0.1:0", maps.Clone(b.vars)
	if b.vars != nil {
		b.vars[caddyhttp.ClientIPVarKey] = "127.0.0.1"
	}
	if r.TLS != nil {
		return b
	}
	for _, h := range secureHeaders {
		if slices.Equal(r.Header[h[0]], []string{h[1]}) {
			b.header.Set(h[0], h[1])
		}
	}
	return b
}

// From makes b ask from the address of the client of r, which has the variables vars: a site may
// be open to some addresses only.
func (b *Backend) From(r *http.Request, vars map[string]any) {
	b.remoteAddr = r.RemoteAddr
	if b.vars != nil {
		b.vars[caddyhttp.ClientIPVarKey] = vars[caddyhttp.ClientIPVarKey]
	}
}
