package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// smallSite is the root of a site with a form plugin. Its last route cannot be read.
const smallSite = `{"namespaces":["wp/v2","contact-form-7/v1","acme/v1","odd/v1"],"routes":{"/":{},"/wp/v2/posts":{},"/wp/v2/posts/(?P<id>[\\d]+)":{},
	"/contact-form-7/v1/contact-forms/(?P<id>\\d+)/feedback":{},"/acme/v1/(?P<slug>[a-z-]+)/notes":{},"/odd/v1/(?=a)x":{}}}`

func installedAs(t *testing.T, root string) *review.Installed {
	t.Helper()
	read, err := index.ParseRoot([]byte(root))
	if err != nil {
		t.Fatal(err)
	}
	x := review.NewInstalled(read)
	if x == nil {
		t.Fatal("nothing is installed")
	}
	return x
}

// TestOddOn: routes, plugins and roles that a site does not have, each with a near one. What
// cannot be read may be anything that begins like it.
func TestOddOn(t *testing.T) {
	site := installedAs(t, smallSite)
	for lines, want := range map[string]string{
		"login_only; allow anyone POST /acme/v1/note":               "W15:2",
		"login_only; allow anyone POST /contact-forms-7/v1/**":      "W15:2",
		"login_only; allow anyone /acme/v1/my-1/notes":              "W15:2", // no digit in the site's pattern
		"login_only; allow anyone /wp/v2/posts/*/revisions":         "W15:2",
		"deny /wp/v2/pages /wp/v2/posts":                            "W15:1",
		"rate_limit 5/1m POST /acme/v1/login":                       "W15:1",
		"strip_query lang /wp/v2/pages":                             "W15:1",
		"redact /wp/v2/media secret":                                "W15:1",
		"login_only; allow plugin complianz-gdpr":                   "W15:2",
		"deny plugin buddypress; login_only":                        "W15:1",
		"login_only; allow plugin complianz-gdpr buddypress":        "W15:2 W15:2", //nolint:dupword // two plugins of one line
		"login_only; allow role editr /wp/v2/posts":                 "W15:2",
		"login_only; allow role Editor /wp/v2/posts":                "W15:2",
		"login_only; allow role editor,shop-manager /wp/v2/posts":   "W15:2",
		"login_only; allow role admin /wp/v2/posts":                 "W15:2",
		"login_only; allow anyone /**; allow plugin complianz-gdpr": "W04:3 W15:3",
		"login_only; allow anyone /x; allow role editr /y":          "W15:2 W15:3 W15:3", //nolint:dupword // the route and the role

		"login_only; allow anyone POST /acme/v1/*/notes":                                          "",
		"login_only; allow anyone POST /ACME/v1/:name/Notes":                                      "",
		"login_only; allow anyone /acme/v1/my-own/notes":                                          "",
		"login_only; allow anyone /; allow users /*/*/posts/:id":                                  "",
		"login_only; allow anyone /acme/**":                                                       "",
		"deny /odd/v1/anything /odd/**":                                                           "", // it may be the route that cannot be read
		"rate_limit 5/1m /wp/v2/posts; strip_query lang /wp/v2/posts; redact /wp/v2/posts secret": "",
		"login_only; allow plugin contact-form-7":                                                 "",
		"login_only; allow plugin jwt-authentication-for-wp-rest-api for apps":                    "W15:2",
		"login_only; allow plugin polylang":                                                       "W17:2", // nothing tells whether it is there
		"login_only; allow role editor,co-author /wp/v2/posts":                                    "",
		"login_only; allow role vendor,wholesale /wp/v2/posts":                                    "",
		"login_only; allow users /wp/v2/posts; recommended on":                                    "W05:2",
	} {
		c := chainOf(t, strings.Split(lines, "; ")...)
		odd := review.OddOn(c, site)
		if got := policytest.Codes(odd); got != want {
			t.Errorf("%s: got %q, want %q: %+v", lines, got, want, odd)
		}
		if strings.Contains(policytest.Codes(review.OddIn(c)), "W15") {
			t.Errorf("%s: nobody knows the site", lines)
		}
	}
}

// TestOddOn_Opaque: a route that cannot be read makes nothing certain.
func TestOddOn_Opaque(t *testing.T) {
	site := installedAs(t, `{"namespaces":["a/v1"],"routes":{"/":{},"/(?=a)x":{}}}`)
	if odd := review.OddOn(chainOf(t, "login_only", "allow anyone /x/y", "allow plugin complianz-gdpr"), site); policytest.Codes(odd) != "" {
		t.Errorf("%+v", odd)
	}
	read, _ := index.ParseRoot([]byte(`{"namespaces":[],"routes":[]}`))
	if review.NewInstalled(read) != nil {
		t.Error("an empty root tells something")
	}
}

