// Package openings says which line of the Caddyfile opens a call, and at what risk.
package openings

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// Opener says which line opens a call on the sites of a platform. The remedy of a record,
// explain, suggest and audit ask it, so that they propose the same line, and only word it.
type Opener struct {
	Platform platforms.Platform
	Needs    []NeededCall // of the catalogue, in its order
	Risks    []RiskyCall
}

// NeededCall is a row of the catalogue that callers without a login need, as the platform
// writes it.
type NeededCall struct {
	*plugins.Need
	Plugin  *plugins.Plugin
	Pattern routes.Pattern
}

// RiskyCall is a row of the catalogue that no caller without a login should reach. The hole is
// in the route itself.
type RiskyCall struct {
	*plugins.Risk
	Plugin  *plugins.Plugin
	Pattern routes.Pattern
}

// Opening is a line that opens a call, with what speaks for it and against it.
type Opening struct {
	Line string
	// Need is the row of the catalogue whose plugin the line names; nil for a line of one route.
	Need *NeededCall
	// Rule is what a line of one route says.
	Rule policy.Rule
	// Risk is a row of the catalogue that calls the call risky; nil if none does.
	Risk *RiskyCall
}

// NewOpener reads the catalogue.
func NewOpener(platform platforms.Platform) *Opener {
	o := &Opener{Platform: platform}
	for _, p := range plugins.All() {
		for i := range p.Needed {
			o.Needs = append(o.Needs, NeededCall{&p.Needed[i], p, routes.MustPattern(access.RouteOn(platform, p.Needed[i].Route))})
		}
		for i := range p.Risky {
			if p.Risky[i].Scope == "" { // else the hole is in other calls, too
				o.Risks = append(o.Risks, RiskyCall{&p.Risky[i], p, routes.MustPattern(access.RouteOn(platform, p.Risky[i].Route))})
			}
		}
	}
	return o
}

// Openings returns the lines that open a call to somebody: that of the plugin which needs it
// without a login, then one of the route for each of its patterns. forms are what the route may
// be: the one that was called, or what the site's own pattern stands for.
func (o *Opener) Openings(by Seeker, method string, forms []routes.Pattern, patterns ...string) (all []Opening) {
	var risk *RiskyCall
	if by.admitting() == "anyone" { // the catalogue is about callers without a login
		need := o.Needed(method, forms)
		risk = o.Risky(method, forms, need)
		if need != nil {
			all = append(all, Opening{Line: need.Line(), Need: need, Risk: risk})
		}
	}
	for _, pattern := range patterns {
		if rule, ok := by.rule(method, pattern); ok {
			all = append(all, Opening{Line: rule.Line(), Rule: rule, Risk: risk})
		}
	}
	return all
}

// Seeker is who is to be let in.
type Seeker struct {
	// Kind is who is calling. Of a user Roles or Capability may name what to admit.
	Kind       caller.Kind
	Roles      []string
	Capability string
	// keyInVain tells that a shop key was sent that does not count: it has to work, and the
	// route has to stay closed.
	keyInVain bool
	// Refused is whom the rule admits that has refused the call. Roles stay admitted.
	Refused string
}

// SeekerOf returns who makes a call. One who was not asked for is who the credentials claim.
func SeekerOf(r *policy.Request) Seeker {
	if who, known := r.Known(); known {
		return Seeker{Kind: who.Kind, keyInVain: who.Kind == caller.Anonymous && r.SentShopKey()}
	}
	inVain := r.SentShopKey() && !r.TakesKeys() // elsewhere the platform takes it for a name and a password, which no user has
	if claim, err := r.Claim(); !inVain && err == nil && claim != caller.ClaimNothing && claim != caller.ClaimNamespace && claim.Verifiable() {
		return Seeker{Kind: caller.User}
	}
	return Seeker{keyInVain: r.SentShopKey()}
}

