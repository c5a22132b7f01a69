package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/policy"
)

// parts are the parts of a configuration that judge calls, in JSON without the places of lines.
type parts struct {
	directives map[[2]string]map[string]any // by their place, and where they were imported
	app        map[string]any               // of restwarden
	servers    map[string]any               // with marks in place of directives
	compared   map[string]bool              // what directives say that have been compared
}

func partsOf(c *dryrun.Config, hidden secrets) (*parts, error) {
	config, err := c.Expanded()
	if err != nil {
		return nil, err
	}
	p := &parts{directives: map[[2]string]map[string]any{}, compared: map[string]bool{}, app: object(object(config["apps"])["restwarden"])}
	dryrun.Each(config, "restwarden", func(d map[string]any) {
		err = errors.Join(err, hidden.hide(d))
		imported, _ := object(d["imported"])[""].(string)
		at, _ := d["at"].(string)
		p.directives[[2]string{at, imported}] = plain(d).(map[string]any)
	})
	http := object(object(config["apps"])["http"])
	p.servers = object(marked(http["servers"]))
	return p, err
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// plain returns a copy of v without places of lines.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, inner := range v {
			if name != "at" && name != "imported" && name != "lines" {
				copied[name] = plain(inner)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = plain(v[i])
		}
		return copied
	}
	return v
}

// marked returns a copy of v without what does not decide which way a request takes: what directives say, and what handlers do
// that only answer, or change answers. That they stand there counts.
func marked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["handler"].(string); ok && decidesNoWay(name, v) {
			return map[string]any{"handler": name}
		}
		copied := map[string]any{}
		for name, inner := range v {
			copied[name] = marked(inner)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = marked(v[i])
		}
		return copied
	}
	return v
}

// decidesNoWay tells whether the configuration of a handler decides on no request's way.
func decidesNoWay(name string, handler map[string]any) bool {
	switch name {
	case "restwarden":
		return true
	case "reverse_proxy":
		_, more := handler["handle_response"]
		return !more && handler["rewrite"] == nil
	}
	return routing.KindOf(name).Inert()
}

func textOf(v any) string {
	text, _ := json.Marshal(v) // it was read from JSON
	return string(text)
}

// applications adds what changes in the options of all sites.
func (c *comparer) applications() {
	old, now := c.before.parts.app, c.after.parts.app
	for _, name := range namesIn(old, now) {
		if textOf(old[name]) != textOf(now[name]) {
			c.report.beside(Beside{What: "application", Text: "the option " + name + " of all sites " + changed(old[name], now[name]), Effects: both}, "")
		}
	}
}

var both = []diff.Effect{diff.MayOpen, diff.MayClose}

// namesIn returns the names of members, each once, in order.
func namesIn(old, now map[string]any) []string {
	names := slices.Sorted(maps.Keys(old))
	for name := range now {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// changed says in a few words how a value changes. Values are not shown: they may hold secrets.
func changed(old, now any) string {
	switch {
	case old == nil:
		return "is new"
	case now == nil:
		return "is gone"
	}
	return "is another"
}

// around adds what changes in what the directive of a site says beside access, and in what stands around it.
func (c *comparer) around(old, now *dryrun.Home, site string) {
	c.settings(c.before.parts.of(old.At, old.Imported), c.after.parts.of(now.At, now.Imported), site)
	if text := c.layout(old, now); text != "" {
		c.report.beside(Beside{What: "layout", Text: text, Effects: both}, site)
	}
	c.spellings(old.Policies, now.Policies, site)
}

// settings adds what changes in what a directive says beside access.
func (c *comparer) settings(before, after map[string]any, site string) {
	for _, name := range namesIn(before, after) {
		switch {
		case textOf(before[name]) == textOf(after[name]):
		case name == "policies":
			c.policies(object(before[name]), object(after[name]), site)
		case name == "mode":
			c.mode("the directive", before[name], after[name], site)
		default:
			c.report.beside(Beside{What: "setting", Text: "the option " + name + " " + shown(before[name], after[name]), Effects: both}, site)
		}
	}
}

// spellings adds routes that only one side names, and for whose sake other spellings of calls are refused.
func (c *comparer) spellings(before, after *policy.Site, site string) {
	for _, kind := range []struct {
		of    func(*policy.Site) []routes.Pattern
		calls string // with %s for the route
	}{
		{(*policy.Site).Dots, "calls with another character in place of the dot of %s"},
		{func(s *policy.Site) []routes.Pattern { return s.Worded(c.Index) }, "calls of %s with a parameter that takes the place of a word of it"},
	} {
		texts := func(s *policy.Site) (all []string) {
			for _, p := range kind.of(s) {
				all = append(all, p.String())
			}
			return all
		}
		was, is := texts(before), texts(after)
		add := func(some, others []string, becomes string, effects []diff.Effect) {
			for _, route := range some {
				if !slices.Contains(others, route) {
					c.report.beside(Beside{What: "policy", Text: fmt.Sprintf(kind.calls, route) + becomes, Effects: effects}, site)
				}
			}
		}
		add(is, was, " are refused", both[1:])
		add(was, is, " are no longer refused for it", both[:1])
	}
}

// of returns what the directive at a place says, which is compared.
func (p *parts) of(at, imported string) map[string]any {
	d := p.directives[[2]string{at, imported}]
	p.compared[textOf(d)] = true
	return d
}

// left returns what directives say that are compared for no site, with the place of each.
func (p *parts) left() map[string]string {
	found := map[string]string{}
	for place, d := range p.directives {
		if text := textOf(d); !p.compared[text] && (found[text] == "" || place[0] < found[text]) {
			found[text] = place[0]
		}
	}
	return found
}

// layout says what changes in the servers' routes that a request to a site may take, or "".
func (c *comparer) layout(old, now *dryrun.Home) string {
	names := slices.Concat(old.Policies.Hosts, now.Policies.Hosts)
	before, after := c.before.parts.routesFor(names), c.after.parts.routesFor(names)
	if textOf(before) == textOf(after) {
		return ""
	}
	return "what leads requests to the directive, or past it, is another: " + difference(before, after)
}

// routesFor returns the servers with the routes that requests to some hosts may take; no host stands for all.
func (p *parts) routesFor(names []string) map[string]any {
	found := map[string]any{}
	for name, server := range p.servers {
		kept := maps.Clone(object(server))
		delete(kept, "logs")
		var routes []any
		list, _ := kept["routes"].([]any)
		for _, route := range list {
			if mayTake(object(route), names) {
				routes = append(routes, route)
			}
		}
		if kept["routes"] = routes; len(routes) > 0 {
			found[name] = kept
		}
	}
	return found
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
			return !text || slices.ContainsFunc(names, func(name string) bool {
				return hosts.Fits(own, hosts.Name(name)) || hosts.Fits(name, hosts.Name(own))
			})
		})
	})
}

// difference names the first place where two parts differ: "servers srv0, routes 2, handle 0, handler respond".
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
