package openings

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// TestOpener_Catalogue: for each call that a plugin needs, on each platform, there is one line of
// the plugin, and the line has a rule that fits the call.
func TestOpener_Catalogue(t *testing.T) {
	for _, platform := range platforms.All() {
		o := NewOpener(platform)
		for i := range o.Needs {
			n := &o.Needs[i]
			for _, method := range n.Methods {
				all := o.Openings(Seeker{}, method, []routes.Pattern{n.Pattern}, n.Pattern.String())
				if len(all) != 2 || all[0].Need == nil || all[0].Need.Plugin != n.Plugin || all[1].Need != nil {
					t.Errorf("%s: %s %s of %s: %+v", platform.Name, method, n.Pattern.String(), n.Plugin.Slug, all)
					continue
				}
				options, err := access.ExpandLine(all[0].Line, platform)
				fits := slices.ContainsFunc(options, func(option policy.Option) bool {
					return option.Name == "allow" && len(option.Args) == 3 && slices.Contains(strings.Split(option.Args[1], ","), method) &&
						routes.MustPattern(option.Args[2]).Covers(n.Pattern)
				})
				if err != nil || !fits {
					t.Errorf("%s: %q does not open %s %s, %v", platform.Name, all[0].Line, method, n.Pattern.String(), err)
				}
			}
		}
	}
}

// TestAllowLine: the line names groups where a line without a word would open more, or other
// things.
func TestAllowLine(t *testing.T) {
	for want, groups := range map[string][]plugins.Group{
		"allow plugin woocommerce":                   {"payments", "visitors"},
		"allow plugin woocommerce for visitors":      {"visitors"},
		"allow plugin woocommerce for visitors,apps": {"apps", "visitors"},
		"allow plugin contact-form-7":                {"visitors"},
	} {
		p, err := plugins.ByName(strings.Fields(want)[2])
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AllowLine(groups...); got != want {
			t.Errorf("%q: %q, want %q", groups, got, want)
		}
		if got := p.AllowLine(); got != plugins.AllowText(p.Slug) {
			t.Error(got)
		}
	}
}

// TestOpenings_OneHome: nothing else of the program writes the beginning of such a line.
func TestOpenings_OneHome(t *testing.T) {
	made := regexp.MustCompile(`"(allow|deny) (plugin|anyone|users) ?" ?\+`)
	for file, text := range lists.Sources(t, "../..", "policies", "caddymodule") {
		if m := made.FindString(text); m != "" && !strings.HasSuffix(file, "plugins/lines.go") {
			t.Errorf("%s writes a line by itself: %s", file, m)
		}
	}
}
