package routing

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Way is one way on which requests reach a handler. A handler of a named route has one
// way for each handler that invokes the route.
type Way struct {
	// Server is the server whose requests take the way, and ServerName its key.
	Server     *caddyhttp.Server
	ServerName string
	// Module is the handler, and nil while it is not loaded. Raw is its JSON until then.
	Module caddyhttp.MiddlewareHandler
	Raw    json.RawMessage
	// Hosts are those of the innermost route on the way that requires hosts, in the order
	// as written, lower-case and in ASCII. They are nil if a request to any host may take
	// the way. Caddy sorts a list of more than 100 hosts when it loads it; the lists of a
	// server's own routes are loaded before all handlers.
	Hosts []string
	// Match tells whether a request is to one of Hosts; see Covers.
	Match caddyhttp.MatchHost
	// Matchers are the matchers on the way, but for those of hosts, in a form that is the
	// same for equal ones. They tell two ways for the same hosts apart.
	Matchers string
	// Routes are the routes on the way, the outermost first.
	Routes []*caddyhttp.Route
	// Errors says that the way leads through routes for errors (handle_errors).
	Errors bool
	// Named is the named route that the handler is in, if any.
	Named string
}

// Covers tells whether r is to one of the way's hosts. r must be a request that Caddy is
// serving.
func (w *Way) Covers(r *http.Request) bool {
	if w.Hosts == nil {
		return true
	}
	ok, err := w.Match.MatchWithError(r)
	return ok && err == nil
}

// Ways returns all ways in app to handlers of the name, such as "restwarden", by servers'
// names and in the order of the configuration. It may be called while Caddy loads the app.
func Ways(app *caddyhttp.App, handlerName string) []Way {
	w := walk{handler: handlerName}
	for _, name := range slices.Sorted(maps.Keys(app.Servers)) {
		server := app.Servers[name]
		at := Way{Server: server, ServerName: name}
		w.routes(server.Routes, at)
		if server.Errors != nil {
			at.Errors = true
			w.routes(server.Errors.Routes, at)
		}
	}
	return w.found
}

// walk collects ways.
type walk struct {
	handler string
	invoked []string // the named routes on the present way; one may invoke itself
	found   []Way
}

// routes walks on from at, which says by what way requests reach the routes.
func (w *walk) routes(routes caddyhttp.RouteList, at Way) {
	for i := range routes {
		w.route(&routes[i], at)
	}
}

func (w *walk) route(route *caddyhttp.Route, at Way) {
	if hosts := hostsOf(route); hosts != nil {
		at.Hosts, at.Match = hosts, matcherOf(hosts)
	}
	at.Matchers += textOf(matcherSets(route))
	at.Routes = append(slices.Clip(at.Routes), route)
	for _, s := range steps(route) {
		w.step(s, at)
	}
}

// textOf writes the matcher sets of a route, without hosts.
func textOf(sets [][]*matcher) string {
	var b strings.Builder
	for _, set := range sets {
		for _, m := range set {
			if m.kind == "host" {
				continue
			}
			fmt.Fprintf(&b, " %s %s", m.kind, m.text)
			if len(m.inner) > 0 {
				fmt.Fprintf(&b, " (%s)", textOf(m.inner))
			}
		}
		if b.Len() > 0 {
			b.WriteString(";")
		}
	}
	return b.String()
}

func (w *walk) step(s step, at Way) {
	switch k := KindOf(s.name); {
	case s.name == w.handler:
		at.Module, at.Raw = s.module, s.raw
		w.found = append(w.found, at)
	case k.invokes != nil:
		w.invoke(k.invokes(s), at)
	default:
		for _, b := range s.branches() {
			inner := at
			inner.Errors = at.Errors || b.errors
			w.routes(b.routes, inner)
		}
	}
}

func (w *walk) invoke(name string, at Way) {
	route, ok := at.Server.NamedRoutes[name]
	if !ok || slices.Contains(w.invoked, name) {
		return
	}
	w.invoked = append(w.invoked, name)
	at.Named = name
	w.route(route, at)
	w.invoked = w.invoked[:len(w.invoked)-1]
}

// matcherOf returns the matcher of hosts. A long list must be sorted.
func matcherOf(hosts []string) caddyhttp.MatchHost {
	m := caddyhttp.MatchHost(slices.Clone(hosts))
	_ = m.Provision(caddy.Context{}) // the hosts are normalized, and each is there once
	return m
}
