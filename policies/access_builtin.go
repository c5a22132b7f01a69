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
	// signedOnly makes the rule give way where the site's own rule that would
	// decide is a signed one.
	signedOnly bool
}

// builtInRules are the guards for what is known to leak: user names, stored
// secrets of the feed plugin (E13), the cookie plugin's open routes (E14), and
// the core's batch, whose parts login plugins do not see (docs/platform II).
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

func (b *builtInRule) matches(c *call.Call) bool {
	return b.target.matchesOne(c) && c.Key != b.except
}

// stepsBack tells whether own, the site's own rule that would decide, stands in for
// b: it names exactly the same route, or a literal one that b covers, or it is a
// signed one where that is enough.
func (b *builtInRule) stepsBack(own *Rule, c *call.Call) bool {
	if own == nil {
		return false
	}
	if b.signedOnly && own.who == whoSigned {
		return true
	}
	guarded := b.target.pattern(c.Key)
	return slices.ContainsFunc(own.target.routes, func(pattern call.Pattern) bool {
		return pattern.Match(c.Key) && (pattern.Literal() || sameRoute(&pattern, guarded))
	})
}

// sameRoute compares two patterns; a named segment is like any other one.
func sameRoute(a, b *call.Pattern) bool {
	x, y := strings.Split(a.String(), "/"), strings.Split(b.String(), "/")
	return slices.EqualFunc(x, y, func(s, t string) bool {
		return strings.EqualFold(s, t) || oneSegment(s) && oneSegment(t)
	})
}

func oneSegment(s string) bool { return s == "*" || strings.HasPrefix(s, ":") }
