package plugins_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
)

// The pages that owners copy from, and those of other things than plugins.
var (
	pages    = []string{"README.md", "Caddyfile.example", "docs"}
	excepted = []string{"docs/project/interface.md", "docs/project/reference-platform.md", "docs/platform"}
)

// madeUp are namespaces of nobody, which examples may use: of own plugins of a site, of the
// plugins that the interface document describes (docs/project/interface E13 and E14), and of letters.
var madeUp = []string{"acme/v1", "acme/v1.0", "bookings/v1", "forms/v1", "newsletter/v1", "old-plugin/v1", "cookie/v1", "canary/v1"}

// routeWritten finds routes with a version: in rules, in JSON, in addresses and in prose.
var routeWritten = regexp.MustCompile(`(?:wp-json|rest_route=|[\s"'\x60(\[|,])/([a-z][a-z0-9_-]*/v?[0-9]+(?:\.[0-9]+)?)((?:/[a-zA-Z0-9_:*.-]+)*)`)

// TestDocs_Routes: an example of the documentation names no route that exists nowhere. A route
// in a namespace of a plugin is a row of the catalogue, and a namespace is a plugin's, the
// platform's, one that is known to be made up, or one of the measured servers for agents.
func TestDocs_Routes(t *testing.T) {
	found := map[string]bool{}
	for file, text := range documents(t) {
		for _, m := range routeWritten.FindAllStringSubmatch(text, -1) {
			namespace, route := m[1], "/"+m[1]+strings.TrimRight(m[2], ".")
			if why := unknown(namespace, route); why != "" {
				t.Errorf("%s: %s: %s", file, route, why)
			}
			found[route] = true
		}
	}
	for _, route := range []string{"/complianz/v1/track", "/wc-stripe/v1/webhook", "/wp/v2/users", "/cookie/v1/store-auth"} {
		if !found[route] {
			t.Errorf("the documentation has %s, and the test does not see it", route)
		}
	}
}

// TestDocs_RoutesUnknown: the test above finds what exists nowhere.
func TestDocs_RoutesUnknown(t *testing.T) {
	for route, known := range map[string]bool{
		"/complianz/v1/consent": false, "/stripe/v1/notify": false, "/complianz/v1/track": true, "/complianz/v1/**": true,
		"/contact-form-7/v1/contact-forms/5/feedback": true, "/contact-form-7/v1/contact-forms/:id/feedback": true,
		"/contact-form-7/v1/contact-forms/5": false, "/wc/v3/orders/7": true, "/wp/v2/posts": true, "/acme/v1/x": true,
	} {
		namespace := strings.Join(strings.Split(route, "/")[1:3], "/")
		if why := unknown(namespace, route); (why == "") != known {
			t.Errorf("%s: %q", route, why)
		}
	}
}

// facts is the page of measured facts about servers for agents.
var facts = sync.OnceValue(func() string {
	text, err := os.ReadFile("../../docs/platform/agents.md")
	if err != nil {
		panic(err)
	}
	return string(text)
})

// unknown tells why a route exists nowhere, or "".
func unknown(namespace, route string) string {
	if written := strings.TrimRight(strings.TrimSuffix(route, "/**"), "*:/"); strings.Contains(facts(), written+"`") || strings.Contains(facts(), written+"/") {
		return ""
	}
	names, _ := platforms.ByName("wordpress")
	first, _, _ := strings.Cut(namespace, "/")
	own := []string{names.Core, names.Checkout, names.Analytics, names.Abilities, "batch/v1", "oembed/1.0", "wp-block-editor/v1", "wc/v1", "wc/v2", "wc/v3", "wc/store"}
	if first == "wc" || slices.Contains(own, namespace) || slices.Contains(madeUp, namespace) {
		return ""
	}
	var of []string
	for _, p := range plugins.All() {
		if slices.ContainsFunc(routesOf(p), func(row string) bool { return meets(row, route) }) {
			return ""
		}
		if slices.ContainsFunc(p.Namespaces, func(ns plugins.Namespace) bool { return strings.EqualFold(ns.Name, namespace) }) {
			of = append(of, p.Slug)
		}
	}
	if len(of) > 0 {
		return "no row of " + strings.Join(of, " or ")
	}
	return "nobody has this namespace"
}

func routesOf(p *plugins.Plugin) (routes []string) {
	for i := range p.Needed {
		routes = append(routes, p.Needed[i].Route)
	}
	for i := range p.Risky {
		routes = append(routes, p.Risky[i].Route)
	}
	return routes
}

// meets tells whether a written route is one of a row, or covers the row, as the namespace
// alone does.
func meets(row, written string) bool {
	literal := regexp.MustCompile(`/([0-9]+|:[a-zA-Z0-9_]+)(/|$)`).ReplaceAllString(written, "/zz$2")
	if !strings.Contains(literal, "*") && routes.MustPattern(row).Match(strings.ToLower(literal)) {
		return true
	}
	base := strings.TrimSuffix(strings.TrimSuffix(written, "/**"), "/*")
	wide := base != written || strings.Count(written, "/") == 2 || strings.EqualFold(row, written)
	return wide && isBelow(strings.ToLower(row), strings.ToLower(base))
}

func isBelow(route, base string) bool {
	rest, ok := strings.CutPrefix(route, base)
	return ok && (rest == "" || rest[0] == '/')
}

// documents returns the pages by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root, texts := os.DirFS("../.."), map[string]string{}
	for _, page := range pages {
		err := fs.WalkDir(root, page, func(name string, entry fs.DirEntry, err error) error {
			switch except := slices.Contains(excepted, name); {
			case err != nil:
				return err
			case except && entry.IsDir():
				return fs.SkipDir
			case except, !slices.Contains([]string{".md", ".example", ".yaml"}, path.Ext(name)):
				return nil
			}
			text, err := fs.ReadFile(root, name)
			texts[name] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
