package credentials

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/scope"
)

// Unused is a method and a route of a line of a scope. The method is "" for a line without methods.
type Unused struct {
	Scope  string `json:"scope"`
	At     string `json:"at,omitempty"`
	Method string `json:"method,omitempty"`
	Route  string `json:"route"`
}

// hold compares the scopes of the configuration with what their credentials were used for.
func (s *Site) hold(scopes *scope.Scopes) {
	for _, of := range scopes.Scopes {
		var calls []Route
		seen := false
		for i := range s.Credentials {
			c := &s.Credentials[i]
			if slices.Contains(scopes.NamesOf(caller.Credential{Kind: c.Kind, Key: c.Key, Login: c.Login, UUID: c.UUID}), of.Name) {
				calls, seen = append(calls, c.Routes...), true
			}
		}
		if !seen {
			s.UnusedScopes = append(s.UnusedScopes, of.Name)
			continue
		}
		for i := range of.Allow {
			s.Unused = append(s.Unused, unusedOf(of.Name, &of.Allow[i], calls)...)
		}
	}
}

// unusedOf returns what a line allows that none of the calls certainly is.
func unusedOf(name string, line *scope.Allow, calls []Route) (unused []Unused) {
	methods := line.Methods
	if len(methods) == 0 {
		methods = []string{""}
	}
	for _, route := range line.Routes {
		pattern := routes.MustPattern(route) // the configuration has loaded
		for _, method := range methods {
			used := slices.ContainsFunc(calls, func(r Route) bool {
				return (method == "" || method == openings.RuleMethod(r.Method) || method == r.Method) && slices.ContainsFunc(index.Forms(r.Route), pattern.Covers)
			})
			if !used {
				unused = append(unused, Unused{name, line.At, method, route})
			}
		}
	}
	return unused
}
