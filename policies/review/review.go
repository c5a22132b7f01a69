// Package review reasons about a chain without a request: what is odd in it, which calls reach the platform,
// and whether a claim about them holds for every request. It knows policies by what they can do.
package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// Odd is something odd in the configuration of a chain, see docs/commands/checks.md.
type Odd struct {
	Code string // "W04"
	At   string // "Caddyfile:12"; "" where no line is to blame
	Text string // what is odd, in one sentence without a full stop
	Do   string // what to do, in the same form
	Note bool   // it is a note for the reader, never a finding
	Said bool   // a note that the log of a load has, too
}

// Reviewer is a Policy that finds what is odd in its own configuration. What is odd in the routes
// of a Router is found without its help.
type Reviewer interface {
	// Odd returns only what is certain, of each code in the order of the configuration.
	Odd(about *About) []Odd
}

// About is what a Reviewer is told.
type About struct {
	Site     *Installed // nil where the site is not known
	Platform platforms.Platform
	Settings policy.Settings // of the policy
	Enforces bool            // the policy refuses what it has to refuse
	chain    *policy.Chain
}

// Lines calls do for each line of the chain that names routes.
func (a *About) Lines(do func(policy.RouteLine)) {
	for _, m := range a.chain.Policies() {
		if p, ok := m.Policy.(policy.Router); ok {
			p.EachRoute(do)
		}
	}
}

// ClosedToKey tells whether the policies of the chain beside p certainly refuse all calls of some methods and routes,
// written as in a rule, to a shop key.
func (a *About) ClosedToKey(p policy.Policy, key caller.Credential, methods, routes []string) bool {
	var others []*policy.Configured
	for _, m := range a.chain.Policies() {
		if m.Policy != p {
			others = append(others, &policy.Configured{Entry: policy.Entry{Name: m.Name}, Policy: m.Policy, Settings: m.Settings})
		}
	}
	c := policy.Link(a.chain.Site(), a.chain.Mode(), others...)
	proof, err := Prove(c, Claim{Never: true, Methods: methods, Routes: routes, Caller: caller.Caller{Kind: caller.KeyHolder}, Credential: key})
	return err == nil && proof.Holds
}

// RouteReviewer is a Policy whose lines may miss calls of routes that a site has.
type RouteReviewer interface {
	// Narrow returns W25 for the routes of a site. The gateway asks at each root that it reads.
	Narrow(x *index.Index) []Odd
}

// ToolGuard is a Policy that may judge what agents run by servers of tools.
type ToolGuard interface {
	// GuardsTools tells whether it does.
	GuardsTools() bool
}

// OddIn returns what is odd in the rules of a chain: W04 to W07, W11, W16 to W18 and W21 to W23 of
// docs/commands/checks.md, in this order, and each in the order of the configuration. It takes for
// odd only what is certain.
func OddIn(c *policy.Chain) []Odd { return OddOn(c, nil) }

// OddOn is OddIn for a site whose REST root is known: it also returns W15, W19, W20, W24 and W25,
// and W16 only for what the site has. A nil site is not known.
func OddOn(c *policy.Chain, site *Installed) (odd []Odd) {
	guarded := false
	for _, m := range c.Policies() {
		if p, ok := m.Policy.(policy.Router); ok {
			odd = append(odd, oddRoutes(p)...)
			if site != nil {
				odd = append(odd, absent(p, site)...)
			}
		}
		if p, ok := m.Policy.(Reviewer); ok {
			odd = append(odd, p.Odd(&About{site, c.Site().Platform, m.Settings, !m.Observes(policy.InForce{}), c})...)
		}
		if p, ok := m.Policy.(ToolGuard); ok {
			guarded = guarded || p.GuardsTools()
		}
	}
	if site != nil {
		odd = append(odd, Narrow(c, site.index)...)
		if !guarded {
			odd = append(odd, openDoors(c, site)...)
		}
	}
	odd = append(odd, observed(c)...)
	slices.SortStableFunc(odd, func(a, b Odd) int { return strings.Compare(a.Code, b.Code) })
	return odd
}

// Narrow returns W25 for the routes of a site: lines that miss calls which a route of the site
// runs. A nil index has no routes.
func Narrow(c *policy.Chain, x *index.Index) (odd []Odd) {
	for _, m := range c.Policies() {
		if p, ok := m.Policy.(RouteReviewer); ok {
			odd = append(odd, p.Narrow(x)...)
		}
	}
	return odd
}

// observed returns W11: the directive, or a policy, only observes.
func observed(c *policy.Chain) (odd []Odd) {
	const goodCalls = " once the log shows no good call among them"
	if c.Mode() == policy.Observe {
		odd = append(odd, Odd{
			Code: "W11", Note: true, Do: "set mode enforce" + goodCalls,
			Text: "mode observe is in force, so that refusals are counted and logged, but nothing is refused",
		})
	}
	for _, m := range c.Policies() {
		if m.Settings.Mode == policy.Observe {
			odd = append(odd, Odd{
				Code: "W11", At: m.Settings.At, Note: true, Do: "remove its mode" + goodCalls,
				Text: fmt.Sprintf("the policy %s only observes, so that its refusals are counted and logged, but not carried out", m.Name),
			})
		}
	}
	return odd
}
