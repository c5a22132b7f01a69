package dryrun

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/plugins"
)

// pluginCandidates returns the line `allow plugin` for a call that exactly one plugin of the
// catalogue needs without a login; else none.
func (c *Config) pluginCandidates(method string, res *Result) (all []candidate) {
	platform := c.guardAt(res.At).platform
	for _, p := range plugins.All() {
		for _, line := range p.Lines() {
			if try, needs := opening(line.Text, platform, method, res.Reading.Route); needs {
				try.before = ruleBefore(res)
				all = append(all, try)
				break
			}
		}
	}
	if len(all) != 1 {
		return nil
	}
	return all
}

// guardAt is the directive at a place.
func (c *Config) guardAt(at string) *guard {
	for _, g := range c.guards {
		if g.at == at {
			return g
		}
	}
	return noGuard
}

// opening expands a line of the catalogue. needs tells whether one of its rules is for a call.
func opening(line string, platform call.Platform, method, route string) (try candidate, needs bool) {
	words := strings.Fields(line)
	if words[0] != "allow" || strings.Contains(line, "{") {
		return candidate{}, false
	}
	options, err := policies.ExpandPlugins(policies.Option{Name: words[0], Args: words[1:]}, platform)
	if err != nil {
		return candidate{}, false
	}
	try.line = line
	for _, o := range options {
		if len(o.Args) != 3 || o.Args[0] == "plugin" {
			continue // the line itself
		}
		rule := map[string]any{"methods": anys(strings.Split(o.Args[1], ",")), "routes": []any{o.Args[2]}, "from": o.From}
		switch o.Name {
		case "allow":
			rule["allow"] = o.Args[0]
			try.rules = append(try.rules, rule)
			needs = needs || slices.Contains(strings.Split(o.Args[1], ","), method) && matches(o.Args[2], route)
		case "rate_limit":
			rule["rate"] = o.Args[0]
			try.limits = append(try.limits, rule)
		}
	}
	return try, needs
}

// matches tells whether a pattern matches a route as called.
func matches(pattern, route string) bool {
	p, err := call.ParsePattern(pattern)
	return err == nil && p.Match(call.Key(route))
}
