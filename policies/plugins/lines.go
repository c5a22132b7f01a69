package plugins

import (
	"slices"
	"strings"
)

// Line is a line of the Caddyfile for a plugin.
type Line struct {
	Text string `json:"line"` // has several lines where it has a block
	// Does says what the line does, in a sentence without a full stop.
	Does string `json:"does"`
}

// Lines returns the lines that the catalogue has for a plugin: what opens the routes that it
// needs, for the groups that need no word and for each other one, and what closes its risky
// ones. There are none for a plugin that needs nothing and has nothing risky.
func (p *Plugin) Lines() []Line {
	var lines []Line
	allow := "allow plugin " + p.Slug
	if slices.ContainsFunc(DefaultGroups, p.Serves) {
		lines = append(lines, Line{allow, "lets callers without a login make the calls that it needs"})
		if key := strings.ToUpper(strings.ReplaceAll(p.Slug, "-", "_")) + "_KEY"; p.signed() {
			lines = append(lines, Line{allow + " {\n\tkey {env." + key + "}\n}", "the same; calls that the provider signs need a good signature"})
		}
	}
	for _, g := range Groups[len(DefaultGroups):] {
		if p.Serves(g) {
			lines = append(lines, Line{allow + " for " + string(g), "what it needs for " + string(g) + ", and nothing else"})
		}
	}
	if slices.ContainsFunc(p.Risky, func(r Risk) bool { return len(p.only(&r)) > 0 }) {
		lines = append(lines, Line{"deny plugin " + p.Slug, "closes what is risky to callers without a login"})
	}
	return lines
}

// Serves tells whether the plugin needs anything for a group.
func (p *Plugin) Serves(g Group) bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Caller.Group() == g })
}

func (p *Plugin) signed() bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Signature != nil && slices.Contains(DefaultGroups, n.Caller.Group()) })
}

// only returns the methods of a risky row that no needed row has for the same route.
func (p *Plugin) only(r *Risk) (methods []string) {
	for _, method := range r.Methods {
		if !p.Needs(method, r.Route) {
			methods = append(methods, method)
		}
	}
	return methods
}

// Needs tells whether a needed row has exactly this route, with this method.
func (p *Plugin) Needs(method, route string) bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Route == route && slices.Contains(n.Methods, method) })
}
