package compare

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/hosts"
)

// way is what requests to a site may take on one side, as far as configurations say.
type way struct {
	routes any            // of the servers, with numbers in place of directives: 0 for the site's own
	kind   string         // the routes without the hosts: sites of one snippet have one
	others []dryrun.Other // directives that may judge some of the calls, by their numbers from 1 on
	// straight tells that every request to the site comes to its directive, as the client has sent it.
	straight bool
}

// way returns the way to a site, of requests to some hosts.
func (s *side) way(ctx context.Context, home *dryrun.Home, names []string) (*way, error) {
	others, err := s.Config.Beside(ctx, home.ServedSite, home.Address)
	if err != nil {
		return nil, err
	}
	w, numbers := new(way), map[string]any{home.Said: "0"}
	number := func(said string) any {
		i := slices.IndexFunc(others, func(o dryrun.Other) bool { return o.Said == said })
		if numbers[said] == nil && i >= 0 {
			w.others = append(w.others, others[i])
			numbers[said] = strconv.Itoa(len(w.others))
		}
		return numbers[said] // nil for one that judges no call of the site
	}
	routes := s.parts.routesFor(names)
	w.routes = replaced(routes, number, false)
	for _, other := range others {
		number(other.Said)
	}
	w.kind, w.straight = textOf(replaced(routes, number, true)), true
	for _, server := range routes {
		arrives, straight := leads(object(server)["routes"], home.Said)
		w.straight = w.straight && (straight || !arrives)
	}
	return w, nil
}

// replaced returns a copy of v with what number returns in place of what directives say, in their order.
func replaced(v any, number func(said string) any, withoutHosts bool) any {
	switch v := v.(type) {
	case map[string]any:
		copied := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch said, text := v[name].(string); {
			case name == saidMember && text:
				copied[name] = number(said)
			case name != "host" || !withoutHosts:
				copied[name] = replaced(v[name], number, withoutHosts)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = replaced(v[i], number, withoutHosts)
		}
		return copied
	}
	return v
}

// leads tells whether some requests that come to routes arrive at a directive, and whether all of them do, as they are.
func leads(routes any, said string) (arrives, straight bool) {
	list, _ := routes.([]any)
	straight = true
	for _, v := range list {
		route := object(v)
		sets, _ := route["match"].([]any)
		every := !slices.ContainsFunc(sets, func(set any) bool {
			names := object(set)
			return len(names) > 1 || len(names) == 1 && names["host"] == nil
		})
		handlers, _ := route["handle"].([]any)
		for _, h := range handlers {
			handler := object(h)
			name := word(handler["handler"])
			if name == "restwarden" && handler[saidMember] == said {
				return true, straight && every
			}
			if arrives, inner := leads(handler["routes"], said); arrives {
				return true, straight && every && inner
			}
			straight = straight && routing.KindOf(name).PassesAsIs(handler)
		}
	}
	return false, false
}

// marked returns a copy of v without what does not decide which way a request takes: handlers that change answers alone, and how a
// proxy reaches its backend.
func marked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		name, handler := v["handler"].(string)
		if handler && name == "restwarden" {
			return map[string]any{"handler": name, saidMember: v[saidMember]}
		}
		if handler {
			if v = routing.KindOf(name).Ways(v); v == nil {
				return map[string]any{"handler": name}
			}
		}
		copied := map[string]any{}
		for member, inner := range v {
			copied[member] = marked(inner)
		}
		return copied
	case []any:
		copied := []any{}
		for i := range v {
			if one := marked(v[i]); !idle(one) {
				copied = append(copied, one)
			}
		}
		return copied
	}
	return v
}

// idle tells whether a handler, or a route of such handlers, leads no request anywhere.
func idle(v any) bool {
	o := object(v)
	if name := word(o["handler"]); name != "" {
		kind := routing.KindOf(name)
		return name != "restwarden" && !kind.Leads() && kind.Ways(o) == nil
	}
	handlers, route := o["handle"].([]any)
	return route && len(handlers) == 0 && o["terminal"] == nil && o["group"] == nil
}

