package abilities

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/review"
)

// Odd implements [review.Reviewer]: W18 and W20.
func (p *Abilities) Odd(about *review.About) []review.Odd {
	odd := p.hidden()
	if about.Site != nil {
		odd = append(odd, p.oddDoors(about.Site, about.Settings.At)...)
	}
	return odd
}

// GuardsTools implements [review.ToolGuard].
func (p *Abilities) GuardsTools() bool { return p.guards() }

// hidden returns W18: the rules that never decide, since one before them fits all that they
// fit. Who is calling makes no difference: the first rule that fits decides for everybody.
func (p *Abilities) hidden() (odd []review.Odd) {
	for i := range p.Rules {
		r := &p.Rules[i]
		if j := slices.IndexFunc(p.Rules[:i], func(before Rule) bool { return before.hides(r, p.Rules[i+1:]) }); j >= 0 {
			odd = append(odd, review.Odd{
				Code: "W18", At: r.At, Do: "move it before that one",
				Text: fmt.Sprintf("%s never decides, since %s (%s) fits all that it fits", r, &p.Rules[j], p.Rules[j].At),
			})
		}
	}
	return odd
}

// hides tells whether r fits all that the rule other behind it fits. Behind other come the
// rules rest.
func (r *Rule) hides(other *Rule, rest []Rule) bool {
	// In the pattern that is covered, * is a letter that only another * fits.
	covers := Glob(r.Pattern, other.Pattern)
	switch other.Kind {
	case KindResource:
		return r.Kind == KindResource && covers
	case KindTool:
		if r.Kind == KindTool {
			return covers && (r.Deny || !other.Deny)
		}
		return r.Kind == KindAbility && r.Deny && Glob(mcp.Dashed(r.Pattern), other.Pattern)
	case KindReadonly:
		return r.judgesIDs() && covers
	default:
	}
	// A rule that denies also fits tools that are no listed ability. Behind an allow they are
	// denied anyway, unless a rule for tools comes.
	tools := other.Deny && !r.Deny && slices.ContainsFunc(rest, func(next Rule) bool { return next.Kind == KindTool && !next.Deny })
	return r.Kind == KindAbility && covers && !tools
}

// oddDoors returns W20: doors that name only routes which the site lists as something else.
func (p *Abilities) oddDoors(site *review.Installed, at string) (odd []review.Odd) {
	listed, serves := site.There(p.doors), site.ServeTools(p.doors)
	for i, door := range p.doors {
		if listed[i] && !serves[i] && !strings.Contains(door.String(), "mcp") {
			odd = append(odd, review.Odd{
				Code: "W20", At: at, Do: "mend the route, or remove it",
				Text: fmt.Sprintf("doors names %s, which the REST root of the site lists as no server of tools", door),
			})
		}
	}
	return odd
}
