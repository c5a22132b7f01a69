package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/plugins"
)

// lines returns the lines: plugins by name, then routes.
func (j *judge) lines() []Line {
	all := []Line{}
	slices.SortFunc(j.plugins, func(a, b *opened) int { return strings.Compare(a.plugin.Slug, b.plugin.Slug) })
	for _, o := range j.plugins {
		all = append(all, j.pluginLines(o)...)
	}
	for i := range j.anyone {
		j.anyone[i].Line = "allow anyone " + methodsOf(j.anyone[i].Calls) + " " + j.anyone[i].Calls[0].Route
	}
	// A route without parameters goes first, so that a wider one does not decide in its place.
	slices.SortStableFunc(j.anyone, func(a, b Line) int {
		return cmp.Compare(parameters(a.Calls[0].Route), parameters(b.Calls[0].Route))
	})
	return append(all, j.anyone...)
}

func parameters(route string) int { return strings.Count(route, "/:") + strings.Count(route, "/*") }

// groupsOf returns the groups that the line of a plugin names, and none where the default will
// do.
func (o *opened) groupsOf() (named []plugins.Group) {
	if !slices.ContainsFunc(o.groups, func(g plugins.Group) bool { return !slices.Contains(plugins.DefaultGroups, g) }) {
		return nil
	}
	for _, g := range plugins.Groups {
		if slices.Contains(o.groups, g) {
			named = append(named, g)
		}
	}
	return named
}

func (j *judge) pluginLines(o *opened) []Line {
	p := o.plugin
	l := Line{Plugin: p.Slug, Line: "allow plugin " + p.Slug, About: []string{p.Name + "."}, Calls: o.calls}
	if named := o.groupsOf(); named != nil {
		var words []string
		for _, g := range named {
			words = append(words, string(g))
		}
		l.Line += " for " + strings.Join(words, ",")
	}
	if o.signed != nil {
		l.About = append(l.About, fmt.Sprintf("The provider signs its calls (%s): with its secret in a block, key {env.…}, only signed calls pass.", o.signed.Scheme))
	}
	if o.login {
		l.About = append(l.About, "The line also makes the credentials of the plugin's service count.")
	}
	lines := []Line{l}
	deny, wanted := j.denies(o)
	switch {
	case deny && !wanted:
		lines = append(lines, Line{
			Plugin: p.Slug, Line: "deny plugin " + p.Slug, Calls: []Calls{},
			About: []string{"What the line before opens has risky routes in it, and some were called. This line closes them."},
		})
	case deny:
		lines[0].About = append(lines[0].About, "It opens risky routes that pages of the site call, too; see what is left out. deny plugin "+p.Slug+" would close them.")
	}
	return lines
}

// denies tells whether the line of a plugin opens risky rows that were called and that a line
// deny would close, and whether pages of the site want one of them.
func (j *judge) denies(o *opened) (deny, wanted bool) {
	for _, r := range j.risks {
		route := []call.Pattern{r.pattern}
		for _, method := range r.risk.Methods {
			if r.plugin == o.plugin && o.opens(j.facts, method, route) && j.closes(o.plugin, method, route) {
				deny, wanted = true, wanted || r.wanted
			}
		}
	}
	return deny, wanted
}

// opens tells whether the line of a plugin opens a method of a route.
func (o *opened) opens(f *facts, method string, forms []call.Pattern) bool {
	groups := o.groupsOf()
	if groups == nil {
		groups = plugins.DefaultGroups
	}
	return slices.ContainsFunc(f.needs, func(n needed) bool {
		return n.plugin == o.plugin && slices.Contains(groups, n.need.Caller.Group()) && n.need.Credentials == "" &&
			slices.Contains(n.need.Methods, method) && covers(n.pattern, forms)
	})
}

// opens returns the line that opens calls which are left out, or "".
func (j *judge) opens(lines []Line, calls *Calls) string {
	forms := formsOf(calls.Route)
	if j.facts.guardedBy(calls.Method, forms) != "" {
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
		if words[1] != "anyone" || !slices.Contains(strings.Split(words[2], ","), calls.Method) {
			continue
		}
		if p, err := call.ParsePattern(words[3]); err == nil && covers(p, forms) {
			return lines[i].Line
		}
	}
	return ""
}

// closes tells whether a line deny closes calls of a plugin for certain.
func (j *judge) closes(p *plugins.Plugin, method string, forms []call.Pattern) bool {
	line := policies.Option{Name: "deny", Args: []string{"plugin", p.Slug}}
	options, err := policies.ExpandPlugins(line, j.facts.platform)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(options, func(o policies.Option) bool {
		return o.Name == "deny" && o.Args[0] != "plugin" && slices.Contains(strings.Split(o.Args[0], ","), method) &&
			covers(call.MustPattern(o.Args[1]), forms) && !slices.ContainsFunc(o.Block[0].Args, func(except string) bool {
			return slices.ContainsFunc(forms, call.MustPattern(except).Meets)
		})
	})
}
