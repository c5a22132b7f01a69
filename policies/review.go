package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// Odd is something odd in the configuration of a chain, see docs/checks.md.
type Odd struct {
	Code string // "W04"
	At   string // "Caddyfile:12"; "" where no line is to blame
	Text string // what is odd, in one sentence without a full stop
	Do   string // what to do, in the same form
	Note bool   // it is a note for the reader, never a finding
	Said bool   // a note that the log of a load has, too
}

// Odd returns what is odd in the rules of the chain: W04 to W07, W11 and W16 to W18 of
// docs/checks.md, in this order, and each in the order of the configuration. It takes for
// odd only what is certain.
func (c *Chain) Odd() []Odd { return c.OddOn(nil) }

// OddOn is Odd for a site whose REST root is known: it also returns W15, W19, W20, W24 and W25, and W16 only for what
// the site has. A nil site is not known.
func (c *Chain) OddOn(site *Installed) []Odd {
	var odd []Odd
	for i := range c.links {
		if access, ok := c.links[i].policy.(*Access); ok {
			odd = slices.Concat(access.odd(), access.oddPlugins(site, c.site.Platform))
		}
	}
	if site != nil {
		odd = append(odd, c.absent(site)...)
		odd = append(odd, c.oddCredential(site)...)
		odd = append(odd, c.Narrow(site.index)...)
	}
	odd = append(odd, c.oddAbilities(site)...)
	odd = append(odd, c.oddRoutes()...)
	odd = append(odd, c.oddSignatures()...)
	odd = append(odd, c.observed()...)
	slices.SortStableFunc(odd, func(a, b Odd) int { return strings.Compare(a.Code, b.Code) })
	return odd
}

// oddSignatures returns W07: the signatures that no rule names.
func (c *Chain) oddSignatures() (odd []Odd) {
	var named []*Signature
	for i := range c.links {
		switch p := c.links[i].policy.(type) {
		case *Access:
			for j := range p.Rules {
				named = append(named, p.Rules[j].signatures...)
			}
		case *Signatures: // behind access in the catalog
			for _, s := range p.Signatures {
				if !slices.Contains(named, s) {
					odd = append(odd, Odd{
						Code: "W07", At: s.At,
						Text: fmt.Sprintf("No rule names the signature %s, so that it guards nothing", s.Name),
						Do:   fmt.Sprintf("write a rule allow signed %s for its route, or remove it", s.Name),
					})
				}
			}
		}
	}
	return odd
}

// observed returns W11: the directive, or a policy, only observes.
func (c *Chain) observed() (odd []Odd) {
	const goodCalls = " once the log shows no good call among them"
	if c.mode == Observe {
		odd = append(odd, Odd{
			Code: "W11", Note: true, Do: "set mode enforce" + goodCalls,
			Text: "mode observe is in force, so that refusals are counted and logged, but nothing is refused",
		})
	}
	for i := range c.links {
		if l := &c.links[i]; l.settings.Mode == Observe {
			odd = append(odd, Odd{
				Code: "W11", At: l.settings.At, Note: true, Do: "remove its mode" + goodCalls,
				Text: fmt.Sprintf("the policy %s only observes, so that its refusals are counted and logged, but not carried out", l.name),
			})
		}
	}
	return odd
}

// oddRoutes returns W06: the routes that can be no REST routes.
func (c *Chain) oddRoutes() (odd []Odd) {
	check := func(at, line string, routes ...call.Pattern) {
		for _, route := range routes {
			if why := notREST(route); why != "" {
				odd = append(odd, Odd{
					Code: "W06", At: at,
					Text: fmt.Sprintf("%s names %s, which can be no REST route, since %s", line, route, why),
					Do:   "name a route as the REST index has it, without the prefix, or remove it",
				})
			}
		}
	}
	for i := range c.links {
		if p, ok := c.links[i].policy.(router); ok {
			p.eachRoute(check)
		}
	}
	return odd
}

// directories are what the platforms have beside REST (docs/platform I.1; docs/interface 1),
// as first segments.
var directories = []string{
	"wp-admin", "wp-content", "wp-includes", "wp-login", "wp-cron", "wp-signup", "wp-activate", "wp-trackback",
	"cms-admin", "cms-content", "cms-includes", "cms-login", "cms-cron", "cms-signup", "cms-activate", "cms-trackback",
}

// notREST says why a pattern can be no REST route, or "".
func notREST(p call.Pattern) string {
	segments, _ := p.Segments()
	for i, s := range segments {
		switch {
		case strings.HasSuffix(s, ".php") && s[0] != ':':
			return s + " is a script"
		case i == 0 && slices.Contains(directories, s):
			return "/" + s + " is a part of the platform beside REST, which RestWarden does not guard"
		}
	}
	return ""
}
