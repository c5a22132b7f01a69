package plugins

import (
	"slices"
	"strings"
)

// Found is what the namespaces and routes of a REST root tell.
type Found struct {
	// Plugins are the entries that seem to be there, by a namespace that no other entry has,
	// or by routes that only they have.
	Plugins []*Plugin
	// Unknown are the namespaces that are of no plugin which was found, nor of the core or the
	// shop, in the order given.
	Unknown []string
}

// Find tells which plugins a site has. The namespaces and routes are those that its REST
// root lists; upper and lower case are the same. A plugin without a namespace of its own is
// not found.
func Find(namespaces, routes []string) Found {
	var found Found
	for _, p := range All() {
		if p.in(namespaces, routes) {
			found.Plugins = append(found.Plugins, p)
		}
	}
	known := base()
	for _, ns := range namespaces {
		has := func(bundled bool) func(*Plugin) bool {
			return func(p *Plugin) bool { return p.registers(ns, bundled) }
		}
		if !slices.ContainsFunc(known, has(false)) && !slices.ContainsFunc(found.Plugins, has(true)) {
			found.Unknown = append(found.Unknown, ns)
		}
	}
	return found
}

// base are the entries of the core and the shop. Their namespaces are known on each site, also
// where nothing proves that they are there: others register routes in "wp/v2" and "wc/v3". What
// their libraries register is not.
func base() []*Plugin {
	return slices.DeleteFunc(slices.Clone(All()), func(p *Plugin) bool { return p.Slug != "wordpress" && p.Slug != "woocommerce" })
}

func (p *Plugin) in(namespaces, routes []string) bool {
	for _, own := range p.Namespaces {
		if !own.Shared && slices.ContainsFunc(namespaces, func(ns string) bool { return strings.EqualFold(ns, own.Name) }) {
			return true
		}
	}
	return slices.ContainsFunc(p.Detect, func(below string) bool {
		return slices.ContainsFunc(routes, func(route string) bool { return isBelow(strings.ToLower(route), below) })
	})
}

// registers tells whether the namespace is one of the plugin, or, with bundled, of a library in
// it.
func (p *Plugin) registers(namespace string, bundled bool) bool {
	return slices.ContainsFunc(p.Namespaces, func(own Namespace) bool {
		return strings.EqualFold(own.Name, namespace) && (bundled || !own.Bundled)
	})
}

func isBelow(route, base string) bool {
	rest, ok := strings.CutPrefix(route, base)
	return ok && (rest == "" || rest[0] == '/')
}
