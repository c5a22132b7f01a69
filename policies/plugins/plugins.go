// Package plugins is the catalogue: what plugins of the platform need open to callers who
// are not logged in, and what of theirs is risky.
//
// It is one embedded file a plugin, catalogue/<slug>.json, and catalogue/schema.json says
// what may stand in one. A file is a union over the releases that were read: a route that a
// release no longer has costs nothing. Nothing is opened because a plugin is there: only a
// line `allow plugin` of the site's owner does that.
package plugins

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/restwarden/restwarden/policies/typo"
)

// Plugin is one entry of the catalogue.
type Plugin struct {
	// Slug is the name of the plugin's directory on wordpress.org, or the one that it
	// installs itself in. The core is "wordpress".
	Slug    string   `json:"slug"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Namespaces are those that the plugin registers.
	Namespaces []Namespace `json:"namespaces,omitempty"`
	// Detect are routes below which only this plugin registers any, "/wc/v3/payments".
	Detect []string `json:"detect,omitempty"`
	// Rewrites are the plugin's rewrite rules that make calls of other paths, as aliases.
	Rewrites []Rewrite `json:"rewrites,omitempty"`
	// Versions were read, and Sources are what was read of them.
	Versions []string `json:"versions"`
	Sources  []Source `json:"sources"`
	// Measured tells that the plugin was also started and asked.
	Measured bool   `json:"measured"`
	Notes    string `json:"notes,omitempty"`
	Needed   []Need `json:"needed,omitempty"`
	Risky    []Risk `json:"risky,omitempty"`
}

// Namespace is a namespace of the REST interface, "contact-form-7/v1".
type Namespace struct {
	Name string `json:"name"`
	// Shared tells that other plugins register routes in it, too.
	Shared bool `json:"shared,omitempty"`
	// Conditional tells that only some settings of the plugin register it.
	Conditional bool `json:"conditional,omitempty"`
	// Bundled tells that a library registers it, which the plugin brings along, as others do.
	Bundled bool `json:"bundled,omitempty"`
}

// Source is a file of the plugin's source.
type Source struct {
	Repo   string `json:"repo"` // "owner/name"
	Path   string `json:"path"`
	Commit string `json:"commit"`
}

// Rewrite is a rewrite rule to rest_route: its pattern, and the route with $1 to $9.
type Rewrite struct {
	Pattern string `json:"pattern"`
	Route   string `json:"route"`
}

// Need is a route that callers without a login need.
type Need struct {
	Methods []string `json:"methods"`
	Route   string   `json:"route"` // as in a rule
	Caller  Caller   `json:"caller"`
	Why     string   `json:"why"`  // what it is for, and what breaks without it
	Auth    string   `json:"auth"` // how the plugin knows the caller
	// Since is the release that first has the route, as far as the source tells.
	Since string `json:"since,omitempty"`
	// Optional tells that few sites use it.
	Optional bool `json:"optional,omitempty"`
	Seen     Seen `json:"seen"`
	// Anonymous is what a started site answered to a caller without a login.
	Anonymous Anonymous `json:"anonymous,omitempty"`
	// Signature is how the caller signs, where the policy signature can check it.
	Signature *Signature `json:"signature,omitempty"`
	// Limit is how often one address may call, "10/1m"; it is set where a password is tried.
	Limit string `json:"limit,omitempty"`
}

// Signature is a scheme of the policy signature.
type Signature struct {
	Scheme    string `json:"scheme"`
	Tolerance string `json:"tolerance,omitempty"`
}

// Risk is a route that no caller without a login should reach.
type Risk struct {
	Methods []string `json:"methods"`
	Route   string   `json:"route"`
	Why     string   `json:"why"`
	CVE     []CVE    `json:"cve,omitempty"`
	Since   string   `json:"since,omitempty"`
	// Scope says where the hole of a route of the core is: in "any route", or in this "core
	// route".
	Scope     string    `json:"scope,omitempty"`
	Seen      Seen      `json:"seen"`
	Anonymous Anonymous `json:"anonymous,omitempty"`
}

// CVE is a published hole of a route, and the versions that have it.
type CVE struct {
	ID       string `json:"id"`
	Versions string `json:"versions"`
}

// Caller is who calls a route.
type Caller string

// Group is the word for callers in `allow plugin … for`.
type Group string

// Seen says how sure a row is.
type Seen string

// The kinds of evidence: a started site listed the route, it was read in the source, or it
// is the route of a published hole.
const (
	InIndex  Seen = "index"
	InSource Seen = "source"
	InCVE    Seen = "cve"
)

// Anonymous is what a caller without a login met on a started site.
type Anonymous string

// What the permission stage of a route did: let anyone past, nobody, or it depends.
const (
	Open      Anonymous = "open"
	Closed    Anonymous = "closed"
	Undecided Anonymous = "undecided"
)

// groups are the groups of the callers. Someone who reads a mail of the site is a visitor.
var groups = map[Caller]Group{
	"visitor": "visitors", "mail reader": "visitors", "payment provider": "payments",
	"plugin vendor's service": "services", "other site": "sites", "app": "apps",
	"owner's browser": "setup", "the site itself": "setup",
}

// Groups are all groups. DefaultGroups are those for which `allow plugin` opens without a
// word: apps and setup, which few sites need, must be named.
var (
	Groups        = []Group{"visitors", "payments", "services", "sites", "apps", "setup"}
	DefaultGroups = Groups[:4]
)

// Group returns the group of a caller.
func (c Caller) Group() Group { return groups[c] }

//go:embed catalogue/*.json
var files embed.FS

// schemaFile describes the other files.
const schemaFile = "schema.json"

// catalogue reads the files once. They are part of the program: an error is a mistake in it.
var catalogue = sync.OnceValue(func() []*Plugin {
	entries, err := files.ReadDir("catalogue")
	must(err)
	var all []*Plugin
	for _, e := range entries {
		if e.Name() == schemaFile {
			continue
		}
		text, err := files.ReadFile(path.Join("catalogue", e.Name()))
		must(err)
		p := new(Plugin)
		must(json.Unmarshal(text, p))
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Plugin) int { return strings.Compare(a.Slug, b.Slug) })
	return all
})

func must(err error) {
	if err != nil {
		panic("plugins: " + err.Error())
	}
}

// All returns the catalogue, sorted by slug. It belongs to the package.
func All() []*Plugin { return catalogue() }

// ByName returns the plugin of a slug or an alias, in any case. The error names the nearest,
// or those that have the word in a name: owners know a brand, not its plugin's directory.
func ByName(name string) (*Plugin, error) {
	var names []string
	for _, p := range All() {
		own := append([]string{p.Slug}, p.Aliases...)
		if slices.Contains(own, strings.ToLower(name)) {
			return p, nil
		}
		names = append(names, own...)
	}
	hint := typo.Hint(name, names...)
	switch with := having(name); {
	case strings.Contains(name, ","):
		hint = "names are separated by spaces"
	case hint != "":
	case len(with) > 0:
		hint = "did you mean " + strings.Join(with, ", ") + "?"
	default:
		hint = "caddy restwarden plugins lists them"
	}
	return nil, fmt.Errorf("the catalogue has no plugin %q: %s", name, hint)
}

// having returns the slugs of the plugins that have a word in one of their names, at most five.
func having(word string) (slugs []string) {
	word = strings.ToLower(strings.TrimSpace(word))
	for _, p := range All() {
		names := append([]string{p.Slug, p.Name}, p.Aliases...)
		has := func(name string) bool { return strings.Contains(strings.ToLower(name), word) }
		if len(word) >= 3 && len(slugs) < 5 && slices.ContainsFunc(names, has) {
			slugs = append(slugs, p.Slug)
		}
	}
	return slugs
}
