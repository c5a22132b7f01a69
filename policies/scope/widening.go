package scope

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/mcp/message"
)

// widenersOf returns the routes of a platform by which a credential that may write makes another one, gives its user more
// rights, runs code of somebody's, or has data or money sent elsewhere. A line of a scope that does not spell one out does
// not allow to write there (docs/policies/scope.md).
func widenersOf(p platforms.Platform) (patterns []routes.Pattern) {
	add := func(namespace string, below ...string) {
		for _, route := range below {
			patterns = append(patterns, routes.MustPattern("/"+namespace+route))
		}
	}
	shop := p.ShopWord()
	add(p.Core, "/users", "/users/*", "/users/*/application-passwords", "/users/*/application-passwords/*", "/settings", "/plugins/**", "/themes/**")
	add(shop+"/*", "/customers/*", "/webhooks/**", "/settings/**", "/payment_gateways/**", "/system_status/tools/**")
	add(shop+"-admin", "/options", "/settings/**", "/plugins/**", "/themes/**", "/onboarding/**", "/blueprint/**", "/mobile-app/**")
	add(p.Analytics, "/settings/**")
	add("jwt-auth", "/**")                   // where plugins make tokens
	for _, root := range message.InnerREST { // whose other tools run what they like (docs/platform IV.5)
		patterns = append(patterns, routes.MustPattern(root+"/**"))
	}
	return patterns
}

// widener returns the route of the table that a call writes to, or nil.
func (p *Scopes) widener(c *call.Call) *routes.Pattern {
	if !c.Writes() {
		return nil
	}
	for i := range p.wideners {
		if p.wideners[i].Match(c.Key) {
			return &p.wideners[i]
		}
	}
	return nil
}

// spells tells whether a line has each literal segment of a route, at its place.
func spells(line, route *routes.Pattern) bool {
	written, _ := line.Segments()
	literal, _ := route.Segments()
	for i, segment := range literal {
		if segment != "*" && (i >= len(written) || written[i] != segment) {
			return false
		}
	}
	return true
}

// Widens returns whether a write that a line of a scope spells out, such as POST /wp/v2/users, is one by which a credential can
// widen its own scope on a platform: W23.
func Widens(p platforms.Platform, method string, line routes.Pattern) bool {
	return slices.Contains(writing, method) && widensBy(widenersOf(p), &line)
}

// writing are the methods that write.
var writing = []string{"POST", "PUT", "PATCH", "DELETE"}

// widensBy tells whether a line spells out one of the routes of the table that it meets.
func widensBy(wideners []routes.Pattern, line *routes.Pattern) bool {
	return slices.ContainsFunc(wideners, func(route routes.Pattern) bool { return spells(line, &route) && line.Meets(route) })
}

// spelledOut returns the routes of the table that lines of the scope allow to write to.
func (p *Scopes) spelledOut(s *Scope) (found []string) {
	for i := range s.Allow {
		target := s.Allow[i].rule.Target()
		if !slices.ContainsFunc(writing, target.HasMethod) {
			continue
		}
		for j := range target.Routes() {
			line := &target.Routes()[j]
			if widensBy(p.wideners, line) && !slices.Contains(found, line.String()) {
				found = append(found, line.String())
			}
		}
	}
	return found
}
