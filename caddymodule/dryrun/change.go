package dryrun

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	ratelimit "github.com/restwarden/restwarden/policies/rate_limit"
	"github.com/restwarden/restwarden/policies/scope"
)

// Change returns the smallest line of rules that changes the answer of a run, or nil if
// there is none. r is the request that c has run, and res the result. Each line has been
// put into the directive and the request run again, so that the line is certain to help.
//
// For a refusal by access it is an "allow" line for the caller, the method and the route; for a
// caller without a login "allow plugin", if one plugin of the catalogue needs the call.
// For a refusal by a scope it is a line of the scope. For a call that passes it is a "deny" line. Other policies have no such line: what they
// refuse is no question of who may call.
func (c *Config) Change(ctx context.Context, r Request, res *Result) (*Change, error) {
	for _, try := range c.candidates(r, res) {
		answer, err := c.tried(ctx, r, res.At, try)
		if err != nil {
			return nil, err
		}
		if changes := answer == Pass; changes != try.deny && answer != res.Answer && answer != Unknown {
			return &Change{Line: try.line, Before: try.before, Scope: try.scope, Answer: answer, Risk: try.risk}, nil
		}
	}
	return nil, nil
}

// candidate is a line, what it stands for, and the place of the rule that it must stand
// before; "" is anywhere.
type candidate struct {
	line   string
	deny   bool
	rules  []policy.Rule
	limits []*ratelimit.RateLimit
	before string
	risk   string // see Change.Risk
	scope  string // that takes allow, in place of rules
	allow  scope.Allow
}

// candidates are the rules to try, those that open least first. Each is for one method and
// one pattern.
func (c *Config) candidates(r Request, res *Result) (all []candidate) {
	if res.Reading == nil || res.Reading.Kind != call.Single.String() || !strings.HasPrefix(res.Reading.Route, "/") {
		return nil
	}
	before, d := ruleBefore(res), res.Decision
	switch {
	case res.Answer == Pass:
		for _, pattern := range patterns(res.Reading) {
			rule := policy.Rule{Deny: true, Methods: []string{openings.RuleMethod(res.Reading.Method)}, Routes: []string{pattern}}
			all = append(all, candidate{line: rule.Line(), deny: true, rules: []policy.Rule{rule}, before: before})
		}
	case (res.Answer == Refused || res.Answer == WouldRefuse) && d != nil && d.Policy == "access" && !inPlatformWords(res):
		opener := openings.NewOpener(c.guardAt(res.At).site.Platform)
		for _, o := range opener.Openings(seeker(r, res), res.Reading.Method, formsOf(res.Reading), patterns(res.Reading)...) {
			all = append(all, opening(&o, opener.Platform, before))
		}
	case d != nil:
		return scopeLines(res, c.guardAt(res.At).site.Platform)
	}
	return all
}

// formsOf are the call's route as a pattern, where it can be one.
func formsOf(r *Reading) []routes.Pattern {
	for _, text := range []string{r.Route, made(r.Route, "*")} {
		if p, err := routes.ParsePattern(text); err == nil {
			return []routes.Pattern{p}
		}
	}
	return nil
}

// seeker is who was refused. What the caller of a dry run is said to be goes before what the
// gateway has found.
func seeker(r Request, res *Result) openings.Seeker {
	s := res.seeker
	for i := range res.Policies {
		for _, rule := range res.Policies[i].Rules {
			if rule.Matched && rule.Rule == res.Decision.Rule && rule.At == res.Decision.At {
				s.Refused = rule.Allow
			}
		}
	}
	switch r.As.Kind {
	case Role:
		s.Kind, s.Roles = caller.User, strings.Split(r.As.Name, ",")
	case Capability:
		s.Kind, s.Capability = caller.User, r.As.Name
	case User, Key, OfScope:
		s.Kind = caller.User
	case Anonymous:
	}
	return s
}

// inPlatformWords tells whether the platform itself has refused: no rule changes that.
func inPlatformWords(res *Result) bool {
	n := len(res.Policies)
	return n > 0 && res.Policies[n-1].Code == string(policy.CodePlatform)
}

// patterns are the patterns for a route: the site's own, then those made of the route. A
// call with a second value for ":id" fits only "*".
func patterns(r *Reading) (all []string) {
	for _, text := range []string{r.Pattern, made(r.Route, ":id"), made(r.Route, "*")} {
		if _, err := routes.ParsePattern(text); err == nil && text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// made returns a route with id for its last id, and "*" for other ids and for what no rule
// can write.
func made(route, id string) string {
	segments := strings.Split(route, "/")
	for i := len(segments) - 1; i > 0; i-- {
		s := segments[i]
		_, err := routes.ParsePattern("/" + s)
		switch {
		case s == "" || err == nil && s != "*" && s != "**" && s[0] != ':':
		case strings.Trim(s, "0123456789") == "":
			segments[i], id = id, "*"
		default:
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// ruleBefore is the place of the owner's rule that matched; a new rule must stand before it.
func ruleBefore(res *Result) string {
	for _, p := range res.Policies {
		for _, rule := range p.Rules {
			if p.Name == "access" && rule.Matched && rule.At != "" {
				return rule.At
			}
		}
	}
	return ""
}

// tried runs r with a candidate in the directive at a place.
func (c *Config) tried(ctx context.Context, r Request, at string, try candidate) (_ Answer, err error) {
	changed, err := Load(Options{JSON: c.JSON, Index: c.index, Live: c.live, Edit: func(g *gateway.Gateway) error {
		if g.At != at {
			return nil
		}
		return insert(g, try)
	}})
	if err != nil { // the rule is none that the directive takes
		return Unknown, nil
	}
	defer func() { err = errors.Join(err, changed.Close()) }()
	res, err := changed.Run(ctx, r)
	if err != nil {
		return Unknown, err
	}
	return res.Answer, nil
}

// insert puts a candidate into a directive.
func insert(g *gateway.Gateway, try candidate) error {
	if try.scope != "" {
		return insertIntoScope(g, try)
	}
	c, err := g.Policy(access.Entry)
	if err != nil {
		return err
	}
	own := c.Policy.(*access.Access)
	at := slices.IndexFunc(own.Rules, func(r policy.Rule) bool { return try.before != "" && r.At == try.before })
	if at < 0 {
		at = len(own.Rules)
	}
	own.Rules = slices.Insert(own.Rules, at, try.rules...)
	if err := g.SetPolicy(c); err != nil || len(try.limits) == 0 {
		return err
	}
	if c, err = g.Policy(ratelimit.Entry); err != nil {
		return err
	}
	limited := c.Policy.(*ratelimit.RateLimits)
	limited.Limits = append(limited.Limits, try.limits...)
	return g.SetPolicy(c)
}
