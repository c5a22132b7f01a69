package routing

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Texts are the routes of a server as they are configured, byte for byte but for blanks. They must be taken before
// Caddy loads the routes.
type Texts struct {
	common text            // routes for hosts that are not known, and named routes
	hosts  map[string]text // of routes for single hosts
}

// text is the hash of some routes in their order.
type text struct {
	sum     [sha256.Size]byte
	unknown bool // one of the routes has been loaded
}

func (t text) with(more []byte, unknown bool) text {
	return text{sha256.Sum256(append(t.sum[:], more...)), t.unknown || unknown}
}

// TextsOf takes the texts of a server.
func TextsOf(server *caddyhttp.Server) *Texts {
	all := &Texts{hosts: map[string]text{}}
	named, err := json.Marshal(server.NamedRoutes)
	all.common = all.common.with(named, err != nil)
	for _, route := range server.NamedRoutes {
		all.common.unknown = all.common.unknown || route.Handlers != nil
	}
	for i := range server.Routes {
		route := &server.Routes[i]
		hosts := hostsOf(route)
		raw, err := json.Marshal(route)
		raw = append(raw, textOf(matcherSets(route))+strings.Join(hosts, " ")...) // matchers are loaded before all handlers
		unknown := err != nil || route.Handlers != nil
		if hosts == nil || slices.ContainsFunc(hosts, func(h string) bool { return !isLiteral(h) }) {
			all.common = all.common.with(raw, unknown)
			continue
		}
		for _, h := range hosts {
			h = strings.ToLower(h)
			all.hosts[h] = all.hosts[h].with(raw, unknown)
		}
	}
	return all
}

// Of identifies the routes that requests to any of hosts may take, or those of no single hosts where
// hosts is nil. ok is false where one of them is not known.
func (t *Texts) Of(hosts []string) (sum [sha256.Size]byte, ok bool) {
	if t == nil {
		return sum, false
	}
	all := t.common
	for _, h := range hosts {
		of := t.hosts[strings.ToLower(h)]
		all = all.with(of.sum[:], of.unknown)
	}
	return all.sum, !all.unknown
}
