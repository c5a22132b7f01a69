package dryrun

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/scope"
)

// scopeLines are the lines to try in the scope that has refused a call, but for those by which a credential could widen its
// scope.
func scopeLines(res *Result, platform platforms.Platform) (all []candidate) {
	name, ok := strings.CutPrefix(res.Decision.Rule, "scope ")
	if !ok || res.Decision.Policy != scope.Entry.Name {
		return nil
	}
	method := openings.RuleMethod(res.Reading.Method)
	for _, text := range patterns(res.Reading) {
		pattern, err := routes.ParsePattern(text)
		if err != nil || scope.Widens(platform, method, pattern) {
			continue
		}
		all = append(all, candidate{line: "allow " + method + " " + text, scope: name, allow: scope.Allow{Methods: []string{method}, Routes: []string{text}}})
	}
	return all
}

// insertIntoScope puts a candidate into its scope.
func insertIntoScope(g *gateway.Gateway, try candidate) error {
	c, err := g.Policy(scope.Entry)
	if err != nil {
		return err
	}
	own := c.Policy.(*scope.Scopes)
	if i := slices.IndexFunc(own.Scopes, func(s *scope.Scope) bool { return s.Name == try.scope }); i >= 0 {
		own.Scopes[i].Allow = append(own.Scopes[i].Allow, try.allow)
	}
	return g.SetPolicy(c)
}
