package access

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// expansion makes the options of one plugin of a line.
type expansion struct {
	line     *pluginLine
	plugin   *plugins.Plugin
	platform platforms.Platform
	options  []policy.Option
}

func (e *expansion) add(name string, args ...string) *policy.Option {
	o := policy.Option{Name: name, Args: args, From: e.plugin.Slug, Pos: e.line.Pos, Imported: e.line.Imported}
	e.options = append(e.options, o)
	return &e.options[len(e.options)-1]
}

// rewrites adds the aliases of the plugin: a line that names it, of either kind, says that it is
// there, and that its rules make calls of their paths.
func (e *expansion) rewrites() {
	for _, r := range e.plugin.Rewrites {
		e.add("alias", r.Pattern, e.route(r.Route))
	}
}

func (e *expansion) allow() {
	signature := signatureOf(e.plugin, e.line.groups)
	if len(e.line.keys) > 0 {
		o := e.add("signature", e.plugin.Slug)
		o.Block = []policy.Option{e.inner("scheme", signature.Scheme), e.inner("key", e.line.keys...)}
		if signature.Tolerance != "" {
			o.Block = append(o.Block, e.inner("tolerance", signature.Tolerance))
		}
	}
	for i := range e.plugin.Needed {
		n := &e.plugin.Needed[i]
		if !slices.Contains(e.line.groups, n.Caller.Group()) {
			continue
		}
		methods, route := strings.Join(n.Methods, ","), e.route(n.Route)
		switch {
		case n.Signature != nil && len(e.line.keys) > 0:
			e.add("allow", "signed", e.plugin.Slug, methods, route)
		default:
			e.add("allow", "anyone", methods, route)
		}
		if n.Limit != "" {
			e.add("rate_limit", n.Limit, methods, route)
		}
	}
}

func (e *expansion) inner(name string, args ...string) policy.Option {
	return policy.Option{Name: name, Args: args, Pos: e.line.Pos, Imported: e.line.Imported}
}

// deny adds guards for each risky row: one for the methods that spare the same needed routes.
func (e *expansion) deny() {
	for i := range e.plugin.Risky {
		risk, last := &e.plugin.Risky[i], (*policy.Option)(nil)
		for _, method := range risk.Methods {
			spared, needed := e.spared(method, risk.Route)
			switch {
			case needed:
			case last != nil && slices.Equal(last.Block[0].Args, spared):
				last.Args[0] += "," + method
			default:
				last = e.add("deny", method, e.route(risk.Route))
				last.Block = []policy.Option{e.inner("except", spared...)}
			}
		}
	}
}

// spared returns the needed routes of a method that are narrower than a risky one. needed
// tells that the risky one itself is needed.
func (e *expansion) spared(method, risky string) (narrower []string, needed bool) {
	for i := range e.plugin.Needed {
		n := &e.plugin.Needed[i]
		switch {
		case !slices.Contains(n.Methods, method):
		case n.Route == risky:
			return nil, true
		case routes.MustPattern(risky).Covers(routes.MustPattern(n.Route)):
			narrower = append(narrower, e.route(n.Route))
		}
	}
	return narrower, false
}

func (e *expansion) route(route string) string { return RouteOn(e.platform, route) }

// RouteOn returns a route of the catalogue as a platform writes it: the catalogue has the
// names of WordPress.
func RouteOn(to platforms.Platform, route string) string {
	from, _ := platforms.ByName("wordpress")
	if to.Name == from.Name {
		return route
	}
	names := [][2]string{{from.Checkout, to.Checkout}, {from.Core, to.Core}, {from.Analytics, to.Analytics}, {from.Abilities, to.Abilities}}
	for i := range from.Shop {
		names = append(names, [2]string{from.Shop[i], to.Shop[i]})
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(route, "/"+name[0]); ok && (rest == "" || rest[0] == '/') {
			return "/" + name[1] + rest
		}
	}
	return route
}
