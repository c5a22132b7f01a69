package platforms

import (
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Platform holds the names that one content platform uses on the wire (docs/project/interface,
// naming convention). Prefix, namespaces and routes have no leading or trailing slash.
type Platform struct {
	Name        string   // the word in the directive: "cms" or "wordpress"
	Prefix      string   // first segment of the pretty form
	Core        string   // core namespace
	Shop        []string // shop namespaces v1, v2, v3, in this order
	Checkout    string   // public checkout API; its old address, without the version at the end, is the same in keys
	Analytics   string   // analytics namespace of the shop
	Abilities   string   // abilities namespace
	MCP         string   // route of the shop's tool server
	ErrorPrefix string   // what the shop's error codes begin with
	NonceHeader string   // canonical name of the nonce header
	NonceParam  string   // the nonce as a query or form variable
	AuthCookie  string   // what the names of all cookies that log somebody in begin with
	KeyMarker   string   // raw text that makes a shop key valid on any route (docs/platform III.8)

	// The two scripts of the admin screens that take large forms, as paths below the
	// base. The first one also gives a user who is logged in a nonce.
	AjaxScript, UploadScript string
	// What the platform writes into the headers for scripts of other origins: the nonce
	// header in its own spelling, and the headers that such scripts may read.
	AllowedNonce, ExposedHeaders string
}

// platforms is the table of names: all that differs between the platforms.
var platforms = []Platform{
	{
		Name: "cms", Prefix: "cms-json", Core: "cms/v2",
		Shop:      []string{"shop/v1", "shop/v2", "shop/v3"},
		Checkout:  "shop/store/v1",
		Analytics: "shop-analytics", Abilities: "cms-abilities/v1", MCP: "shop/mcp",
		ErrorPrefix: "shop_rest_", NonceHeader: "X-Cms-Nonce", NonceParam: "_cmsnonce",
		AuthCookie: "cms_", KeyMarker: "cms-json/shop",
		AjaxScript: "/cms-admin/admin-ajax.php", UploadScript: "/cms-admin/async-upload.php",
		AllowedNonce: "X-CMS-Nonce", ExposedHeaders: "X-CMS-Total, X-CMS-TotalPages, Link",
	},
	{
		Name: "wordpress", Prefix: "wp-json", Core: "wp/v2",
		Shop:      []string{"wc/v1", "wc/v2", "wc/v3"},
		Checkout:  "wc/store/v1",
		Analytics: "wc-analytics", Abilities: "wp-abilities/v1", MCP: "woocommerce/mcp",
		ErrorPrefix: "woocommerce_rest_", NonceHeader: "X-Wp-Nonce", NonceParam: "_wpnonce",
		AuthCookie: "wordpress_", KeyMarker: "wp-json/wc",
		AjaxScript: "/wp-admin/admin-ajax.php", UploadScript: "/wp-admin/async-upload.php",
		AllowedNonce: "X-WP-Nonce", ExposedHeaders: "X-WP-Total, X-WP-TotalPages, Link",
	},
}

// All returns the names of all platforms, in the order of the table.
func All() []Platform { return slices.Clone(platforms) }

// ByName returns the names of one platform, "cms" or "wordpress"; ok is false
// for any other word.
func ByName(name string) (p Platform, ok bool) {
	i := slices.IndexFunc(platforms, func(p Platform) bool { return p.Name == name })
	if i < 0 {
		return Platform{}, false
	}
	return platforms[i], true
}

// Names returns the words for the platforms in the directive, in the order of the table.
func Names() []string {
	names := make([]string, len(platforms))
	for i := range platforms {
		names[i] = platforms[i].Name
	}
	return names
}

// List returns the words for the platforms for a message, with a conjunction before the
// last one: "cms or wordpress".
func List(conjunction string) string {
	names := Names()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// TotalHeader is the header in which each list of the platform says how many records there are.
func (p *Platform) TotalHeader() string {
	header, _, _ := strings.Cut(p.ExposedHeaders, ",")
	return header
}

// ShopWord is what the names of the shop's namespaces begin with, and those of plugins for
// it.
func (p *Platform) ShopWord() string {
	_, word, _ := strings.Cut(p.KeyMarker, "/")
	return word
}

// LoginCookie is what the names of the front end's login cookies begin with.
func (p *Platform) LoginCookie() string { return p.AuthCookie + "logged_in_" }

// LogsIn tells whether a cookie, "name=value", may log somebody in. Such are the cookie
// of the front end (…logged_in_…) and those of the admin screens, which the platform
// believes on any path. One cookie of that name only tests whether cookies work.
func (p *Platform) LogsIn(cookie string) bool {
	rest, ok := strings.CutPrefix(cookie, p.AuthCookie)
	return ok && !strings.HasPrefix(rest, "test_cookie=")
}

// ForeignPrefixes returns the prefixes of the other platforms, without those that the site
// itself has.
func ForeignPrefixes(platform string, own []string) []string {
	var prefixes []string
	for i := range platforms {
		if p := &platforms[i]; p.Name != platform && !slices.Contains(own, p.Prefix) {
			prefixes = append(prefixes, p.Prefix)
		}
	}
	return prefixes
}

// templates are the routes below a namespace for one template of the block editor.
var templates = regexp.MustCompile(`^template(-part)?s/[^/]`)

// anyCore is a namespace like that of a core: plugins register the editor's routes too.
var anyCore = regexp.MustCompile(`^[a-z]+/v2/`)

// IsTemplate tells whether a route is that of one template of the block editor, whose id
// holds "//": "/wp/v2/templates/theme//home".
func IsTemplate(route string) bool {
	key, slash := strings.CutPrefix(phpvars.Lower(route), "/")
	if !slash || !strings.Contains(key, "//") {
		return false
	}
	return templates.MatchString(key[len(anyCore.FindString(key)):]) || slices.ContainsFunc(platforms, func(p Platform) bool {
		rest, ok := CutNamespace(key, p.Core)
		return ok && templates.MatchString(strings.TrimPrefix(rest, "/"))
	})
}

// Versioned gives a key under the checkout API's old address, which has no version, the
// version that it stands for: both are the same calls (docs/reading.md).
func Versioned(key string) string {
	for i := range platforms {
		address := platforms[i].Checkout // "wc/store/v1"
		end := strings.LastIndexByte(address, '/')
		rest, ok := CutNamespace(key[1:], address[:end])
		if !ok {
			continue
		}
		if first, _, _ := strings.Cut(rest, "/"); first == address[end+1:] {
			return key
		}
		return "/" + address + "/" + rest
	}
	return key
}

// CutNamespace returns what follows a namespace in a key without leading slash.
func CutNamespace(key, ns string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(key, ns)
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	return rest[1:], true
}

// RouteVar is the variable that names a route.
const RouteVar = "rest_route"
