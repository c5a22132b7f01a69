package access

import (
	"errors"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// Guard is a rule that only takes away: a caller whom it does not admit is refused, and one
// whom it admits needs the site's own rule as well. It gives way to a rule that names its
// route.
type Guard struct {
	policy.Rule
	// Except are routes that it leaves alone.
	Except []string `json:"except,omitempty"`

	except []routes.Pattern
	// signedOnly lets any signed rule of the site replace the guard.
	signedOnly bool
}

// builtInGuards guard what is known to leak: user names, stored secrets of the feed plugin
// (E13), the cookie plugin's open routes (E14), and the core's batch, whose parts login
// plugins do not see (docs/platform II).
func builtInGuards(p platforms.Platform) []Guard {
	users := "/" + p.Core + "/users"
	deny := func(route string) policy.Rule { return policy.Rule{Deny: true, Routes: []string{route}} }
	admit := func(who string, routes ...string) policy.Rule { return policy.Rule{Allow: who, Routes: routes} }
	guards := []Guard{
		{Rule: admit("users", users, users+"/*"), Except: []string{users + "/me"}},
		{Rule: admit("role administrator", "/*/troubleshooting", "/*/*/troubleshooting")},
		{Rule: deny("/*/v1/upload-logo")},
		{Rule: deny("/*/v1/store-auth"), signedOnly: true},
		{Rule: admit("users", "/batch/v1")},
	}
	for i := range guards {
		guards[i].As(policy.OriginBuiltIn, "")
		if err := guards[i].compile(); err != nil {
			panic(err)
		}
	}
	return guards
}

// guardOption reads a line that a line `deny plugin` stands for.
func guardOption(o policy.Option) (Guard, error) {
	g := Guard{Rule: policy.Rule{Allow: "users", From: o.From, At: o.Pos}}
	g.Methods, g.Routes = policy.MethodsAndRoutes(o.Args)
	for _, inner := range o.Block {
		g.Except = append(g.Except, inner.Args...)
	}
	if err := g.compile(); err != nil {
		return g, o.Invalid(err)
	}
	return g, nil
}

// Named returns the rule of the guard, which is then called after its line `deny plugin`. It
// is for guards that were read from JSON.
func (g *Guard) Named() *policy.Rule {
	line := ""
	if g.From != "" {
		line = plugins.DenyText(g.From)
	}
	g.TakesAway(line)
	return &g.Rule
}

// compile checks the guard.
func (g *Guard) compile() error {
	g.except = nil
	for _, text := range g.Except {
		p, err := routes.ParsePattern(text)
		if err != nil {
			return err
		}
		g.except = append(g.except, p)
	}
	if err := g.Named().Compile(); err != nil {
		return err
	}
	switch {
	case g.Who() == policy.Anyone || g.Who() == policy.BySignature:
		return errGuardAdmits
	case g.Conditions != nil:
		return errGuardConditions
	}
	return nil
}

// errGuardAdmits: a guard that anyone passes would hide the guards behind it.
var errGuardAdmits = errors.New("a guard only takes away: it allows users, a role or a capability, or denies")

var errGuardConditions = errors.New("a guard takes no conditions")

// match tells whether g applies to c. own is the site's own rule for c, if it has one.
func (g *Guard) match(c *call.Call, own policy.Match) (policy.Match, policy.Mismatch) {
	match, ok := g.Match(c)
	switch {
	case !ok:
		return match, g.Target().WhyNot(c)
	case slices.ContainsFunc(g.except, func(p routes.Pattern) bool { return p.Match(c.Key) }):
		return match, policy.Excepted
	case own.Rule != nil && g.givesWay(match.Route, own.Rule, c):
		return match, policy.Replaced
	}
	return match, policy.Matches
}

// givesWay tells whether own replaces g: own names exactly the route that g guards, or a
// literal route that g covers, or own is signed and g is signedOnly. What the catalogue
// allows replaces no built-in rule.
func (g *Guard) givesWay(guarded *routes.Pattern, own *policy.Rule, c *call.Call) bool {
	if own.Origin() == policy.OriginPlugin && g.Origin() == policy.OriginBuiltIn {
		return false
	}
	if g.signedOnly && own.Who() == policy.BySignature {
		return true
	}
	return slices.ContainsFunc(own.Target().Routes(), func(pattern routes.Pattern) bool {
		return pattern.Match(c.Key) && (pattern.Literal() || sameRoute(&pattern, guarded))
	})
}

// sameRoute compares two patterns. A named segment equals "*".
func sameRoute(a, b *routes.Pattern) bool {
	x, y := strings.Split(a.String(), "/"), strings.Split(b.String(), "/")
	return slices.EqualFunc(x, y, func(s, t string) bool {
		return strings.EqualFold(s, t) || routes.IsWildcard(s) && routes.IsWildcard(t)
	})
}
