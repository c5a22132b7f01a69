package gateway

import (
	"maps"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ownAgent is how the gateway calls itself.
const ownAgent = "RestWarden"

// secureHeaders say that a client uses https, in the one value that is taken from its request. A
// site may redirect what does not come by https.
var secureHeaders = [...][2]string{
	{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Ssl", "on"}, {"X-Forwarded-Port", "443"}, {"Cf-Visitor", `{"scheme":"https"}`},
}

// ownBackend is a backend that asks in the gateway's own name, and outlives r. What it finds counts
// for all clients of a host, so that no client has a say in what it sends but for the host and the
// scheme: a firewall of the site may refuse a client's address, User-Agent or proxy.
func ownBackend(s *site, r *http.Request, next caddyhttp.Handler) *backend {
	b := newBackend(s, r, next)
	b.header, b.remoteAddr, b.vars = http.Header{"User-Agent": {ownAgent}}, "127.0.0.1:0", maps.Clone(b.vars)
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

// from makes b ask from the address of r's client: a site may be open to some addresses only.
func (b *backend) from(r *http.Request) {
	b.remoteAddr = r.RemoteAddr
	if b.vars != nil {
		b.vars[caddyhttp.ClientIPVarKey] = varsOf(r)[caddyhttp.ClientIPVarKey]
	}
}
