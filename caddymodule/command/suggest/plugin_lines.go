package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/plugins"
)

// line returns the line that opens what the groups need that were seen.
func (o *opened) line() string { return o.plugin.AllowLine(o.groups...) }

// unseen returns the default groups of which no good call was seen.
func (o *opened) unseen() (groups []plugins.Group) {
	for _, g := range plugins.DefaultGroups {
		if o.plugin.Serves(g) && !slices.Contains(o.groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}

// closed names the default groups that the line leaves closed, with a route of each, or is "".
// A log of a week may have no refund and no dispute.
func (j *judge) closed(o *opened) string {
	var all []string
	for _, g := range o.unseen() {
		if call := j.closedCall(o, g); call != "" {
			all = append(all, fmt.Sprintf("%s (%s)", g, call))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("Not seen, or by too few clients, and closed where no other line opens it: %s. The line %q opens that, too.", strings.Join(all, ", "), o.plugin.AllowLine())
}

// closedCall returns the first call of a group that the line of a plugin does not open, or "".
func (j *judge) closedCall(o *opened, g plugins.Group) string {
	for _, n := range j.facts.Needs {
		if n.Plugin != o.plugin || n.Caller.Group() != g {
			continue
		}
		for _, method := range n.Methods {
			if !o.opens(j.facts, method, []routes.Pattern{n.Pattern}) {
				return method + " " + n.Pattern.String()
			}
		}
	}
	return ""
}

// pluginLines returns the line of a plugin, and the one that closes what is risky of it.
func (j *judge) pluginLines(o *opened) []Line {
	l := Line{Plugin: o.plugin.Slug, Line: o.line(), About: []string{o.plugin.Name + "."}, Calls: o.calls}
	if o.few {
		l.About = append(l.About, j.askFew(o))
	}
	if signature := o.signature(); signature != nil {
		l.About = append(l.About, fmt.Sprintf("The provider signs its calls (%s). In place of the line, this block with its secret lets only signed calls pass:", signature.Scheme),
			"  "+l.Line+" {", "      key {env."+strings.ToUpper(strings.ReplaceAll(o.plugin.Slug, "-", "_"))+"_KEY}", "  }")
	}
	if closed := j.closed(o); closed != "" {
		l.About = append(l.About, closed)
	}
	closed, open := j.risksOf(o)
	if holes := holesOf(open); len(open) > 0 && holes != "" {
		l.About = append(l.About, "It opens routes of published holes that the plugin needs: "+holes+". Is the plugin up to date?")
	}
	if len(closed) == 0 {
		return []Line{l}
	}
	about := "What the line before opens has risky routes in it that nobody needs. This line closes them"
	if holes := holesOf(closed); holes != "" {
		about += ", with published holes: " + holes
	}
	return []Line{l, {Plugin: o.plugin.Slug, Line: o.plugin.DenyLine(), Calls: []Calls{}, About: []string{about + "."}}}
}

// askFew asks about calls that came from few clients.
func (j *judge) askFew(o *opened) string {
	least := j.options.MinClients
	for i := range o.calls {
		least = min(least, o.calls[i].Seen.Clients)
	}
	return fmt.Sprintf("Only %s made some of these calls, and anybody can make them: is this plugin in use, and its service?", count(int64(least), "client"))
}

// signature returns how calls are signed that the line of a plugin opens, or nil.
func (o *opened) signature() *plugins.Signature {
	i := slices.IndexFunc(o.plugin.Needed, func(n plugins.Need) bool { return n.Signature != nil && slices.Contains(o.groups, n.Caller.Group()) })
	if i < 0 {
		return nil
	}
	return o.plugin.Needed[i].Signature
}

// risksOf returns the risky rows of a plugin that its line opens, at least in part, whether or
// not they were called: those that a line deny closes, and those that it does not close, since
// the plugin needs them.
func (j *judge) risksOf(o *opened) (closed, open []*plugins.Risk) {
	for _, r := range j.facts.Risks {
		if r.Plugin != o.plugin {
			continue
		}
		for _, method := range r.Methods {
			switch {
			case !o.meets(j.facts, method, r.Pattern):
			case o.plugin.Needs(method, r.Route):
				open = append(open, r.Risk)
			default:
				closed = append(closed, r.Risk)
			}
		}
	}
	return closed, open
}

// holesOf names the published holes of risky rows, each once.
func holesOf(risks []*plugins.Risk) string {
	var all []string
	for _, r := range risks {
		if text := r.Holes(); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// meets tells whether the line of a plugin opens a method of a route, at least in part.
func (o *opened) meets(f *facts, method string, route routes.Pattern) bool {
	return slices.ContainsFunc(f.Needs, func(n openings.NeededCall) bool { return o.allows(&n, method) && n.Pattern.Meets(route) })
}

// opens tells whether the line of a plugin opens a method of a route.
func (o *opened) opens(f *facts, method string, forms []routes.Pattern) bool {
	return slices.ContainsFunc(f.Needs, func(n openings.NeededCall) bool { return o.allows(&n, method) && covers(n.Pattern, forms) })
}

// allows tells whether the line of a plugin makes a rule of a row of the catalogue.
func (o *opened) allows(n *openings.NeededCall, method string) bool {
	return n.Plugin == o.plugin && slices.Contains(o.groups, n.Caller.Group()) && slices.Contains(n.Methods, method)
}
