package routing

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// proxies looks for servers behind a proxy that they do not trust: W13. To these, all
// clients have the address of the proxy, or none, which limits then count. Only what the
// configuration says itself shows that there is a proxy: only this machine reaches the
// listener, another header is to name the client, or such a header is passed on as the
// address. A private address shows nothing: hosts of clouds have one on the Internet.
func (v *survey) proxies() {
	for _, f := range v.flows {
		i := slices.IndexFunc(v.reader.directives, func(d *Directive) bool {
			return slices.ContainsFunc(d.visits, func(at *visit) bool { return at.server == f })
		})
		if i < 0 || readsProxyProtocol(f.server) {
			continue
		}
		d := v.reader.directives[i]
		sockets, others := socketsOf(f.server.Listen)
		if len(sockets) > 0 && !f.server.TrustedProxiesUnix { // no range has a socket in it
			v.odd("W13", d, d.Hosts, "trust it in the global options, servers { trusted_proxies_unix }",
				"a proxy seems to stand before Caddy, at %s, but there is no trusted_proxies_unix: limits count all clients as one, since a socket has no address",
				strings.Join(sockets, ", "))
			continue
		}
		if why := untrusted(f, others); why != "" {
			v.odd("W13", d, d.Hosts, "name it in the global options, servers { trusted_proxies static … }",
				"%s, so that a proxy seems to stand before Caddy, but there are no trusted_proxies: limits count all clients as one, the proxy", why)
		}
	}
}

// untrusted says what shows that a proxy stands before a server, which has these addresses beside
// sockets and trusts none of them; "" if nothing does.
func untrusted(f *flow, listen []string) string {
	switch {
	case len(listen) == 0, isTrusting(f.server):
		return ""
	case !slices.Contains([]string{"", "X-Forwarded-For"}, strings.Join(f.server.ClientIPHeaders, " ")):
		return "client_ip_headers is set"
	case isLocal(listen):
		return "only this machine reaches " + strings.Join(listen, ", ")
	case slices.ContainsFunc(f.visits, func(at *visit) bool { return at.forwards }):
		return "header_up passes on an address that a header of the request names"
	}
	return ""
}

// socketsOf parts Unix sockets from the other addresses of a server.
func socketsOf(listen []string) (sockets, others []string) {
	for _, address := range listen {
		if at, err := caddy.ParseNetworkAddress(address); err == nil && at.IsUnixNetwork() {
			sockets = append(sockets, address)
		} else {
			others = append(others, address)
		}
	}
	return sockets, others
}

// isTrusting tells whether a server has trusted proxies. Caddy clears their JSON when it
// loads them into a field that is not exported.
func isTrusting(server *caddyhttp.Server) bool {
	if server.TrustedProxiesRaw != nil {
		return true
	}
	loaded := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return loaded.IsValid() && loaded.Kind() == reflect.Interface && !loaded.IsNil()
}

// readsProxyProtocol tells whether connections tell the client's own address.
func readsProxyProtocol(server *caddyhttp.Server) bool {
	for _, raw := range server.ListenerWrappersRaw {
		if strings.Contains(string(raw), `"proxy_protocol"`) {
			return true
		}
	}
	loaded := reflect.ValueOf(server).Elem().FieldByName("listenerWrappers")
	if !loaded.IsValid() || loaded.Kind() != reflect.Slice {
		return false
	}
	for i := range loaded.Len() {
		if strings.Contains(loaded.Index(i).Elem().Type().String(), "proxyprotocol.") {
			return true
		}
	}
	return false
}

// isLocal tells whether only this machine reaches the addresses.
func isLocal(listen []string) bool {
	for _, address := range listen {
		at, err := caddy.ParseNetworkAddress(address)
		if err != nil {
			return false
		}
		ip, err := netip.ParseAddr(at.Host)
		if at.Host != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}
