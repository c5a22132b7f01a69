package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// bare returns addresses of hosts that servers name, and neither other ones nor those of some addresses do.
func (p *parts) bare(addresses []string, others *parts) (found []string) {
	known := map[string]bool{}
	for _, address := range addresses {
		known[address] = true
	}
	others.eachHost(func(address string) { known[address] = true })
	p.eachHost(func(address string) {
		if !known[address] {
			known[address] = true
			found = append(found, address)
		}
	})
	return found
}

// eachHost calls do with the address of each host that a route of a server names.
func (p *parts) eachHost(do func(address string)) {
	for _, name := range slices.Sorted(maps.Keys(p.servers)) {
		server := object(p.servers[name])
		list, _ := server["listen"].([]any)
		routes, _ := server["routes"].([]any)
		for _, route := range routes {
			sets, _ := object(route)["match"].([]any)
			for _, set := range sets {
				names, _ := object(set)["host"].([]any)
				for _, host := range names {
					if strings.Contains(word(host), "{") {
						continue // nobody knows which one
					}
					for _, listen := range list {
						do(addressAt(word(host), word(listen), server["tls_connection_policies"] != nil))
					}
				}
			}
		}
	}
}

// socket begins what stands for the address of a host at a socket of the machine, to which no dry run goes.
const socket = "socket://"

// addressAt returns the address of a host at a server that listens.
func addressAt(host, listen string, secure bool) string {
	at, err := caddy.ParseNetworkAddress(listen)
	if err != nil || at.IsUnixNetwork() || at.IsFdNetwork() {
		return socket + host
	}
	host = strings.ReplaceAll(host, "*", "any")
	switch {
	case at.StartPort == caddyhttp.DefaultHTTPSPort:
		return "https://" + host
	case at.StartPort == caddyhttp.DefaultHTTPPort:
		return "http://" + host
	case secure:
		return fmt.Sprintf("https://%s:%d", host, at.StartPort)
	}
	return fmt.Sprintf("http://%s:%d", host, at.StartPort)
}
