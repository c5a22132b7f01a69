//go:build wordpress

package wordpress

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/policies/plugins"
)

// audited are the plugins of the shop that is audited.
var audited = []string{
	"contact-form-7", "complianz-gdpr", "woocommerce", "woo-stripe-payment", "mollie-payments-for-woocommerce", cookiePlugin,
	"wordpress-popular-posts", "burst-statistics", "mailchimp-for-wp", "sureforms", "surecart", "tutor", "ti-woocommerce-wishlist",
	"the-events-calendar",
}

// cookiePlugin is the one that gets another version.
const cookiePlugin = "real-cookie-banner"

// TestAudit audits a shop that no gateway guards. With login_only and the proposed lines each
// plugin's visitor flow passes, and whatever else the REST index has is closed. Each line is
// needed for that. Then the cookie plugin gets another version: two audits differ by exactly
// its routes.
func TestAudit(t *testing.T) {
	s := setUps(t)
	site := newShop(t, s)
	report := new(audit.Report)
	site.audit(t, report)
	if report.Gateway || len(report.Failed) > 0 || report.Totals.Anonymous.All != report.Totals.Endpoints {
		t.Errorf("without a gateway everything reaches: %+v", report.Totals)
	}
	site.checkFound(t, report)

	guarded, err := s.newStandins()
	if err != nil {
		t.Fatal(err)
	}
	lines := report.Propose
	complete := guarded.add("complete", site.bare.Set, append([]string{"login_only"}, lines...)...)
	var without []*standinGate
	for i := range lines {
		rest := slices.Delete(slices.Clone(lines), i, i+1)
		without = append(without, guarded.add(fmt.Sprintf("without-%d", i), site.bare.Set, append([]string{"login_only"}, rest...)...))
	}
	if err := guarded.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("all lines", func(t *testing.T) {
		flows, closed := site.flows(lines), site.closed(t, lines)
		t.Logf("%d lines, %d calls that visitors make, %d that nobody needs", len(lines), len(flows), len(closed))
		site.check(t, complete, flows, closed)
	})
	for i, line := range lines {
		t.Run("without "+line, func(t *testing.T) {
			t.Parallel()
			if err := site.misses(t, without[i], line, lines); err == nil {
				t.Errorf("nothing fails without the line %q", line)
			}
		})
	}
	t.Run("another version", func(t *testing.T) { site.checkVersions(t) })
}

// shop is a site with several plugins.
type shop struct {
	*standins

	bare    *standinGate
	plugins []*catalogued
	routes  []standinRoute
}

func newShop(t *testing.T, s *stack) *shop {
	t.Helper()
	n, err := s.newStandins()
	if err != nil {
		t.Fatal(err)
	}
	site := &shop{standins: n}
	for _, slug := range append([]string{core}, audited...) {
		p, err := plugins.ByName(slug)
		if err != nil {
			t.Fatal(err)
		}
		site.plugins = append(site.plugins, &catalogued{standins: n, Plugin: p})
		site.routes = append(site.routes, standinRoutes(p)...)
	}
	set, err := n.write("shop", site.routes)
	if err != nil {
		t.Fatal(err)
	}
	site.bare = n.add("shop", set)
	site.bare.Domain = "127.0.0.1" // the command must find it
	if err := n.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return site
}

// audit runs the command, away from any Caddyfile, and reads its JSON into v.
func (site *shop) audit(t *testing.T, v any, flags ...string) (text string) {
	t.Helper()
	args := append([]string{"restwarden", "audit"}, flags...)
	if v != nil {
		args = append(args, "--format", "json")
	}
	cmd, err := machine.Command(t.Context(), t.TempDir(), filepath.Join(site.dir, "caddy"), append(args, site.bare.url("/"))...)
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil && v != nil {
		err = json.Unmarshal(out, v)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &stderr, out)
	}
	return string(out)
}

// checkFound is that the report names the shop's plugins, and proposes a line for each of them
// that opens something.
func (site *shop) checkFound(t *testing.T, report *audit.Report) {
	t.Helper()
	var found, want []string
	for i := range report.Plugins {
		found = append(found, report.Plugins[i].Slug)
	}
	for _, c := range site.plugins {
		want = append(want, c.Slug)
		if c.Slug != core && !slices.Contains(report.Propose, "allow plugin "+c.Slug) { // few sites use what the core's line opens
			t.Errorf("no line opens what %s needs: %q", c.Slug, report.Propose)
		}
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) || len(want) < 13 {
		t.Errorf("found %v, want %v", found, want)
	}
}

// flow is a call that a plugin's visitors make.
type flow struct {
	of *catalogued
	by rowCall
}

