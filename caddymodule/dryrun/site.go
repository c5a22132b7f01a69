package dryrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Site returns the site that a request for an address reaches. The error says what answers
// if no gateway is on its way.
func (c *Config) Site(ctx context.Context, address string) (*gateway.ServedSite, error) {
	r, err := Build("", address, nil, nil)
	if err != nil {
		return nil, err
	}
	site, result, err := c.Reach(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case site == nil:
		return nil, fmt.Errorf("the gateway is not on the way to %s: %s answers", address, result.Missed.Answered)
	}
	return site, nil
}

// Other is a directive that judges some requests to a site in place of another one.
type Other struct {
	At, Imported string
	Said         string // see [gateway.ServedSite]
	Chain        *policy.Chain
}

// Others returns the directives with other rules than the site's to which matchers may
// lead requests for the same address.
func (c *Config) Others(r Request, site *gateway.ServedSite) ([]Other, error) {
	host, _, err := target(r.Raw)
	if err != nil {
		return nil, err
	}
	server, _ := c.serverFor(r, host)
	var found []Other
	for _, g := range c.guards {
		if g.way.Server != server || !g.covers(host) || g.rules == site.Chain {
			continue
		}
		found = append(found, Other{At: g.at, Said: g.said, Chain: g.rules})
	}
	return found, nil
}

// Caller returns who the gateway takes the played caller for. A shop key counts on the
// shop's routes only.
func (a As) Caller() caller.Caller {
	switch {
	case a.Kind == Key:
		return caller.Caller{Kind: caller.KeyHolder}
	case a.Kind == OfScope:
		return caller.Caller{Kind: caller.User, ID: userID, NoRoles: true, NoCapabilities: true}
	case a.loggedIn():
		return caller.Caller{Kind: caller.User, ID: userID, Roles: a.roles(), Capabilities: a.capabilities()}
	}
	return caller.Caller{}
}

// Rules returns the owner's own rules of access in all directives, each place once.
func (c *Config) Rules() ([]Rule, error) {
	config, err := expanded(c.JSON)
	if err != nil {
		return nil, err
	}
	var found []Rule
	var failed error
	each(config, "restwarden", func(directive map[string]any) {
		rules, err := rulesOf(directive)
		failed = errors.Join(failed, err)
		for _, r := range rules {
			if !slices.ContainsFunc(found, func(f Rule) bool { return f.At == r.At && f.Rule == r.Rule }) {
				found = append(found, r)
			}
		}
	})
	return found, failed
}

// rulesOf returns the rules of one directive.
func rulesOf(directive map[string]any) (found []Rule, err error) {
	g, err := gatewayOf(directive)
	if err != nil {
		return nil, err
	}
	configured, err := g.Policy(access.Entry)
	if err != nil {
		return nil, err
	}
	own := configured.Policy.(*access.Access)
	add := func(r *policy.Rule) {
		found = append(found, Rule{Rule: r.String(), Origin: r.Origin(), At: r.At, Imported: g.Imported[r.At]})
	}
	for i := range own.Rules {
		add(&own.Rules[i])
	}
	for i := range own.Guards {
		add(own.Guards[i].Named())
	}
	if own.LoginOnly {
		at := configured.Settings.At
		found = append(found, Rule{Rule: "login_only", Origin: policy.OriginDefault, At: at, Imported: g.Imported[at]})
	}
	return found, nil
}

// each calls do with every handler of a name within v.
func each(v any, name string, do func(map[string]any)) {
	walk(v, func(m map[string]any) {
		if m["handler"] == name {
			do(m)
		}
	})
}

// walk calls do with every object within v, v included, by the names of the members.
func walk(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], do)
		}
	case []any:
		for _, inner := range v {
			walk(inner, do)
		}
	}
}
