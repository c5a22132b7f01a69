//go:build wordpress

package wordpress

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
)

// rowCall is a call of a row. Its route is one that the row's pattern matches.
type rowCall struct {
	method, route string
	row           row
}

// calls are those of all rows with all methods, each once, and of a route for nobody.
func (c *catalogued) calls() (calls []rowCall) {
	for _, r := range rowsOf(c.Plugin) {
		for _, method := range r.methods {
			for _, route := range routesOf(r.route) {
				if !slices.ContainsFunc(calls, func(by rowCall) bool { return by.method == method && by.route == route }) {
					calls = append(calls, rowCall{method, route, r})
				}
			}
		}
	}
	for _, base := range basesOf(c.Plugin) {
		calls = append(calls, rowCall{"POST", base + forNobody, row{}})
	}
	return calls
}

// routesOf are routes that a pattern matches.
func routesOf(pattern string) []string {
	route := strings.ReplaceAll(pattern, "/*/", "/7/")
	route = strings.ReplaceAll(route, "/*/", "/7/") // the next one of two
	if base, ok := strings.CutSuffix(route, "/**"); ok {
		return []string{base + "/zz", base + "/zz/7"}
	}
	if base, ok := strings.CutSuffix(route, "/*"); ok {
		return []string{base + "/7"}
	}
	return []string{route}
}

// needed tells whether a needed row of the groups names the call.
func (c *catalogued) needed(by rowCall, groups []plugins.Group) bool {
	return slices.ContainsFunc(c.Needed, func(n plugins.Need) bool {
		return slices.Contains(groups, n.Caller.Group()) && rowNames(n.Methods, n.Route, by)
	})
}

// denied tells whether a risky row names the call, and no row that is needed with the same
// method has the same or a narrower route.
func (c *catalogued) denied(by rowCall) bool {
	return slices.ContainsFunc(c.Risky, func(r plugins.Risk) bool {
		return rowNames(r.Methods, r.Route, by) && !slices.ContainsFunc(c.Needed, func(n plugins.Need) bool {
			spares := n.Route == r.Route || routes.MustPattern(r.Route).Covers(routes.MustPattern(n.Route)) && rowNames(n.Methods, n.Route, by)
			return spares && slices.Contains(n.Methods, by.method)
		})
	})
}

func rowNames(methods []string, pattern string, by rowCall) bool {
	return slices.Contains(methods, by.method) && routes.MustPattern(pattern).Match(strings.ToLower(by.route))
}

// reaches makes a call in both forms. The error tells that one of them does not reach the
// stand-in, or WordPress's own route.
func (c *catalogued) reaches(ctx context.Context, g *standinGate, by rowCall, as *account) error {
	return c.inBothForms(ctx, g, by, as, func(a *answer, seen *trace) error {
		if by.row.ofCore {
			return ranOfCore(seen, by, a)
		}
		return c.echoed(by, a)
	})
}

// refuses makes a call in both forms. The error tells that the gateway does not refuse one of
// them in these words, if any are given, or that WordPress has run it.
func (n *standins) refuses(ctx context.Context, g *standinGate, by rowCall, words want, as *account) error {
	return n.inBothForms(ctx, g, by, as, func(a *answer, seen *trace) error {
		if !a.refused() || words != "" && !words.matches(a) || len(seen.dispatches) > 0 {
			return fmt.Errorf("it is not refused as expected: %s", a)
		}
		return nil
	})
}

func (n *standins) inBothForms(ctx context.Context, g *standinGate, by rowCall, as *account, judge func(*answer, *trace) error) error {
	body := ""
	if by.method != "GET" && by.method != "HEAD" {
		body = `{"requests":[]}` // the core's batch takes it
	}
	for _, path := range []string{"/wp-json" + by.route, "/?rest_route=" + by.route} {
		tag := n.tag()
		a, err := n.fetch(ctx, g, request{method: by.method, path: path, body: body, as: as, headers: []string{"X-Request-Tag: " + tag}})
		var seen trace
		if err == nil {
			seen, err = n.readTrace(tag)
		}
		if err == nil {
			err = judge(a, &seen)
		}
		if err != nil {
			return fmt.Errorf("%s, %s %s, login %t: %w", g.Name, by.method, path, as != nil, err)
		}
	}
	return nil
}

// echoed tells why an answer is not the stand-in's, with its permission or without.
func (c *catalogued) echoed(by rowCall, a *answer) error {
	type echo struct{ Slug, Method, Route string }
	var said struct {
		echo
		Data echo `json:"data"`
	}
	want := echo{c.Slug, by.method, by.route}
	if err := json.Unmarshal(a.body, &said); err != nil || a.refused() || (said.echo != want && said.Data != want) {
		return fmt.Errorf("it does not reach the plugin: %s", a)
	}
	if closed := by.row.anonymous == plugins.Closed; said.Data == want && !closed {
		return fmt.Errorf("another route answers: %s", a)
	}
	return nil
}

// ranOfCore tells why WordPress has not run the call.
func ranOfCore(seen *trace, by rowCall, a *answer) error {
	if len(seen.dispatches) == 0 || a.refused() || string(seen.dispatches[0].Route) != by.route {
		return fmt.Errorf("it does not reach WordPress: %s, %s", seen.describe(), a)
	}
	return nil
}

// builtIn are routes that the built-in rules take from callers without a login, and whether a
// login opens them.
var builtIn = []struct {
	pattern string
	users   bool
}{
	{"/wp/v2/users", true},
	{"/wp/v2/users/*", true},
	{"/batch/v1", true},
	{"/*/troubleshooting", true},
	{"/*/v1/upload-logo", false},
	{"/*/v1/store-auth", false},
}

// builtInTakes tells whether a built-in rule takes the call from callers without a login, and
// whether it does from an administrator.
func builtInTakes(by rowCall) (anonymous, administrator bool) {
	for _, guard := range builtIn {
		if routes.MustPattern(guard.pattern).Match(by.route) {
			return true, !guard.users
		}
	}
	return false, false
}

func (c *catalogued) checkGuards(ctx context.Context, g *standinGate) {
	for _, guard := range builtIn {
		for _, method := range []string{"GET", "POST"} {
			route := strings.ReplaceAll(guard.pattern, "*", "zz")
			a, err := c.fetch(ctx, g, request{method: method, path: "/wp-json" + route})
			if err == nil && !a.refused() {
				err = fmt.Errorf("it is open: %s", a)
			}
			c.check(fmt.Sprintf("%s, guard of %s %s", g.Name, method, route), err)
		}
	}
}
