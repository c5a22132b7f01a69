package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/plugins"
)

// oddPlugins returns W16, the rules by which anyone may write to what the catalogue calls
// risky and nobody needs, and W17, the lines for plugins that change nothing. W15 says it of a
// plugin that the site does not have.
func (p *Access) oddPlugins(site *Installed, platform call.Platform) (odd []Odd) {
	for i := range p.Rules {
		if o, is := p.opensRisk(i, site); is {
			odd = append(odd, o)
		}
	}
	for i := range p.Plugins {
		l := &p.Plugins[i]
		if plugin, err := plugins.ByName(l.Plugin); err != nil || site != nil && site.lacksPlugin(plugin, platform) {
			continue
		}
		if text := l.nothing(); text != "" {
			odd = append(odd, Odd{Code: "W17", At: l.At, Text: text, Do: "the line may stay", Note: true, Said: true})
		}
	}
	return odd
}

// opensRisk returns W16 for rule i. With a site, it is about what the site has.
func (p *Access) opensRisk(i int, site *Installed) (o Odd, is bool) {
	rule := &p.Rules[i]
	if rule.who != whoAnyone || rule.From != "" {
		return Odd{}, false
	}
	var open []risk
	for _, plugin := range plugins.All() {
		for j := range plugin.Risky {
			if method, is := p.lets(i, plugin, &plugin.Risky[j]); is && plugin.Risky[j].Scope == "" {
				open = append(open, risk{plugin, &plugin.Risky[j], method})
			}
		}
	}
	if open = site.risks(open); len(open) == 0 {
		return Odd{}, false
	}
	text := fmt.Sprintf("%s %s of %s (%s)", open[0].method, open[0].row.Route, open[0].plugin.Slug, reason(open[0].row))
	if n := len(open) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return Odd{Code: "W16", At: rule.At, Text: fmt.Sprintf("By %s anyone may write to %s", rule, text), Do: instead(open)}, true
}

// instead says what to write in place of a rule that opens risks: the lines of their plugins
// that visitors and others without a login need.
func instead(open []risk) string {
	var needed []string
	for _, r := range open {
		if slices.ContainsFunc(plugins.DefaultGroups, r.plugin.Serves) && !slices.Contains(needed, r.plugin.Slug) {
			needed = append(needed, r.plugin.Slug)
		}
	}
	switch {
	case len(needed) == 0:
		return "remove the line, since the catalogue knows no caller without a login who needs it"
	case len(needed) > 3:
		return "name the plugins of your site in place of it, as in allow plugin " + needed[0]
	}
	return "write allow plugin " + strings.Join(needed, " ") + " in place of it"
}

// risk is a risky row of a plugin with a method that writes.
type risk struct {
	plugin *plugins.Plugin
	row    *plugins.Risk
	method string
}

func reason(r *plugins.Risk) string {
	if len(r.CVE) > 0 {
		return r.CVE[0].ID
	}
	return strings.TrimSuffix(strings.ToLower(r.Why[:1])+r.Why[1:], ".")
}

// lets tells whether rule i lets a caller without a login write to a risky route: a write
// method of it that no plugin needs. It judges one call for the route.
func (p *Access) lets(i int, plugin *plugins.Plugin, risk *plugins.Risk) (method string, is bool) {
	key := exampleKey(call.MustPattern(risk.Route))
	for _, method := range risk.Methods {
		if method == "GET" || plugin.Needs(method, risk.Route) {
			continue
		}
		c := callOf(method, key)
		r := &Request{Call: c}
		guard, own := p.decideWith(r, p.ownRule(r))
		if guard.Rule == nil && own.Rule == &p.Rules[i] {
			return method, true
		}
	}
	return "", false
}

// exampleKey is a key that a pattern matches.
func exampleKey(p call.Pattern) string {
	segments, _ := p.Segments()
	var key strings.Builder
	for _, s := range segments {
		if s == "*" || s[0] == ':' {
			s = "x"
		}
		key.WriteString("/" + s)
	}
	return key.String()
}
