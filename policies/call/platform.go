package call

import "strings"

// Platform holds the names that one content platform uses on the wire
// (docs/interface, naming convention). Prefix, namespaces and routes stand
// without leading or trailing slash.
type Platform struct {
	Name        string   // the word in the directive: "cms" or "wordpress"
	Prefix      string   // first segment of the pretty form
	Core        string   // core namespace
	Shop        []string // shop namespaces v1, v2, v3, in this order
	Checkout    string   // public checkout API; its old address without a version is the same in keys
	Analytics   string   // analytics namespace of the shop
	Abilities   string   // abilities namespace
	MCP         string   // route of the shop's tool server
	ErrorPrefix string   // what the shop's error codes begin with
	NonceHeader string   // canonical name of the nonce header
	NonceParam  string   // the nonce as a query or form variable
	AuthCookie  string   // what the names of all cookies that log somebody in begin with
	KeyMarker   string   // raw text that makes a shop key valid on any route (docs/platform III.8)
}

// platforms is the table of names; each line is one platform.
var platforms = map[string]Platform{
	"cms": {
		Name: "cms", Prefix: "cms-json", Core: "cms/v2",
		Shop:      []string{"shop/v1", "shop/v2", "shop/v3"},
		Checkout:  "shop/store/v1",
		Analytics: "shop-analytics", Abilities: "cms-abilities/v1", MCP: "shop/mcp",
		ErrorPrefix: "shop_rest_", NonceHeader: "X-Cms-Nonce", NonceParam: "_cmsnonce",
		AuthCookie: "cms_", KeyMarker: "cms-json/shop",
	},
	"wordpress": {
		Name: "wordpress", Prefix: "wp-json", Core: "wp/v2",
		Shop:      []string{"wc/v1", "wc/v2", "wc/v3"},
		Checkout:  "wc/store/v1",
		Analytics: "wc-analytics", Abilities: "wp-abilities/v1", MCP: "woocommerce/mcp",
		ErrorPrefix: "woocommerce_rest_", NonceHeader: "X-Wp-Nonce", NonceParam: "_wpnonce",
		AuthCookie: "wordpress_", KeyMarker: "wp-json/wc",
	},
}

// PlatformByName returns the names of "cms" or "wordpress"; ok is false for any
// other word.
func PlatformByName(name string) (p Platform, ok bool) {
	p, ok = platforms[name]
	return p, ok
}

// Platforms returns the names of all platforms.
func Platforms() []Platform { return []Platform{platforms["cms"], platforms["wordpress"]} }

// LoginCookie is what the names of the front end's login cookies begin with.
func (p *Platform) LoginCookie() string { return p.AuthCookie + "logged_in_" }

// LogsIn tells whether a cookie, "name=value", may log somebody in: that of the
// front end (…logged_in_…), and those of the admin screens, which the platform
// believes on any path if they are sent there. One cookie of that name only
// tests whether cookies work.
func (p *Platform) LogsIn(cookie string) bool {
	rest, ok := strings.CutPrefix(cookie, p.AuthCookie)
	return ok && !strings.HasPrefix(rest, "test_cookie=")
}
