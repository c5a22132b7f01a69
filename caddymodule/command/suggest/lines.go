package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// lines returns the lines: plugins by name, then routes.
func (j *judge) lines() []Line {
	all := []Line{}
	slices.SortFunc(j.plugins, func(a, b *opened) int { return strings.Compare(a.plugin.Slug, b.plugin.Slug) })
	for _, o := range j.plugins {
		all = append(all, j.pluginLines(o)...)
	}
	// A route without parameters goes first, so that a wider one does not decide in its place.
	slices.SortStableFunc(j.anyone, func(a, b Line) int {
		return cmp.Compare(parameters(a.Calls[0].Route), parameters(b.Calls[0].Route))
	})
	return append(all, j.anyone...)
}

func parameters(route string) int { return strings.Count(route, "/:") + strings.Count(route, "/*") }

// opens returns the line that opens calls which are left out, or "".
func (j *judge) opens(lines []Line, calls *Calls) string {
	forms := index.Forms(calls.Route)
	if j.facts.GuardedBy(calls.Method, forms) != "" {
		return ""
	}
	for _, o := range j.plugins {
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Plugin == o.plugin.Slug })
		denied := i+1 < len(lines) && lines[i+1].Plugin == o.plugin.Slug && j.closes(o.plugin, calls.Method, forms)
		if o.opens(j.facts, calls.Method, forms) && !denied {
			return lines[i].Line
		}
	}
	for i := range lines {
		words := strings.Fields(lines[i].Line)
		if words[1] != "anyone" || words[2] != calls.Method {
			continue
		}
		if p, err := routes.ParsePattern(words[3]); err == nil && covers(p, forms) {
			return lines[i].Line
		}
	}
	return ""
}

// closes tells whether a line deny closes calls of a plugin for certain.
func (j *judge) closes(p *plugins.Plugin, method string, forms []routes.Pattern) bool {
	options, err := access.ExpandLine(p.DenyLine(), j.facts.Platform)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(options, func(o policy.Option) bool {
		return o.Name == "deny" && o.Args[0] != "plugin" && slices.Contains(strings.Split(o.Args[0], ","), method) &&
			covers(routes.MustPattern(o.Args[1]), forms) && !slices.ContainsFunc(o.Block[0].Args, func(except string) bool {
			return slices.ContainsFunc(forms, routes.MustPattern(except).Meets)
		})
	})
}
