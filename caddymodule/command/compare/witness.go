package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
)

// meeting is a site before and after.
type meeting struct {
	old, now *dryrun.Home
	host     string // at which it was found, with its port unless that is usual
	name     string
	was, is  *way
}

// lay adds that the way to a site is another, with requests that show what it opens and closes.
func (c *comparer) lay(ctx context.Context, m *meeting) (err error) {
	names := m.names()
	if m.was, err = c.before.way(ctx, m.old, names); err != nil {
		return err
	}
	if m.is, err = c.after.way(ctx, m.now, names); err != nil {
		return err
	}
	if textOf(m.was.routes) == textOf(m.is.routes) {
		return nil
	}
	text := "what leads requests to the directive, or past it, is another, from this place of the adapted JSON on: " + difference(m.was.routes, m.is.routes)
	c.report.beside(Beside{What: "layout", Text: text, Effects: both}, m.name)
	id := [3]any{m.was.kind + m.is.kind, m.old.Chain, m.now.Chain}
	shown, known := c.shown[id]
	if !known {
		if shown, err = c.witnesses(ctx, m); err != nil {
			return err
		}
		c.shown[id] = shown
	}
	for _, change := range shown {
		c.report.add(change, m.name)
	}
	return nil
}

// names returns the hosts that both sides have for the site; none for all.
func (m *meeting) names() (both []string) {
	old, now := m.old.Policies.Hosts, m.now.Policies.Hosts
	for _, name := range old {
		if slices.Contains(now, name) {
			both = append(both, name)
		}
	}
	if len(both) == 0 && len(old)+len(now) > 0 {
		both = []string{m.host}
	}
	return both
}

// maxTried bounds the routes that witnesses tries.
const maxTried = 25

// witnesses tries calls in each form that the platform takes, as an anonymous caller, and returns those of which one side alone
// lets the first pass.
func (c *comparer) witnesses(ctx context.Context, m *meeting) (shown []Change, err error) {
	core := "/" + m.now.Chain.Site().Platform.Core
	for _, route := range triedOf([]string{core + "/users", core + "/posts"}, m.old.Chain, m.now.Chain) {
		for _, method := range []string{"GET", "POST"} {
			for _, form := range []string{"/" + m.old.Prefix + route, "/?rest_route=" + route, "/index.php/" + m.old.Prefix + route, "/index.php?rest_route=" + route} {
				e, effect, err := c.try(ctx, method, m.old.Address+form)
				if err != nil {
					return nil, err
				}
				if effect == "" || slices.ContainsFunc(shown, func(s Change) bool { return s.Effect == effect }) {
					continue
				}
				shown = append(shown, Change{
					Effect: effect, Methods: []string{method}, Sets: []Set{{Route: route}}, Who: []string{e.As}, Example: e,
					Why: "Such a request takes another way now, and others may.",
				})
			}
		}
	}
	return shown, nil
}

// triedOf returns some routes, and one of each pattern of the lines of chains.
func triedOf(tried []string, chains ...*policy.Chain) []string {
	eachLine(chains, func(l policy.RouteLine) {
		for _, pattern := range l.Routes {
			if route := exampleOf(&pattern); len(tried) < maxTried && !slices.Contains(tried, route) {
				tried = append(tried, route)
			}
		}
	})
	return tried
}

// exampleOf returns a route that a pattern matches.
func exampleOf(p *routes.Pattern) string {
	segments, _ := p.Segments()
	made := slices.Clone(segments)
	for i, s := range made {
		if routes.IsWildcard(s) {
			made[i] = "1"
		}
	}
	return "/" + strings.Join(made, "/")
}

// try asks both sides about a request of an anonymous caller. The effect is one that may be, or "".
func (c *comparer) try(ctx context.Context, method, address string) (*Example, diff.Effect, error) {
	var results [2]*dryrun.Result
	for i, s := range []*side{c.before, c.after} {
		r, err := dryrun.Build(method, address, nil, nil)
		if err != nil {
			return nil, "", nil //nolint:nilerr // a pattern of hosts that no address has
		}
		r.As.Kind = dryrun.Anonymous
		if results[i], err = s.Config.Run(ctx, r); err != nil {
			return nil, "", fmt.Errorf("%s %s: %w", method, address, err)
		}
	}
	e := &Example{Request: method + " " + address, As: string(dryrun.Anonymous), Old: told(results[0]), New: told(results[1])}
	was, is := passes(results[0]), passes(results[1])
	switch {
	case unknown(results[0]) || unknown(results[1]) || was == is:
		return nil, "", nil
	case is:
		return e, diff.MayOpen, nil
	}
	return e, diff.MayClose, nil
}
