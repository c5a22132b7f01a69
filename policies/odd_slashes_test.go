package policies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestNarrow: one segment of a rule stands for less than a group of the site's route with a slash,
// unless the rule, or another one, says more.
func TestNarrow(t *testing.T) {
	x := index.New([]string{
		`/`, `/wp/v2/plugins`, `/wp/v2/plugins/(?P<plugin>[^.\/]+(?:\/[^.\/]+)?)`, `/wp/v2/posts/(?P<id>[\d]+)`,
		`/wp/v2/global-styles/themes/(?P<stylesheet>[\/\s%\w\.\(\)\[\]\@_\-]+)/variations`, `/acme/v1/(?P<id>[\d]+)/files/(?P<name>[\w\/]+)`,
	}, []string{"wp/v2", "acme/v1"})
	for rules, want := range map[string]string{
		"deny /wp/v2/plugins/:plugin":                                    "write /wp/v2/plugins/**",
		"deny DELETE /wp/v2/*/:plugin":                                   "write /wp/v2/*/**",
		"allow role editor /wp/v2/plugins/*":                             "write /wp/v2/plugins/**",
		"deny /wp/v2/global-styles/themes/:theme/variations":             "write /wp/v2/global-styles/themes/**",
		"deny /acme/v1/:id/files/:name":                                  "write /acme/v1/:id/files/**",
		"allow users /wp/v2/**\ndeny /wp/v2/plugins/:plugin":             "write /wp/v2/plugins/**",
		"deny GET /wp/v2/plugins/:a/:b\ndeny /wp/v2/plugins/:a":          "write /wp/v2/plugins/**",
		"allow users /*\ndeny /:any":                                     "",
		"deny /wp/v2/plugins/**":                                         "",
		"deny /wp/v2/plugins/:a /wp/v2/plugins/:a/:b":                    "",
		"allow role editor /wp/v2/plugins/:a/:b\ndeny /wp/v2/plugins/:a": "",
		"deny /wp/v2/posts/:id":                                          "",
		"deny /wp/v2/plugins":                                            "",
		"allow anyone /wp/v2/plugins/:plugin":                            "",
	} {
		got := ""
		for _, o := range review.Narrow(chainOf(t, strings.Split(rules, "\n")...), x) {
			if o.Code != "W25" || !strings.Contains(o.Text, "misses calls such as /") {
				t.Errorf("%s: %+v", rules, o)
			}
			got += o.Do
		}
		if got != want {
			t.Errorf("%s: %q, want %q", rules, got, want)
		}
	}
}

// FuzzNarrow: no REST root makes the review of a rule fail, and what it proposes is a pattern that a rule may have.
func FuzzNarrow(f *testing.F) {
	for _, route := range []string{"/", "", "//", `/wp/v2/plugins/(?P<plugin>[^.\/]+(?:\/[^.\/]+)?)`, `/acme/v1/(?P<id>[\d]+)/files/(?P<name>[\w\/]+)`, `/(?P<any>.*)`, "/wp/v2/:plugin"} {
		for _, pattern := range []string{"/*", "/:a", "/wp/v2/plugins/*", "/acme/v1/:id/files/:name"} {
			f.Add(route, pattern)
		}
	}
	f.Fuzz(func(t *testing.T, route, pattern string) {
		if strings.ContainsAny(pattern, " \t\n\r\"{}\x00") || len(pattern) > 100 || len(route) > 200 {
			return
		}
		if _, err := policy.RuleOption(policytest.Line("deny " + pattern)); err != nil || pattern == "" {
			return
		}
		for _, o := range review.Narrow(chainOf(t, "deny "+pattern), index.New([]string{route, "/"}, []string{"wp/v2", "acme/v1"})) {
			if _, err := policy.RuleOption(policytest.Line("deny " + strings.TrimPrefix(o.Do, "write "))); err != nil {
				t.Errorf("%q, %q: %s: %v", route, pattern, o.Do, err)
			}
		}
	})
}

// TestNarrow_Routes: the routes of a site are made once, however many rules there are.
func TestNarrow_Routes(t *testing.T) {
	var keys []string
	for i := range 300 {
		keys = append(keys, fmt.Sprintf(`/acme/v1/things%d/(?P<id>[\d]+)`, i))
	}
	x := index.New(keys, []string{"acme/v1"})
	rules := make([]string, 40)
	for i := range rules {
		rules[i] = fmt.Sprintf("deny /acme/v1/none%d", i)
	}
	whole := testing.AllocsPerRun(1, func() { x.Routes() })
	for _, n := range []int{1, len(rules)} {
		chain := chainOf(t, rules[:n]...)
		if got := testing.AllocsPerRun(1, func() { review.Narrow(chain, x) }); got > whole+float64(1000*n) {
			t.Errorf("%d rules: %.0f allocations, the routes alone %.0f", n, got, whole)
		}
	}
}
