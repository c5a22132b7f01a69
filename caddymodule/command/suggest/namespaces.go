package suggest

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/plugins"
)

// readable are the collections of the core that pages of themes read. A line for others would
// open more than visitors need.
var readable = []string{"posts", "pages", "media", "categories", "tags", "taxonomies", "types", "search"}

// private are the collections of the core for which the report has no line at all, and
// everything below them.
var private = []string{
	"users", "settings", "plugins", "themes", "templates", "template-parts", "global-styles", "sidebars", "widgets", "widget-types",
	"block-directory", "font-families", "font-collections", "menus", "menu-items", "menu-locations", "navigation",
}

// ofCore tells whether a route is of the platform's own.
func (f *facts) ofCore(route string) bool {
	site, _, _ := strings.Cut(f.Platform.Core, "/")
	return below(route, site) || below(route, "batch") || below(route, "oembed") || strings.HasPrefix(strings.ToLower(route), "/"+site+"-")
}

// ofShop tells whether a route is of the shop's interface for keys and staff. Plugins of the
// shop register routes in the same namespaces.
func (f *facts) ofShop(route string) bool {
	shop, _, _ := strings.Cut(f.Platform.Shop[0], "/")
	return below(route, shop) && !below(route, f.Platform.Checkout) || below(route, shop+"-admin") ||
		below(route, f.Platform.Analytics) || below(route, f.Platform.MCP)
}

// pagesRead tells whether pages of themes are known to make a call of the core: they read a
// collection, or one record of it.
func (f *facts) pagesRead(method, route string) bool {
	rest, core := strings.CutPrefix(strings.ToLower(route), "/"+f.Platform.Core+"/")
	collection, record, below := strings.Cut(rest, "/")
	one := strings.HasPrefix(record, ":") && !strings.Contains(record, "/")
	return method == "GET" && core && slices.Contains(readable, collection) && (!below || one)
}

// mayName tells whether the report may name a line that opens a route of the core.
func (f *facts) mayName(route string) bool {
	rest, core := strings.CutPrefix(strings.ToLower(route), "/"+f.Platform.Core+"/")
	collection, _, _ := strings.Cut(rest, "/")
	return core && !slices.Contains(private, collection) && !strings.Contains(route, "application-passwords") && !strings.HasPrefix(rest, ":")
}

// owner returns the plugin that alone registers routes in the namespace of a route, or of which
// the catalogue has the route with another method, or nil.
func (f *facts) owner(route string, forms []routes.Pattern) *plugins.Plugin {
	for _, p := range plugins.All() {
		if slices.ContainsFunc(p.Namespaces, func(ns plugins.Namespace) bool {
			return !ns.Shared && below(route, strings.ToLower(strings.TrimPrefix(access.RouteOn(f.Platform, "/"+ns.Name), "/")))
		}) {
			return p
		}
	}
	if i := slices.IndexFunc(f.Needs, func(n openings.NeededCall) bool { return covers(n.Pattern, forms) }); i >= 0 {
		return f.Needs[i].Plugin
	}
	if i := slices.IndexFunc(f.Risks, func(r openings.RiskyCall) bool { return covers(r.Pattern, forms) }); i >= 0 {
		return f.Risks[i].Plugin
	}
	return nil
}

func below(route, namespace string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(route), "/"+namespace)
	return ok && (rest == "" || rest[0] == '/')
}