// admitting returns whom a line has to admit: "anyone", "users", "role editor,author". It is ""
// if no line should.
func (s Seeker) admitting() string {
	switch {
	case s.Kind == caller.Anonymous && s.keyInVain:
		return ""
	case s.Kind == caller.Anonymous:
		return "anyone"
	case s.Capability != "":
		return "capability " + s.Capability
	case len(s.Roles) == 0:
		return "users"
	}
	names := strings.Join(s.Roles, ",")
	if admitted, ok := strings.CutPrefix(s.Refused, "role "); ok {
		names = admitted + "," + names
	}
	return "role " + names
}

// rule is what a line says that opens one method of a route. ok is false if no line should.
func (s Seeker) rule(method, pattern string) (r policy.Rule, ok bool) {
	allow := s.admitting()
	return policy.Rule{Allow: allow, Methods: []string{RuleMethod(method)}, Routes: []string{pattern}}, allow != ""
}

// RuleMethod is the method that a rule names for a call: GET covers HEAD.
func RuleMethod(method string) string {
	if method == http.MethodHead {
		return http.MethodGet
	}
	return method
}

// LineFor returns the line that opens one method of a route to somebody.
func LineFor(by Seeker, method, pattern string) string {
	rule, _ := by.rule(method, pattern)
	return rule.Line()
}

// Line returns the line of the plugin for those who need the call.
func (n *NeededCall) Line() string { return n.Plugin.AllowLine(n.Caller.Group()) }

// needs tells whether the row needs a call.
func (n *NeededCall) needs(method string, form routes.Pattern) bool {
	return slices.Contains(n.Methods, method) && n.Pattern.Covers(form)
}

// Needed returns the row of the catalogue that needs all forms of a route with a method, or nil.
// Of several rows it is the one whose callers stand first in plugins.Groups. No line is certain
// where several plugins need the call.
func (o *Opener) Needed(method string, forms []routes.Pattern) (found *NeededCall) {
	if len(forms) == 0 {
		return nil
	}
	method = RuleMethod(method)
	for i := range o.Needs {
		n := &o.Needs[i]
		switch {
		case !n.needs(method, forms[0]) || !o.allNeeded(n.Plugin, method, forms[1:]):
		case found == nil || n.Plugin == found.Plugin && n.rank() < found.rank():
			found = n
		case n.Plugin != found.Plugin:
			return nil
		}
	}
	return found
}

func (n *NeededCall) rank() int { return slices.Index(plugins.Groups, n.Caller.Group()) }

func (o *Opener) allNeeded(p *plugins.Plugin, method string, forms []routes.Pattern) bool {
	return !slices.ContainsFunc(forms, func(form routes.Pattern) bool {
		return !slices.ContainsFunc(o.Needs, func(n NeededCall) bool { return n.Plugin == p && n.needs(method, form) })
	})
}

// Risky returns a row of the catalogue that calls some form of a route risky, or nil; a known
// hole goes first. A row that is not wider than what a plugin needs is risky all the same,
// unless it is the same and no hole is known.
func (o *Opener) Risky(method string, forms []routes.Pattern, need *NeededCall) (found *RiskyCall) {
	method = RuleMethod(method)
	for i := range o.Risks {
		r := &o.Risks[i]
		hole := len(r.CVE) > 0
		switch {
		case !slices.Contains(r.Methods, method), !slices.ContainsFunc(forms, r.Pattern.Meets), found != nil && !hole:
			continue
		case need != nil && r.Pattern.Covers(need.Pattern) && (!hole || !need.Pattern.Covers(r.Pattern)):
			continue
		}
		if found = r; hole {
			break
		}
	}
	return found
}

// GuardedBy returns the line of the built-in rule that guards one of the forms of a route, or "".
func (o *Opener) GuardedBy(method string, forms []routes.Pattern) string {
	for _, form := range forms {
		if line := access.GuardedBy(o.Platform, method, form); line != "" {
			return line
		}
	}
	return ""
}
