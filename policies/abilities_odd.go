package policies

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
)

// oddAbilities returns W18 to W20. A nil site is not known.
func (c *Chain) oddAbilities(site *Installed) (odd []Odd) {
	guarded := false
	for i := range c.links {
		if p, ok := c.links[i].policy.(*Abilities); ok {
			guarded = guarded || p.guards()
			odd = append(odd, p.hidden()...)
			if site != nil {
				odd = append(odd, p.oddDoors(site, c.links[i].settings.At)...)
			}
		}
	}
	if site != nil && !guarded {
		odd = append(odd, c.openDoors(site)...)
	}
	return odd
}

// hidden returns W18: the rules that never decide, since one before them fits all that they
// fit. Who is calling makes no difference: the first rule that fits decides for everybody.
func (p *Abilities) hidden() (odd []Odd) {
	for i := range p.Rules {
		r := &p.Rules[i]
		if j := slices.IndexFunc(p.Rules[:i], func(before AbilityRule) bool { return before.hides(r, p.Rules[i+1:]) }); j >= 0 {
			odd = append(odd, Odd{
				Code: "W18", At: r.At, Do: "move it before that one",
				Text: fmt.Sprintf("%s never decides, since %s (%s) fits all that it fits", r, &p.Rules[j], p.Rules[j].At),
			})
		}
	}
	return odd
}

// hides tells whether r fits all that the rule other behind it fits. Behind other come the
// rules rest.
func (r *AbilityRule) hides(other *AbilityRule, rest []AbilityRule) bool {
	// In the pattern that is covered, * is a letter that only another * fits.
	covers := glob(r.Pattern, other.Pattern)
	switch other.Kind {
	case KindResource:
		return r.Kind == KindResource && covers
	case KindTool:
		if r.Kind == KindTool {
			return covers && (r.Deny || !other.Deny)
		}
		return r.Kind == KindAbility && r.Deny && glob(mcp.Dashed(r.Pattern), other.Pattern)
	case KindReadonly:
		return r.judgesIDs() && covers
	default:
	}
	// A rule that denies also fits tools that are no listed ability. Behind an allow they are
	// denied anyway, unless a rule for tools comes.
	tools := other.Deny && !r.Deny && slices.ContainsFunc(rest, func(next AbilityRule) bool { return next.Kind == KindTool && !next.Deny })
	return r.Kind == KindAbility && covers && !tools
}

// openDoors returns W19: servers of tools to which any user may send messages that no rule
// judges.
func (c *Chain) openDoors(site *Installed) []Odd {
	r, err := c.Reacher()
	if err != nil {
		return nil
	}
	var open []string
	for _, route := range site.tools {
		found, err := r.Of(route, []string{http.MethodPost}, []caller.Caller{{Kind: caller.User}})
		if err == nil && found[0][0].All() {
			open = append(open, route.Called())
		}
	}
	if len(open) == 0 {
		return nil
	}
	return []Odd{{
		Code: "W19", Do: "write abilities with allow lines, or close the route",
		Text: fmt.Sprintf("The site has servers of tools for AI agents at %s, and no rule says what agents may run there", strings.Join(open, " and ")),
	}}
}

// oddDoors returns W20: doors that name only routes which the site lists as something else.
func (p *Abilities) oddDoors(site *Installed, at string) (odd []Odd) {
	servers := &Installed{routes: site.tools}
	for _, door := range p.doors {
		listed, serves := site.there([]call.Pattern{door})[0], servers.there([]call.Pattern{door})[0]
		if listed && !serves && !strings.Contains(door.String(), "mcp") {
			odd = append(odd, Odd{
				Code: "W20", At: at, Do: "mend the route, or remove it",
				Text: fmt.Sprintf("doors names %s, which the REST root of the site lists as no server of tools", door),
			})
		}
	}
	return odd
}
