package index

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/routes"
)

var (
	someNamespaces = []string{"oembed/1.0", "contact-form-7/v1", "wp/v2", "wc/v3", "edd"}
	someRoutes     = []string{
		"/", "/batch/v1", "/oembed/1.0", "/oembed/1.0/embed",
		"/contact-form-7/v1", "/contact-form-7/v1/contact-forms/(?P<id>\\d+)/feedback",
		"/wp/v2", "/wp/v2/posts", "/wp/v2/posts/(?P<id>[\\d]+)", "/wp/v2/posts/(?P<parent>[\\d]+)/revisions/(?P<id>[\\d]+)",
		`/wp/v2/templates/(?P<id>([^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)[\/\w%-]+)`,
		"/wc/v3/orders/(?P<id>[\\d]+)", "/wc/v3/reports/([^/]+)", "/wc/v3/getItems/?", "/wc/v3/log/[a-z]+-\\d+",
		"/wc/v3/opt(?:/(?P<id>\\d+))?", "/wc/v3/(?:cat|tag)/(?P<slug>[\\w-]+)", "/wc/v3/(?P<kind>cats|tags)",
		"/wc/v3/x/(?!y)z", "/wc/v3/x/(?P<any>.+)", "/wc/v3/odd/%20 é", "/wc/v3/at@x", "/wc/v3/per%20cent",
		"/edd/(?P<a>\\d{1,3})(?:,(?P<b>\\d+))*",
	}
)

func TestIndex_Pattern(t *testing.T) {
	x := New(someRoutes, someNamespaces)
	for route, want := range map[string]string{
		"/batch/v1":         "/batch/v1",
		"/oembed/1.0/embed": "/oembed/1.0/embed",
		"/contact-form-7/v1/contact-forms/5/feedback": "/contact-form-7/v1/contact-forms/:id/feedback",
		"/contact-form-7/v1/contact-forms/x/feedback": "",
		"/wp/v2":                       "/wp/v2",
		"/wp/v2/posts":                 "/wp/v2/posts",
		"/WP/v2/POSTS":                 "/wp/v2/posts",
		"/wp/v2/posts/17":              "/wp/v2/posts/:id",
		"/wp/v2/posts/17/revisions/4":  "/wp/v2/posts/:parent/revisions/:id",
		"/wp/v2/posts/secret":          "",
		"/wp/v2/posts/17/":             "",
		"/wp/v2/posts/17\n":            "",
		"/wp/v2/templates/theme//home": "/wp/v2/templates/:id",
		"/wc/v3/orders/7":              "/wc/v3/orders/:id",
		"/wc/v3/reports/sales":         "/wc/v3/reports/*",
		"/wc/v3/getitems":              "/wc/v3/getItems",
		"/wc/v3/getItems/":             "/wc/v3/getItems",
		"/wc/v3/log/a-1":               "/wc/v3/log/*-*",
		"/wc/v3/opt":                   "/wc/v3/opt[/:id]",
		"/wc/v3/opt/4":                 "/wc/v3/opt[/:id]",
		"/wc/v3/tag/x":                 "/wc/v3/(cat|tag)/:slug",
		"/wc/v3/cats":                  "/wc/v3/:kind",
		"/wc/v3/x/z":                   "", // an opaque pattern stands before the one that fits
		"/wc/v3/odd/1":                 "",
		"/wc/v3/at@x":                  "",
		"/wc/v3/per%20cent":            "/wc/v3/per_20cent",
		"/edd/1,2,3":                   "/edd/:a*",
		"/edd":                         "",
		"/":                            "/",
		"":                             "",
		"/nobody/v1/knows":             "",
		"/wp/v2x":                      "",
		"//wp/v2/posts":                "",
		"/wp/v2/" + strings.Repeat("x", maxRoute): "",
	} {
		got, ok := x.Pattern(route)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v; want %q", route, got, ok, want)
		}
	}
	if !x.Lists("wp/v2") || x.Lists("WP/v2") || x.Lists("wp") || x.Lists("") || x.Lists("wp/v2/posts") {
		t.Error("lists other namespaces")
	}
	var none *Index
	if none.Lists("wp/v2") {
		t.Error("no index lists a namespace")
	}
	if name, ok := none.Pattern("/wp/v2/posts"); ok || name != "" {
		t.Errorf("no index says %q", name)
	}
}

func TestKnown(t *testing.T) {
	for route, want := range map[string]string{
		"/wp/v2/users/admin": "wp/v2", "/WC/V3/orders/7": "wc/v3", "/shop/v3/orders": "shop/v3", "/wc/store/v1/cart": "wc/store/v1",
		"/secret/v1/x": "unknown", "": "unknown", "/": "unknown", "/wp/v2": "wp/v2", "/wp/v2x": "unknown", "/contact-form-7/v1/x": "contact-form-7/v1",
	} {
		if got := Known(route); got != want {
			t.Errorf("%q is of %q, want %q", route, got, want)
		}
	}
}

// TestIndex_Worded: a line has a word only where a route has a named group.
func TestIndex_Worded(t *testing.T) {
	t.Parallel()
	x := New([]string{
		`/wp/v2/posts`, `/wp/v2/posts/(?P<id>[\d]+)`, `/wp/v2/plugins/(?P<plugin>[^.\/]+(?:\/[^.\/]+)?)`,
		`/wp/v2/users/(?P<user_id>(?:[\d]+|me))/application-passwords/(?P<uuid>[\w\-]+)`, `/acme/v1/(?P<gateway>[a-z]+)/back`, "", `(?P<opaque`,
	}, []string{"wp/v2", "acme/v1"})
	for line, want := range map[string]bool{
		"/wp/v2/posts": false, "/wp/v2/posts/*": false, "/wp/v2/**": false, "/**": false,
		"/wp/v2/plugins/*": false, "/wp/v2/plugins/hello": true, "/wp/v2/plugins/hello/**": true, "/wp/v2/plugins/*/hello": true,
		"/wp/v2/users/me/application-passwords/*": true, "/wp/v2/users/:id/application-passwords/*": false,
		"/acme/v1/stripe/**": true, "/acme/v1/*/back": false, "/acme/v1/stripe": false, "/other/v1/hello": false,
	} {
		p, err := routes.ParsePattern(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Worded(&p); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