// TestOddOn_Roles: where the site says who has a role, a name says nothing.
func TestOddOn_Roles(t *testing.T) {
	site := installedAs(t, smallSite)
	var asked []string
	site.Has = func(role string) (has, known bool) {
		asked = append(asked, role)
		return role == "editr", role != "silent" && role != "authr"
	}
	c := chainOf(t, "login_only", "allow role editr,wholesale,silent,authr,editor /wp/v2/posts")
	odd := review.OddOn(c, site)
	var texts []string
	for _, o := range odd {
		texts = append(texts, o.Text)
	}
	const rule = "allow role editr,wholesale,silent,authr,editor /wp/v2/posts names the role "
	if want := []string{rule + "wholesale, which nobody on the site has", rule + "authr, which neither the core nor the shop has: did you mean author?"}; !slices.Equal(texts, want) {
		t.Errorf("%q", texts)
	}
	if !slices.Equal(asked, []string{"editr", "wholesale", "silent", "authr"}) {
		t.Errorf("asked for %v", asked)
	}
}

// TestOddOn_Texts: a line is named as written, and each missing route once.
func TestOddOn_Texts(t *testing.T) {
	odd := review.OddOn(chainOf(t, "deny /x /wp/v2/posts /y", "rate_limit 5/1m POST /z", "allow plugin complianz-gdpr for visitors"), installedAs(t, smallSite))
	want := []string{
		"deny /x /wp/v2/posts /y names /x and /y, which the REST root of the site does not list: mend the route, or remove the line",
		"allow plugin complianz-gdpr for visitors: the REST root of the site lists nothing of Complianz: mend the name, or remove the line",
		"rate_limit 5/1m POST /z names /z, which the REST root of the site does not list: mend the route, or remove the line",
	}
	var got []string
	for _, o := range odd {
		if o.Code == "W15" {
			got = append(got, o.Text+": "+o.Do)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestOddOn_Risk: with a root W16 is about what the site has, its own hidden routes included.
func TestOddOn_Risk(t *testing.T) {
	const risky = "allow anyone POST /learnpress/v1/**"
	c := chainOf(t, "login_only", risky)
	if policytest.Codes(review.OddIn(c)) != "W16:2" {
		t.Fatalf("%+v", review.OddIn(c))
	}
	for root, want := range map[string]string{
		`{"namespaces":["learnpress/v1"],"routes":{"/":{},"/learnpress/v1/x":{}}}`: "W16:2", // the plugin is there
		`{"namespaces":["other/v1"],"routes":{"/":{},"/learnpress/v1/x":{}}}`:      "",      // something else
		`{"namespaces":["other/v1"],"routes":{"/":{},"/learnpress/v1/(?=a)x":{}}}`: "W16:2", // perhaps
		`{"namespaces":["wp/v2"],"routes":{"/":{}}}`:                               "W15:2",
	} {
		if odd := review.OddOn(c, installedAs(t, root)); policytest.Codes(odd) != want {
			t.Errorf("%s: %+v", root, odd)
		}
	}
}

// TestOddPlugins_Words: W16 names the line to write, or says that no line is needed, and a line
// for a plugin that is not there has W15 alone.
func TestOddPlugins_Words(t *testing.T) {
	for rule, want := range map[string]string{
		"allow anyone POST /elementor/v1/**": "remove the line, since",
		"allow anyone POST /**":              "as in allow plugin ",
		"allow plugin bbpress":               "the line may stay",
	} {
		odd := review.OddIn(chainOf(t, "login_only", rule))
		if len(odd) != 1 || !strings.Contains(odd[0].Do, want) || strings.HasSuffix(odd[0].Do, "plugin") || strings.Contains(odd[0].Do+odd[0].Text, ": ") && odd[0].Code == "W16" {
			t.Errorf("%s: %+v", rule, odd)
		}
	}
	const root = `{"namespaces":["wp/v2"],"routes":{"/":{},"/wp/v2/posts":{}}}`
	if odd := review.OddOn(chainOf(t, "login_only", "deny plugin mollie-payments-for-woocommerce"), installedAs(t, root)); policytest.Codes(odd) != "W15:2" {
		t.Errorf("%+v", odd)
	}
}
