package access

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// oddPlugins returns W16, the rules by which anyone may write to what the catalogue calls
// risky and nobody needs, and W17, the lines for plugins that change nothing. W15 says it of a
// plugin that the site does not have.
func (p *Access) oddPlugins(site *review.Installed, platform platforms.Platform) (odd []review.Odd) {
	for i := range p.Rules {
		if o, is := p.opensRisk(i, site); is {
			odd = append(odd, o)
		}
	}
	for i := range p.Plugins {
		l := &p.Plugins[i]
		if plugin, err := plugins.ByName(l.Plugin); err != nil || site != nil && lacksPlugin(site, plugin, platform) {
			continue
		}
		if text := l.nothing(); text != "" {
			odd = append(odd, review.Odd{Code: "W17", At: l.At, Text: text, Do: "the line may stay", Note: true, Said: true})
		}
	}
	return odd
}

// opensRisk returns W16 for rule i. With a site, it is about what the site has.
func (p *Access) opensRisk(i int, site *review.Installed) (o review.Odd, is bool) {
	rule := &p.Rules[i]
	if rule.Who() != policy.Anyone || rule.Origin() == policy.OriginPlugin {
		return review.Odd{}, false
	}
	var open []risk
	for _, c := range riskyCalls().near(rule.Target().Routes()) {
		if p.lets(i, c) && !slices.ContainsFunc(open, func(r risk) bool { return r.row == c.row }) {
			open = append(open, c.risk)
		}
	}
	if open = risksOn(site, open); len(open) == 0 {
		return review.Odd{}, false
	}
	text := fmt.Sprintf("%s %s of %s (%s)", open[0].method, open[0].row.Route, open[0].plugin.Slug, reason(open[0].row))
	if n := len(open) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return review.Odd{Code: "W16", At: rule.At, Text: fmt.Sprintf("By %s anyone may write to %s", rule, text), Do: instead(open)}, true
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
		return "name the plugins of your site in place of it, as in " + plugins.AllowText(needed[0])
	}
	return "write " + plugins.AllowText(strings.Join(needed, " ")) + " in place of it"
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

// riskyCall is an example of a call that writes to a risky route, by a method that no plugin
// needs there.
type riskyCall struct {
	risk
	call  *call.Call
	place int // in the catalogue
}

// riskTable has the risky calls of the catalogue in its order, and those of each first segment.
type riskTable struct {
	all   []riskyCall
	below map[string][]riskyCall
}

// riskyCalls reads the catalogue once: each directive with rules of its own asks.
var riskyCalls = sync.OnceValue(func() *riskTable {
	t := &riskTable{below: map[string][]riskyCall{}}
	for _, plugin := range plugins.All() {
		for i := range plugin.Risky {
			t.add(plugin, &plugin.Risky[i])
		}
	}
	return t
})

func (t *riskTable) add(plugin *plugins.Plugin, row *plugins.Risk) {
	if row.Scope != "" {
		return
	}
	key := exampleKey(routes.MustPattern(row.Route))
	for _, method := range row.Methods {
		if method != "GET" && !plugin.Needs(method, row.Route) {
			c := riskyCall{risk{plugin, row, method}, review.CallOf(method, key), len(t.all)}
			t.all = append(t.all, c)
			t.below[firstSegment(key)] = append(t.below[firstSegment(key)], c)
		}
	}
}

// near returns the calls that routes may fit, and perhaps others, in the order of the catalogue.
func (t *riskTable) near(routes []routes.Pattern) (calls []riskyCall) {
	var seen []string
	for i := range routes {
		first := firstSegment(routes[i].String())
		switch {
		case first == "" || strings.ContainsAny(first, "*:"):
			return t.all
		case !slices.Contains(seen, first):
			seen = append(seen, first)
			calls = append(calls, t.below[first]...)
		}
	}
	if len(seen) > 1 {
		slices.SortFunc(calls, func(a, b riskyCall) int { return a.place - b.place })
	}
	return calls
}

// firstSegment returns the first segment of a route or pattern, in lower case.
func firstSegment(route string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(route, "/"), "/")
	return strings.ToLower(first)
}

// lets tells whether rule i lets a caller without a login make a call.
func (p *Access) lets(i int, risky riskyCall) bool {
	if _, match := p.Rules[i].Match(risky.call); !match {
		return false
	}
	r := &policy.Request{Call: risky.call}
	guard, own := p.decideWith(r, p.ownRule(r))
	return guard.Rule == nil && own.Rule == &p.Rules[i]
}

// exampleKey is a key that a pattern matches.
func exampleKey(p routes.Pattern) string {
	segments, _ := p.Segments()
	var key strings.Builder
	for _, s := range segments {
		if routes.IsWildcard(s) {
			s = "x"
		}
		key.WriteString("/" + s)
	}
	return key.String()
}
