package compare

import (
	"maps"
	"slices"
	"strings"
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
						do(addressAt(word(host), word(listen)))
					}
				}
			}
		}
	}
}

// addressAt returns the address of a host at a server that listens.
func addressAt(host, listen string) string {
	port := listen[strings.LastIndex(listen, ":")+1:]
	host = strings.ReplaceAll(host, "*", "any")
	switch port {
	case "443":
		return "https://" + host
	case "80":
		return "http://" + host
	}
	return "http://" + host + ":" + port
}
