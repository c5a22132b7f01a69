package routing

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/intercept"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// step is one handler of a route: loaded, or still JSON.
type step struct {
	name   string // of the module, without its namespace
	module caddyhttp.MiddlewareHandler
	raw    json.RawMessage
}

// json returns the configuration of the handler.
func (s step) json() json.RawMessage {
	if s.module == nil {
		return s.raw
	}
	raw, _ := json.Marshal(s.module)
	return raw
}

// steps returns the handlers of a route.
func steps(route *caddyhttp.Route) []step {
	var found []step
	for _, raw := range route.HandlersRaw {
		found = append(found, step{name: inlineName(raw), raw: raw})
	}
	if found != nil {
		return found // Caddy appends the loaded handlers before it clears their JSON
	}
	for _, module := range route.Handlers {
		found = append(found, step{name: moduleName(module), module: module})
	}
	return found
}

func moduleName(v any) string {
	module, ok := v.(caddy.Module)
	if !ok {
		return ""
	}
	return module.CaddyModule().ID.Name()
}

// inlineName returns the module's name, which stands within its JSON. It reads no more of
// valid JSON than it needs: rules may be long, and sites many.
func inlineName(raw json.RawMessage) string {
	depth, key := 0, ""
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 1 {
				key = ""
			}
		case '"':
			text := quoted(raw[i:])
			i += len(text) - 1
			switch {
			case depth != 1:
			case key == "":
				key = string(text)
			case key == `"handler"`:
				var name string
				_ = jsonv1.Unmarshal(text, &name)
				return name
			}
		}
	}
	return ""
}

// quoted returns the string that raw begins with, with its quotes.
func quoted(raw []byte) []byte {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return raw[:i+1]
		}
	}
	return raw
}

// branch is a list of routes within a handler.
type branch struct {
	routes caddyhttp.RouteList
	errors bool // it runs where the handler's other routes fail
}

// branches returns the routes within a handler. The routes of a handler that this package
// does not know count too: requests may take them.
func (s step) branches() []branch {
	switch k := KindOf(s.name); {
	case k.single:
		return nil
	case k.branches != nil:
		return k.branches(s)
	}
	if s.module != nil {
		return hiddenInModule(s.module)
	}
	return hiddenInJSON(s.raw)
}

// decoded returns the handler as a T: the loaded one, if it is a T, or what its JSON says.
// jsonv1 reads JSON as encoding/json does, in about half the time.
func decoded[T any](s step) *T {
	switch loaded := any(s.module).(type) {
	case *T:
		return loaded
	case T:
		return &loaded
	}
	v := new(T)
	if s.raw != nil {
		_ = jsonv1.Unmarshal(s.raw, v) // Caddy will say what is wrong
	}
	return v
}

func subroutes(st step) []branch {
	s := decoded[caddyhttp.Subroute](st)
	found := []branch{{routes: s.Routes}}
	if s.Errors != nil {
		found = append(found, branch{routes: s.Errors.Routes, errors: true})
	}
	return found
}

func handledResponses(s step) []branch {
	handlers := decoded[struct {
		HandleResponse []caddyhttp.ResponseHandler `json:"handle_response"`
	}](s).HandleResponse
	switch m := s.module.(type) {
	case *reverseproxy.Handler:
		handlers = m.HandleResponse
	case *intercept.Intercept:
		handlers = m.HandleResponse
	}
	var found []branch
	for _, h := range handlers {
		if h.StatusCode == "" && h.Routes != nil {
			found = append(found, branch{routes: h.Routes})
		}
	}
	return found
}

// hostSets returns the hosts of each matcher set of a route, as configured; nil stands for
// a set that names none.
func hostSets(route *caddyhttp.Route) [][]string {
	var sets [][]string
	for _, set := range route.MatcherSets {
		var hosts []string
		for _, m := range set {
			if m, ok := m.(*caddyhttp.MatchHost); ok {
				hosts = nonNil(slices.Clone([]string(*m)))
			}
		}
		sets = append(sets, hosts)
	}
	if sets != nil {
		return sets
	}
	for _, set := range route.MatcherSetsRaw {
		var hosts []string
		if raw, ok := set["host"]; ok {
			_ = jsonv1.Unmarshal(raw, &hosts)
			hosts = nonNil(normalized(hosts))
		}
		sets = append(sets, hosts)
	}
	return sets
}

func nonNil(hosts []string) []string {
	if hosts == nil {
		return []string{}
	}
	return hosts
}

// normalized returns hosts as MatchHost.Provision leaves them, in the order as written.
func normalized(hosts []string) []string {
	for i := range hosts {
		one := caddyhttp.MatchHost{hosts[i]}
		if one.Provision(caddy.Context{}) == nil {
			hosts[i] = one[0]
		}
	}
	return hosts
}

// hostsOf returns the hosts that a route's matchers require, of all sets together in the
// order as written; nil if a request to any host may pass one of the sets.
func hostsOf(route *caddyhttp.Route) []string {
	var hosts []string
	for _, set := range hostSets(route) {
		if set == nil {
			return nil
		}
		for _, host := range set {
			if !slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
				hosts = append(hosts, host)
			}
		}
		hosts = nonNil(hosts)
	}
	return hosts
}
