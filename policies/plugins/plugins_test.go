package plugins_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
)

// entries is how many plugins there are. A file that is not embedded changes it.
const entries = 124

// TestAll_Schema: every file is what the schema says, and is named as its slug.
func TestAll_Schema(t *testing.T) {
	schema := schemaOf(t)
	files, err := filepath.Glob("catalogue/*.json")
	if err != nil || len(files) != entries+1 || len(plugins.All()) != entries {
		t.Fatalf("%d files, %d entries, %v", len(files), len(plugins.All()), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "schema.json" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		slug := strings.TrimSuffix(filepath.Base(file), ".json")
		if p, err := plugins.ByName(slug); err != nil || p.Slug != slug {
			t.Errorf("%s: %v, %v", file, p, err)
		}
	}
}

// TestAll_SchemaRefuses: the schema finds what is wrong.
func TestAll_SchemaRefuses(t *testing.T) {
	schema := schemaOf(t)
	const good = `{"slug":"a","name":"A","versions":["1"],"sources":[{"repo":"a/b","path":"c","commit":"` +
		`0123456789012345678901234567890123456789"}],"measured":true,"needed":[{"methods":["GET"],"route":"/a/v1/*/b/**",` +
		`"caller":"visitor","why":"x","auth":"none","seen":"index"}]}`
	for from, to := range map[string]string{
		"":                     "",
		`"slug":"a"`:           `"slug":"A b"`,
		`"caller":"visitor"`:   `"caller":"anyone"`,
		`["GET"]`:              `["get"]`,
		`/a/v1/*/b/**`:         `/a/**/b`,
		`"seen":"index"`:       `"seen":"hearsay"`,
		`"auth":"none",`:       ``,
		`"why":"x"`:            `"why":" "`,
		`"measured":true`:      `"measured":"yes"`,
		`"repo":"a/b"`:         `"repo":"https://a/b"`,
		`"commit":"0123456789`: `"commit":"`,
		`"name":"A"`:           `"name":"A","risks":[]`,
		`"versions":["1"]`:     `"versions":[]`,
	} {
		text := strings.Replace(good, from, to, 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := schema.Validate(doc); (err == nil) != (from == "") {
			t.Errorf("%s for %s: %v", to, from, err)
		}
	}
}

func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("catalogue/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestAll_Names: no name stands for two plugins.
func TestAll_Names(t *testing.T) {
	seen := map[string]string{}
	for _, p := range plugins.All() {
		for _, name := range append([]string{p.Slug}, p.Aliases...) {
			if seen[name] != "" {
				t.Errorf("%s is %s and %s", name, seen[name], p.Slug)
			}
			seen[name] = p.Slug
		}
	}
}

// TestAll_Rows: every route can stand in a rule, every caller has a group, and no method
// stands twice with one route.
func TestAll_Rows(t *testing.T) {
	for _, p := range plugins.All() {
		seen := map[string]bool{}
		check := func(kind, route string, methods []string) {
			if _, err := routes.ParsePattern(route); err != nil {
				t.Errorf("%s: %v", p.Slug, err)
			}
			for _, method := range methods {
				row := kind + method + " " + route
				if seen[row] {
					t.Errorf("%s: %s twice", p.Slug, row)
				}
				seen[row] = true
			}
		}
		for _, n := range p.Needed {
			check("needed ", n.Route, n.Methods)
			if !slices.Contains(plugins.Groups, n.Caller.Group()) {
				t.Errorf("%s: nobody knows a %q", p.Slug, n.Caller)
			}
		}
		for _, r := range p.Risky {
			check("risky ", r.Route, r.Methods)
			if r.Seen == plugins.InCVE && len(r.CVE) == 0 {
				t.Errorf("%s: %s is of no CVE", p.Slug, r.Route)
			}
		}
	}
}

// TestAll_Rewrites: each rewrite rule can be an alias, and leads to a namespace of its plugin.
func TestAll_Rewrites(t *testing.T) {
	found := 0
	for _, p := range plugins.All() {
		for _, r := range p.Rewrites {
			found++
			if err := (call.Alias{Pattern: r.Pattern, Route: r.Route}).Validate(); err != nil {
				t.Errorf("%s: %v", p.Slug, err)
			}
			if !slices.ContainsFunc(p.Namespaces, func(ns plugins.Namespace) bool { return strings.HasPrefix(r.Route, "/"+ns.Name+"/") }) {
				t.Errorf("%s: %s is in no namespace of it", p.Slug, r.Route)
			}
		}
	}
	if found == 0 {
		t.Error("no plugin has any")
	}
}

// TestAll_Shared: a namespace in which two plugins have routes is marked, so that it tells of
// neither.
func TestAll_Shared(t *testing.T) {
	owners := map[string][]string{}
	for _, p := range plugins.All() {
		for _, ns := range p.Namespaces {
			owners[ns.Name] = append(owners[ns.Name], p.Slug)
		}
	}
	for _, p := range plugins.All() {
		routes := []string{}
		for _, n := range p.Needed {
			routes = append(routes, n.Route)
		}
		for _, r := range p.Risky {
			routes = append(routes, r.Route)
		}
		for _, route := range routes {
			if ns := longest(route, owners); ns != "" && !slices.Contains(owners[ns], p.Slug) {
				owners[ns] = append(owners[ns], p.Slug)
			}
		}
	}
	for _, p := range plugins.All() {
		for _, ns := range p.Namespaces {
			if len(owners[ns.Name]) > 1 && !ns.Shared {
				t.Errorf("%s: %s is of %v", p.Slug, ns.Name, owners[ns.Name])
			}
		}
	}
}

// longest returns the longest namespace that a route is in.
func longest(route string, namespaces map[string][]string) (found string) {
	for ns := range namespaces {
		if strings.HasPrefix(route+"/", "/"+ns+"/") && len(ns) > len(found) {
			found = ns
		}
	}
	return found
}

// TestAll_Narrow: what one plugin needs never opens a whole namespace of another.
func TestAll_Narrow(t *testing.T) {
	for _, p := range plugins.All() {
		for _, n := range p.Needed {
			pattern := routes.MustPattern(n.Route)
			for _, other := range plugins.All() {
				for _, ns := range other.Namespaces {
					if other != p && pattern.Covers(routes.MustPattern("/"+ns.Name+"/**")) {
						t.Errorf("%s: %s covers %s of %s", p.Slug, n.Route, ns.Name, other.Slug)
					}
				}
			}
		}
	}
}

// TestFind: a plugin is known by a namespace of its own or by routes below which only it has
// any, and a namespace of nobody is told.
func TestFind(t *testing.T) {
	found := plugins.Find(
		[]string{"oembed/1.0", "wp/v2", "Contact-Form-7/v1", "jetpack/v4", "wc/v3", "acme/v1"},
		[]string{"/", "/wc/v3/payments/charges", "/wc/v3/wc_squared", "/acme/v1/x"},
	)
	var slugs []string
	for _, p := range found.Plugins {
		slugs = append(slugs, p.Slug)
	}
	if want := []string{"contact-form-7", "woocommerce-payments", "wordpress"}; !slices.Equal(slugs, want) {
		t.Errorf("found %v", slugs)
	}
	if want := []string{"jetpack/v4", "acme/v1"}; !slices.Equal(found.Unknown, want) {
		t.Errorf("unknown %v", found.Unknown)
	}
}

// TestFind_Base: the namespaces of the core and of the shop are known, though those that
// others register routes in prove nothing.
func TestFind_Base(t *testing.T) {
	found := plugins.Find([]string{"wp/v2", "wc/v1", "wc/v2", "wc/v3", "wc-admin/v1"}, nil)
	if len(found.Plugins) > 0 || len(found.Unknown) > 0 {
		t.Errorf("%v, %v", found.Plugins, found.Unknown)
	}
	found = plugins.Find([]string{"wp-site-health/v1", "oembed/1.0", "wc/store", "wc/private", "wc-telemetry", "wc-analytics", "wc-admin-email", "wccom-site/v3", "wp-fake/v1"}, nil)
	if len(found.Plugins) != 2 || !slices.Equal(found.Unknown, []string{"wp-fake/v1"}) {
		t.Errorf("%v, %v", found.Plugins, found.Unknown)
	}
}

// TestFind_Shop: the namespaces that a shop without other plugins lists are known, also those of
// libraries that it brings along. Without a shop these are of somebody else.
func TestFind_Shop(t *testing.T) {
	libraries := []string{"jetpack/v4", "mcp"}
	shop := append([]string{"wp/v2", "wc/v3", "wc/store/v1", "wc/v4", "wc/agentic/v1", "wc/pos/v1", "wc/pos/v1/catalog", "woocommerce"}, libraries...)
	if found := plugins.Find(shop, nil); len(found.Unknown) > 0 {
		t.Errorf("unknown: %v", found.Unknown)
	}
	if found := plugins.Find(append([]string{"wp/v2"}, libraries...), nil); !slices.Equal(found.Unknown, libraries) {
		t.Errorf("without a shop: %v", found.Unknown)
	}
}

// TestByName: a name counts in any case, and a wrong one names the nearest.
func TestByName(t *testing.T) {
	for name, want := range map[string]string{"CF7": "contact-form-7", "contact-form-7": "contact-form-7", "yoast": "wordpress-seo", "core": "wordpress"} {
		if p, err := plugins.ByName(name); err != nil || p.Slug != want {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for name, want := range map[string]string{
		"contact-form7": `the catalogue has no plugin "contact-form7": did you mean contact-form-7?`,
		"complianz-gdp": `the catalogue has no plugin "complianz-gdp": did you mean complianz-gdpr?`,
		"qqqqqqqq":      `the catalogue has no plugin "qqqqqqqq": caddy restwarden plugins lists them`,
		"cf7,events":    `the catalogue has no plugin "cf7,events": names are separated by spaces`,
		"Stripe":        `the catalogue has no plugin "Stripe": did you mean woo-stripe-payment, woocommerce-gateway-stripe?`,
		"":              `the catalogue has no plugin "": caddy restwarden plugins lists them`,
	} {
		if _, err := plugins.ByName(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAll_Sorted: the catalogue is sorted by slug, not by the names of files.
func TestAll_Sorted(t *testing.T) {
	if !slices.IsSortedFunc(plugins.All(), func(a, b *plugins.Plugin) int { return strings.Compare(a.Slug, b.Slug) }) {
		t.Error("the catalogue is not sorted")
	}
}
