package policies

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// builtInRule is a rule that comes with the gateway (docs/design 6).
type builtInRule struct {
	Rule
	except string // a route that the rule does not cover
	// signedOnly lets any signed rule of the site replace the built-in rule.
	signedOnly bool
}

// builtInRules guard what is known to leak: user names, stored secrets of the feed plugin
// (E13), the cookie plugin's open routes (E14), and the core's batch, whose parts login
// plugins do not see (docs/platform II).
func builtInRules(p call.Platform) []builtInRule {
	users := "/" + p.Core + "/users"
	deny := func(route string) Rule {
		r := Rule{Deny: true, Routes: []string{route}}
		return r.mustCompile()
	}
	return []builtInRule{
		{Rule: builtIn(mustRule("users", nil, users, users+"/*")), except: users + "/me"},
		{Rule: builtIn(mustRule("role administrator", nil, "/*/troubleshooting", "/*/*/troubleshooting"))},
		{Rule: builtIn(deny("/*/v1/upload-logo"))},
		{Rule: builtIn(deny("/*/v1/store-auth")), signedOnly: true},
		{Rule: builtIn(mustRule("users", nil, "/batch/v1"))},
	}
}

func builtIn(r Rule) Rule {
	r.builtIn = true
	return r
}

func mustRule(allow string, methods []string, routes ...string) Rule {
	r := Rule{Allow: allow, Methods: methods, Routes: routes}
	return r.mustCompile()
}

func (r Rule) mustCompile() Rule {
	if err := r.compile(); err != nil {
		panic(err)
	}
	return r
}

// match tells whether b applies to c. own is the site's own rule for c, if it has one.
func (b *builtInRule) match(c *call.Call, own Match) (Match, Mismatch) {
	match, ok := b.Rule.match(c)
	switch {
	case !ok:
		return match, b.target.mismatch(c)
	case c.Key == b.except:
		return match, Excepted
	case own.Rule != nil && b.givesWay(match.Route, own.Rule, c):
		return match, Replaced
	}
	return match, Matches
}

// givesWay tells whether own replaces b: own names exactly the route that b guards, or a
// literal route that b covers, or own is signed and b is signedOnly.
func (b *builtInRule) givesWay(guarded *call.Pattern, own *Rule, c *call.Call) bool {
	if b.signedOnly && own.who == whoSigned {
		return true
	}
	return slices.ContainsFunc(own.target.routes, func(pattern call.Pattern) bool {
		return pattern.Match(c.Key) && (pattern.Literal() || sameRoute(&pattern, guarded))
	})
}

// sameRoute compares two patterns. A named segment equals "*".
func sameRoute(a, b *call.Pattern) bool {
	x, y := strings.Split(a.String(), "/"), strings.Split(b.String(), "/")
	return slices.EqualFunc(x, y, func(s, t string) bool {
		return strings.EqualFold(s, t) || oneSegment(s) && oneSegment(t)
	})
}

func oneSegment(s string) bool { return s == "*" || strings.HasPrefix(s, ":") }
