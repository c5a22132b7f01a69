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
	allow := p.AllowLine()
	if slices.ContainsFunc(DefaultGroups, p.Serves) {
		lines = append(lines, Line{allow, "lets callers without a login make the calls that it needs"})
		if key := strings.ToUpper(strings.ReplaceAll(p.Slug, "-", "_")) + "_KEY"; p.signed() {
			lines = append(lines, Line{allow + " {\n\tkey {env." + key + "}\n}", "the same; calls that the provider signs need a good signature"})
		}
	}
	for _, g := range Groups[len(DefaultGroups):] {
		if p.Serves(g) {
			lines = append(lines, Line{p.AllowLine(g), "what it needs for " + string(g) + ", and nothing else"})
		}
	}
	if slices.ContainsFunc(p.Risky, p.closes) {
		lines = append(lines, Line{p.DenyLine(), "closes what is risky to callers without a login"})
	}
	return lines
}

// AllowLine returns the line that opens what groups need of the plugin; without a group what all
// that need no word do. It names the groups where a line without a word would open more, or
// other things.
func (p *Plugin) AllowLine(groups ...Group) string {
	plain := !slices.ContainsFunc(groups, func(g Group) bool { return !g.Default() }) &&
		!slices.ContainsFunc(DefaultGroups, func(g Group) bool { return p.Serves(g) && !slices.Contains(groups, g) })
	if len(groups) == 0 || plain {
		return AllowText(p.Slug)
	}
	var named []Group
	for _, g := range Groups {
		if slices.Contains(groups, g) {
			named = append(named, g)
		}
	}
	return AllowText(p.Slug, named...)
}

// DenyLine returns the line that closes what is risky of the plugin.
func (p *Plugin) DenyLine() string { return DenyText(p.Slug) }

// AllowText writes a line that opens a plugin to groups, or to those that need no word.
func AllowText(slug string, groups ...Group) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = string(g)
	}
	if len(names) == 0 {
		return "allow plugin " + slug
	}
	return "allow plugin " + slug + " for " + strings.Join(names, ",")
}

// DenyText writes a line that closes what is risky of a plugin.
func DenyText(slug string) string { return "deny plugin " + slug }

// Default tells whether a line opens for the group without a word.
func (g Group) Default() bool { return slices.Contains(DefaultGroups, g) }

// Reason says why a row is risky: its published holes, with the versions that have them, then
// what the catalogue says.
func (r *Risk) Reason() string {
	if len(r.CVE) == 0 {
		return r.Why
	}
	return r.Holes() + ": " + r.Why
}

// Holes names the published holes of the row, with the versions that have them, or is "".
func (r *Risk) Holes() string {
	var ids []string
	for _, c := range r.CVE {
		ids = append(ids, c.ID+" ("+c.Versions+")")
	}
	return strings.Join(ids, ", ")
}

// Serves tells whether the plugin needs anything for a group.
func (p *Plugin) Serves(g Group) bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Caller.Group() == g })
}

func (p *Plugin) signed() bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Signature != nil && n.Caller.Group().Default() })
}

// closes tells whether a risky row has a method that no needed row has for the same route.
func (p *Plugin) closes(r Risk) bool {
	return slices.ContainsFunc(r.Methods, func(method string) bool { return !p.Needs(method, r.Route) })
}

// Needs tells whether a needed row has exactly this route, with this method.
func (p *Plugin) Needs(method, route string) bool {
	return slices.ContainsFunc(p.Needed, func(n Need) bool { return n.Route == route && slices.Contains(n.Methods, method) })
}