// flows are the calls of all needed rows that the lines open: what a line closes again is
// risky, in a row of its own within a wider one.
func (site *shop) flows(lines []string) (flows []flow) {
	for _, c := range site.plugins {
		for _, by := range c.calls() {
			if by.row.need != nil && c.opened(by, lines) {
				flows = append(flows, flow{c, by})
			}
		}
	}
	return flows
}

// opened tells whether the lines of the plugin open a call.
func (c *catalogued) opened(by rowCall, lines []string) bool {
	if taken, _ := builtInTakes(by); taken || slices.Contains(lines, "deny plugin "+c.Slug) && c.denied(by) {
		return false
	}
	return slices.Contains(lines, "allow plugin "+c.Slug) && c.needed(by, plugins.DefaultGroups)
}

// closed are the calls of the real index that no line opens.
func (site *shop) closed(t *testing.T, lines []string) (closed []rowCall) {
	t.Helper()
	all, err := endpoints(t.Context(), &site.bare.gate)
	if err != nil || len(all) < 500 {
		t.Fatalf("%d endpoints: %v", len(all), err)
	}
	for _, e := range all {
		by := rowCall{method: e.method, route: e.path}
		as := by // a rule for GET is one for HEAD
		if as.method == "HEAD" {
			as.method = "GET"
		}
		if !slices.ContainsFunc(site.plugins, func(c *catalogued) bool { return c.opened(as, lines) }) {
			closed = append(closed, by)
		}
	}
	return closed
}

// check makes all calls, and counts them.
func (site *shop) check(t *testing.T, g *standinGate, flows []flow, closed []rowCall) {
	t.Helper()
	c := count(t)
	for _, f := range flows {
		c.check(f.of.Slug, f.of.reaches(t.Context(), g, f.by, nil))
	}
	for _, by := range closed {
		c.check("closed", site.refuses(t.Context(), g, by, "", nil))
	}
}

// misses returns the first call that goes wrong where one of the lines is missing: a flow of
// its plugin, or something that must be closed.
func (site *shop) misses(t *testing.T, g *standinGate, missing string, lines []string) error {
	t.Helper()
	for _, f := range site.flows(lines) {
		if strings.HasSuffix(missing, " plugin "+f.of.Slug) {
			if err := f.of.reaches(t.Context(), g, f.by, nil); err != nil {
				return err
			}
		}
	}
	if strings.HasPrefix(missing, "allow") {
		return nil
	}
	for _, by := range site.closed(t, lines) {
		if err := site.refuses(t.Context(), g, by, "", nil); err != nil {
			return err
		}
	}
	return nil
}

// checkVersions gives the cookie plugin a second set of routes between two audits.
func (site *shop) checkVersions(t *testing.T) {
	earlier := filepath.Join(t.TempDir(), "earlier.json")
	if err := os.WriteFile(earlier, []byte(site.audit(t, new(audit.Report))), 0o600); err != nil {
		t.Fatal(err)
	}
	none := new(audit.Diff)
	if site.audit(t, none, "--diff", earlier); len(none.Added)+len(none.Removed)+len(none.Changed) != 0 {
		t.Errorf("nothing has changed, and the difference is %+v", none)
	}
	const namespace = cookiePlugin + "/v1"
	routes := slices.DeleteFunc(slices.Clone(site.routes), func(r standinRoute) bool { return r.Namespace == namespace && r.Pattern == forNobody })
	routes = append(routes, standinRoute{cookiePlugin, namespace, "/consent/revision", []string{"GET", "POST"}, false})
	if _, err := site.write("shop", routes); err != nil {
		t.Fatal(err)
	}
	diff := new(audit.Diff)
	site.audit(t, diff, "--diff", earlier)
	added, removed := "/"+namespace+"/consent/revision", "/"+namespace+forNobody
	if err := errors.Join(
		sameEndpoints(diff.Added, "GET "+added, "POST "+added), sameEndpoints(diff.Removed, "GET "+removed, "POST "+removed),
	); err != nil || len(diff.Changed) > 0 {
		t.Errorf("%v, changed %v", err, diff.Changed)
	}
	text := site.audit(t, nil, "--diff", earlier)
	if strings.Count(text, "/v1/") != 4 || !strings.Contains(text, added) || !strings.Contains(text, removed) {
		t.Errorf("the text is\n%s", text)
	}
}

func sameEndpoints(got []audit.Endpoint, want ...string) error {
	var texts []string
	for _, e := range got {
		texts = append(texts, e.String())
	}
	if !slices.Equal(texts, want) {
		return fmt.Errorf("got %q, want %q", texts, want)
	}
	return nil
}
