//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// TestCatalogue turns on a stand-in of each plugin of the catalogue, alone, on real WordPress.
// `allow plugin` opens under login_only what the plugin needs, and nothing else; `deny plugin`
// closes on an open site what is risky, to callers without a login. The built-in guards stay.
// plugins.Find knows each plugin, as far as the catalogue says that it can be known.
func TestCatalogue(t *testing.T) {
	s := setUps(t)
	n, err := s.newStandins()
	if err != nil {
		t.Fatal(err)
	}
	var all []*catalogued
	for _, p := range plugins.All() {
		c, err := n.catalogue(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := n.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("each", func(t *testing.T) {
		for _, c := range all {
			t.Run(c.Slug, func(t *testing.T) {
				t.Parallel()
				c.checks = count(t)
				c.checkFind(t.Context())
				c.checkAllow(t.Context(), c.allow, plugins.DefaultGroups)
				if c.everybody != nil {
					c.checkAllow(t.Context(), c.everybody, plugins.Groups)
				}
				c.checkDeny(t.Context())
			})
		}
	})
	countKnown(t, all)
}

// countKnown holds how many of the plugins that were measured are known by a namespace or a
// route of their own: some register theirs only with a setting.
func countKnown(t *testing.T, all []*catalogued) {
	t.Helper()
	measured, known, always := 0, 0, 0
	for _, c := range all {
		if !c.Measured || c.Slug == core {
			continue
		}
		measured++
		if !c.known {
			continue
		}
		known++
		if c.always() {
			always++
		}
	}
	t.Logf("%d of %d plugins that were measured are known, %d of them whatever their settings", known, measured, always)
	if measured != 116 || known < always || always < 86 {
		t.Errorf("the contract says: 86 of 116, and the core")
	}
}

// catalogued is one plugin with its addresses.
type catalogued struct {
	*standins
	*plugins.Plugin
	*checks

	bare, allow, everybody, deny *standinGate

	known bool // plugins.Find has found it
}

// catalogue plans the addresses of a plugin.
func (n *standins) catalogue(p *plugins.Plugin) (*catalogued, error) {
	set, err := n.write(p.Slug, standinRoutes(p))
	c := &catalogued{standins: n, Plugin: p}
	c.bare = n.add(p.Slug+"-bare", set)
	c.allow = n.add(p.Slug+"-allow", set, "login_only", "allow plugin "+p.Slug)
	c.deny = n.add(p.Slug+"-deny", set, "deny plugin "+p.Slug)
	inGroup := func(need plugins.Need) bool { return slices.Contains(plugins.DefaultGroups, need.Caller.Group()) }
	if slices.ContainsFunc(p.Needed, func(need plugins.Need) bool { return !inGroup(need) }) {
		c.everybody = n.add(p.Slug+"-everybody", set, "login_only", "allow plugin "+p.Slug+" for "+words(plugins.Groups))
	}
	return c, err
}

func words(groups []plugins.Group) string {
	var list []string
	for _, g := range groups {
		list = append(list, string(g))
	}
	return strings.Join(list, ",")
}

// checkFind reads the real index.
func (c *catalogued) checkFind(ctx context.Context) {
	a, err := c.fetch(ctx, c.bare, request{path: "/wp-json/"})
	if err != nil {
		c.failf("index", "%v", err)
		return
	}
	root, err := index.ParseRoot(a.body)
	if err != nil || len(root.Routes) < 100 {
		c.failf("index", "%v: %s", err, a)
		return
	}
	want := []string{core}
	if c.recognisable() && c.Slug != core {
		want = append(want, c.Slug)
	}
	var found []string
	for _, p := range plugins.Find(root.Namespaces, root.Patterns()).Plugins {
		found = append(found, p.Slug)
	}
	c.known = slices.Contains(found, c.Slug)
	slices.Sort(want)
	slices.Sort(found)
	if !slices.Equal(found, want) {
		c.failf("find", "found %v, expected %v", found, want)
		return
	}
	c.pass(1)
}

// recognisable tells whether the entry has a namespace of its own, or routes.
func (c *catalogued) recognisable() bool {
	return len(c.Detect) > 0 || slices.ContainsFunc(c.Namespaces, func(ns plugins.Namespace) bool { return !ns.Shared })
}

// always tells whether no setting of the plugin takes away what it is known by.
func (c *catalogued) always() bool {
	return len(c.Detect) > 0 || slices.ContainsFunc(c.Namespaces, func(ns plugins.Namespace) bool { return !ns.Shared && !ns.Conditional })
}

// checkAllow calls every row, and a route for nobody, on a site that is for logged-in users
// and for what the plugin needs for these groups.
func (c *catalogued) checkAllow(ctx context.Context, g *standinGate, groups []plugins.Group) {
	for _, by := range c.calls() {
		switch taken, _ := builtInTakes(by); {
		case taken:
			c.checkRefused(ctx, g, by, "", nil)
		case c.needed(by, groups):
			c.checkReached(ctx, g, by, nil)
		default:
			c.checkRefused(ctx, g, by, notLoggedIn, nil)
		}
	}
	c.checkGuards(ctx, g)
	c.checkLimits(ctx, g, groups)
}

// checkDeny calls every row on an open site with `deny plugin`, also as an administrator.
func (c *catalogued) checkDeny(ctx context.Context) {
	admin := c.deny.Site.Accounts["administrator"]
	for _, by := range c.calls() {
		switch taken, always := builtInTakes(by); {
		case always:
			c.checkRefused(ctx, c.deny, by, forbidden, nil)
			c.checkRefused(ctx, c.deny, by, forbidden, &admin)
		case taken || c.denied(by):
			c.checkRefused(ctx, c.deny, by, forbidden, nil)
			c.checkReached(ctx, c.deny, by, &admin)
		default:
			c.checkReached(ctx, c.deny, by, nil)
		}
	}
	c.checkGuards(ctx, c.deny)
}

// checkLimits calls each route that has a limit until the gateway has had enough.
func (c *catalogued) checkLimits(ctx context.Context, g *standinGate, groups []plugins.Group) {
	for _, need := range c.Needed {
		if need.Limit == "" || !slices.Contains(groups, need.Caller.Group()) {
			continue
		}
		path, last := "/wp-json"+routesOf(need.Route)[0], (*answer)(nil)
		for range 11 { // one more than the catalogue's limits
			a, err := c.fetch(ctx, g, request{method: need.Methods[0], path: path})
			if err != nil {
				c.failf(path, "%v", err)
				return
			}
			last = a
		}
		var err error
		if !last.refused() || last.status != http.StatusTooManyRequests {
			err = fmt.Errorf("there is no limit: %s", last)
		}
		c.check(g.Name+", limit of "+path, err)
	}
}
