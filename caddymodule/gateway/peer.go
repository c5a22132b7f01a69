package gateway

import (
	"net/http"
	"net/netip"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// peer is who is at the other end of a request, as far as the server knows.
type peer struct {
	client  netip.Addr // by trusted proxies if there are any; the zero Addr if unknown, as in early data
	trusted bool       // a trusted proxy sent the request
	secure  bool       // the client came by https
}

func peerOf(r *http.Request, vars map[string]any) peer {
	text, _ := vars[caddyhttp.ClientIPVarKey].(string)
	p := peer{secure: r.TLS != nil}
	if !call.Early(r) {
		p.client, _ = netip.ParseAddr(text)
	}
	p.trusted, _ = vars[caddyhttp.TrustedProxyVarKey].(bool)
	if p.trusted && !p.secure { // anybody can send the header
		p.secure = r.Header.Get("X-Forwarded-Proto") == "https"
	}
	return p
}

// addressOf is the text of an address, "" where the server knows none.
func addressOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// holderOf says on whose account a request of p holds memory, disk and questions.
func (s *site) holderOf(r *http.Request, p peer) budget.Holder {
	return budget.Holder{Site: s.Name, Client: p.share(r)}
}

// ofEarlyData stands for the addresses of all requests in early data, which may be forged: no
// client has it. Their bodies come and are held long after the handshake.
var ofEarlyData = netip.IPv4Unspecified()

// share is the address whose share of memory, disk and questions a request uses. It is
// the zero Addr for the address of a proxy: one that the server trusts or one of a private
// network. All early data together has one share.
func (p peer) share(r *http.Request) netip.Addr {
	if call.Early(r) {
		return ofEarlyData
	}
	if p.client.IsPrivate() || p.client.IsLoopback() {
		return netip.Addr{}
	}
	if p.trusted {
		if remote, _ := netip.ParseAddrPort(r.RemoteAddr); remote.Addr() == p.client {
			return netip.Addr{}
		}
	}
	return p.client
}