// routesFor returns the servers with the routes that requests to some hosts may take; no host stands for all. It notes that they
// are taken.
func (p *parts) routesFor(names []string) map[string]any {
	found := map[string]any{}
	for name, server := range p.servers {
		kept := maps.Clone(object(server))
		delete(kept, "logs")
		if auto := object(kept["automatic_https"]); auto != nil {
			kept["automatic_https"] = ofHosts(auto, names)
		}
		var routes []any
		list, _ := kept["routes"].([]any)
		for i, v := range list {
			route := object(v)
			if !mayTake(route, names) {
				continue
			}
			p.taken[place{name, i}] = true
			route = maps.Clone(route)
			if route["match"] != nil {
				route["match"] = withoutHosts(route["match"])
			}
			routes = append(routes, route)
		}
		if kept["routes"] = routes; len(routes) > 0 {
			found[name] = kept
		}
	}
	return found
}

// ofHosts returns the automatic HTTPS of a server with the hosts that it leaves out, of some alone; no host stands for all.
func ofHosts(auto map[string]any, names []string) map[string]any {
	kept := maps.Clone(auto)
	for _, member := range []string{"skip", "skip_certificates"} {
		list, _ := kept[member].([]any)
		if list == nil || len(names) == 0 {
			continue
		}
		kept[member] = slices.DeleteFunc(slices.Clone(list), func(host any) bool { return !slices.Contains(names, word(host)) })
	}
	return kept
}

// withoutHosts returns the matchers of a route that some hosts meet, without hosts.
func withoutHosts(match any) any {
	sets, _ := match.([]any)
	kept := make([]any, len(sets))
	for i, set := range sets {
		kept[i] = maps.Clone(object(set))
		delete(object(kept[i]), "host")
	}
	return kept
}

// mayTake tells whether a request to one of some hosts may match a route.
func mayTake(route map[string]any, names []string) bool {
	sets, _ := route["match"].([]any)
	if len(sets) == 0 || len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(sets, func(set any) bool {
		list, ok := object(set)["host"].([]any)
		return !ok || slices.ContainsFunc(list, func(v any) bool {
			own, text := v.(string)
			return !text || strings.Contains(own, "{") || slices.ContainsFunc(names, func(name string) bool {
				return hosts.Fits(own, hosts.Name(name)) || hosts.Fits(name, hosts.Name(own))
			})
		})
	})
}

// left returns where directives stand that are compared for no site, with what they say and the routes that lead to them: routes
// that are on the way to no site, and directives on such a way that are not compared.
func (p *parts) left() (at []string, text string) {
	var left []any
	for _, name := range slices.Sorted(maps.Keys(p.servers)) {
		server := object(p.servers[name])
		list, _ := server["routes"].([]any)
		for i, route := range list {
			whole := !p.taken[place{name, i}]
			places := p.leftIn(route, whole)
			if len(places) == 0 {
				continue
			}
			at = append(at, places...)
			left = append(left, server["listen"], replaced(route, func(said string) any {
				if !whole && p.compared[said] {
					return nil
				}
				return textOf(p.said[said])
			}, false))
		}
	}
	return at, textOf(left)
}

// leftIn returns where the directives within a route stand that are compared for no site.
func (p *parts) leftIn(route any, whole bool) (at []string) {
	dryrun.Each(route, "restwarden", func(d map[string]any) {
		if said := word(d[saidMember]); whole || !p.compared[said] {
			at = append(at, p.at[said])
		}
	})
	return at
}

// difference names the first place where two parts of the adapted JSON differ: "srv0, routes, 2, handle, 0 (respond)".
func difference(old, now any) string {
	a, b := object(old), object(now)
	if a != nil && b != nil {
		for _, name := range namesIn(a, b) {
			if textOf(a[name]) != textOf(b[name]) {
				return strings.TrimSuffix(fmt.Sprintf("%s, %s", name, difference(a[name], b[name])), ", ")
			}
		}
	}
	x, isList := old.([]any)
	y, alsoList := now.([]any)
	if isList && alsoList {
		for i := range min(len(x), len(y)) {
			if textOf(x[i]) != textOf(y[i]) {
				return strings.TrimSuffix(fmt.Sprintf("%d%s, %s", i, handlerOf(y[i]), difference(x[i], y[i])), ", ")
			}
		}
		if len(x) < len(y) {
			return fmt.Sprintf("%d%s is new", len(x), handlerOf(y[len(x)]))
		}
		return fmt.Sprintf("%d%s is gone", len(y), handlerOf(x[len(y)]))
	}
	return ""
}

// handlerOf names the handler of a step: " (respond)".
func handlerOf(v any) string {
	if name, ok := object(v)["handler"].(string); ok {
		return " (" + name + ")"
	}
	return ""
}
