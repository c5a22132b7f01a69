package drytest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// config is a configuration that is compared.
type config struct {
	name, caddyfile string
	scopes          map[string]string // of callers, by their names
}

// proxied is a site with these directives and a proxy at its end.
func proxied(name, body string) config {
	return config{name: name, caddyfile: "shop.example.com {\n" + body + "\nreverse_proxy 127.0.0.1:8080\n}\n"}
}

// scoped is a site with these options, which name scopes of callers. KEY is the end of the shop key of the callers.
func scoped(name, options string, scopes map[string]string) config {
	c := directive(name, options)
	c.scopes = scopes
	return c
}

// directive is a site with these options of the directive.
func directive(name, options string) config {
	return proxied(name, "restwarden wordpress {\n"+options+"\n}")
}

// base is the folder that the platform is in.
func (c *config) base() string {
	if strings.Contains(c.caddyfile, "/blog") {
		return "/blog"
	}
	return ""
}

var siteAddress = regexp.MustCompile(`(?m)^(?:\S+, )?(https?://)?((?:[\w*-]+\.)*example\.(?:com|org)|https://)\S*(?:, \S+)* \{$`)

// hosts are those of its sites, with the scheme.
func (c *config) hosts() (all []string) {
	for _, m := range siteAddress.FindAllStringSubmatch(strings.ReplaceAll(c.caddyfile, "{$SITE_ADDRESS:shop.example.com}", "shop.example.com"), -1) {
		scheme, host := m[1], strings.ReplaceAll(m[2], "*", "any")
		if host == "https://" {
			host = "catchall.example.org"
		}
		if scheme == "" {
			scheme = "https://"
		}
		all = append(all, scheme+host)
	}
	return all
}

var block = regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```")

// documented are the Caddyfiles of the README and the docs, and Caddyfile.example.
func documented(t *testing.T) (all []config) {
	t.Helper()
	root := os.DirFS("../..")
	pages := []string{"README.md"}
	err := fs.WalkDir(root, "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range block.FindAllStringSubmatch(string(text), -1) {
			all = append(all, config{name: fmt.Sprintf("%s %d", strings.TrimSuffix(filepath.ToSlash(page), ".md"), i+1), caddyfile: m[1]})
		}
	}
	example, err := fs.ReadFile(root, "Caddyfile.example")
	if err != nil || len(all) < 40 {
		t.Fatalf("%d examples, %v", len(all), err)
	}
	return append(all, config{name: "Caddyfile.example", caddyfile: string(example)})
}

const signatures = `
	signature cookie_plugin {
		key {env.COOKIE_PLUGIN_KEY}
	}
	signature cookie_plugin_request {
		scheme request
		once
		key {env.COOKIE_PLUGIN_KEY}
	}
	allow signed cookie_plugin,cookie_plugin_request POST /cookie/v1/store-auth
`

const guarded = "restwarden wordpress {\n\tlogin_only\n\tallow anyone /wc/store/v1/**\n}\n"

// written is a table of what the docs do not show.
var written = slices.Concat(directives, layouts)

var directives = []config{
	directive("plain", ""),
	directive("login_only", "login_only"),
	directive("observe", "mode observe\nlogin_only"),
	directive("a policy observes", "login_only\naccess {\nmode observe\n}"),
	directive("recommended off", "recommended off"),
	directive("rules in order", "allow anyone GET /wp/v2/posts\ndeny /wp/v2/posts/** as 404\nallow users /wp/v2/posts/**\ndeny /wp/v2/**\nlogin_only"),
	directive("roles", "allow role editor /wp/v2/users/**\nallow capability edit_posts /wp/v2/posts\nallow role administrator,shop_manager /wc/v3/**\nlogin_only"),
	directive("capabilities", "allow capability manage_woocommerce /wc/v3/**\nallow capability list_users /wp/v2/users\nallow capability manage_options /wp/v2/settings"),
	directive("signatures", signatures),
	directive("signatures and login_only", signatures+"login_only"),
	directive("prefix", "prefix api\nlogin_only"),
	{name: "base", caddyfile: "http://shop.example.com {\nrestwarden wordpress {\nbase /blog\nlogin_only\n}\nreverse_proxy 127.0.0.1:8080\n}\n"},
	directive("abilities", "abilities {\nallow core/get-* shop/orders-query\n}"),
	directive("credentials", "login_only\ncredentials header X-Staff-Token\ncredentials cookie staff_session"),
	directive("jetpack", "login_only\ncredentials jetpack"),
	directive("rate_limit", "rate_limit 100/1m POST /complianz/v1/track\nrate_limit 10000/1m per key /wc/v3/**\nrate_limit 10000/1m per caller /wp/v2/**"),
	directive("redact", "redact /wp/v2/posts title\nredact authors\nredact /feed/troubleshooting license_key"),
	directive("strip_query", "strip_query lang /wp/v2/** /wp-block-editor/**\nlogin_only"),
	directive("strict order_type", "order_type {\nstrict\n}"),
	directive("order_type with a key", "order_type {\ncredential {env.SHOP_READ_KEY}\n}"),
	directive("order_type off", "order_type off\ncheckout_total off\nrefund_totals off"),
	directive("a new release", "release 11.1"),
	directive("checkout_total", "checkout_total {\ndiffers\n}\nrefund_totals"),
	directive("on_error pass", "order_type {\non_error pass\n}\ncheckout_total {\non_error pass\n}"),
	directive("small bounds", "body_limit 1KiB\nupload_limit 2KiB\nbatch_limit 1"),
	directive("call off", "call off"),
	directive("call observes", "call {\nmode observe\n}\nlogin_only"),
	directive("session_cookies", "session_cookies {\npath /\n}\nlogin_only"),
	directive("plugins", "login_only\nallow plugin wordpress woocommerce complianz-gdpr surecart\ndeny plugin surecart wordpress"),
	directive("risky routes of plugins", "deny plugin wordpress woocommerce surecart\nallow anyone GET /wp/v2/search"),
	directive("scopes", "scope erp {\nkey a1b2c3d\nallow GET /wc/v3/orders\n}\nscope others {\nkey *\nallow GET /wc/**\n}\nscope staff {\nuser *\nallow GET /wp/v2/**\n}"),
	scoped("scopes of our own", "scope keys {\nkey KEY\nallow GET /wc/v3/orders /wc/v3/products\nallow PUT /wc/v3/orders/*\n}\nscope passwords {\npassword *\nallow GET /wp/v2/** /wc/v3/**\n}\nallow scope keys GET /wc/v3/products",
		map[string]string{"key": "keys", "user": "passwords", "role:editor": "passwords", "role:shop_manager": "passwords", "role:administrator": "passwords"}),
	scoped("a scope of a user", "login_only\nscope editors {\nuser editor\nallow GET /wp/v2/posts\n}\nscope others {\nkey *\nallow /wc/**\n}\nallow scope others /wc/v3/orders", map[string]string{"role:editor": "editors", "key": "others"}),
	directive("a scope observes", "scope others {\nkey *\nuser *\nmode observe\n}"),
	directive("conditions", "login_only\nallow users PUT /wp/v2/posts/* {\nonly title\n}\nallow anyone POST /complianz/v1/track {\nfrom 127.0.0.0/8\n}"),
	directive("unknown caller passes", "login_only\naccess {\non_error pass\n}"),
}

var layouts = []config{
	{name: "no TLS", caddyfile: "http://shop.example.com {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\n"},
	{name: "several sites", caddyfile: "shop.example.com {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\nother.example.com {\nrestwarden wordpress {\nmode observe\nlogin_only\n}\nreverse_proxy 127.0.0.1:8081\n}\nbare.example.com {\nreverse_proxy 127.0.0.1:8082\n}\n"},
	{name: "a wildcard beside a host", caddyfile: "*.example.com {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\nshop.example.com {\nrestwarden wordpress\nreverse_proxy 127.0.0.1:8080\n}\n"},
	{name: "host matchers", caddyfile: "*.example.com {\n@a host a.example.com any.example.com\nhandle @a {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\nhandle {\nrespond \"none\" 404\n}\n}\n"},
	proxied("handle_path before the proxy", "restwarden wordpress {\nbase /blog\nlogin_only\n}\nhandle_path /blog/* {\nreverse_proxy 127.0.0.1:8080\n}"),
	proxied("the directive in handle_path", "handle_path /blog/* {\n"+guarded+"reverse_proxy 127.0.0.1:8080\n}"),
	proxied("handle blocks", "handle /health {\nrespond ok 200\n}\nhandle /wp-json/* {\n"+guarded+"reverse_proxy 127.0.0.1:8080\n}"),
	proxied("a matcher by path", "@api path /wp-json/*\nrestwarden @api wordpress {\nlogin_only\n}"),
	proxied("a matcher by method", "@writes method POST PUT\nrestwarden @writes wordpress {\nlogin_only\n}"),
	proxied("a matcher by header", "@named not header X-Skip 1\nrestwarden @named wordpress {\nlogin_only\n}"),
	proxied("an expression", "@e expression `{method}.startsWith(\"P\")`\nrestwarden @e wordpress {\nlogin_only\n}"),
	proxied("a matcher by address", "@outside not remote_ip 10.0.0.0/8\nrestwarden @outside wordpress {\nlogin_only\n}"),
	{name: "named routes", caddyfile: "&(guarded) {\nroute {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\n}\nshop.example.com {\ninvoke guarded\n}\nhttp://other.example.com {\ninvoke guarded\n}\n"},
	{name: "a route in order", caddyfile: "shop.example.com {\nroute {\nrespond /closed \"closed\" 503\n" + guarded + "respond /health ok 200\nreverse_proxy 127.0.0.1:8080\n}\n}\n"},
	{name: "a route without its first", caddyfile: "shop.example.com {\nroute /wp-json/wp/* {\nreverse_proxy 127.0.0.1:8080\n}\nroute {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\n}\n"},
	proxied("redirects", guarded+"redir /api/* /wp-json{uri} 308\nredir /old /new"),
	proxied("rewrites", guarded+"rewrite /users /wp-json/wp/v2/users\nuri strip_prefix /de"),
	{name: "php_fastcgi", caddyfile: "http://shop.example.com {\nroot /srv/www\nencode gzip\n" + guarded + "php_fastcgi 127.0.0.1:9000\nfile_server\n}\n"},
	{name: "php_fastcgi in a folder", caddyfile: "shop.example.com {\nroot /srv/www\nrestwarden wordpress {\nbase /blog\nlogin_only\n}\nphp_fastcgi 127.0.0.1:9000 {\ntry_files {path} {path}/index.php /blog/index.php\n}\nfile_server\n}\n"},
	{name: "files before the directive", caddyfile: "shop.example.com {\nroot /srv/www\n@static {\nfile\npath *.css *.txt\n}\nhandle @static {\nfile_server\n}\nhandle {\n" + guarded + "php_fastcgi 127.0.0.1:9000\n}\n}\n"},
	proxied("forward_auth before the directive", "route {\nforward_auth 127.0.0.1:9091 {\nuri /auth\ncopy_headers Remote-User\n}\n"+guarded+"reverse_proxy 127.0.0.1:8080\n}"),
	proxied("forward_auth behind the directive", guarded+"forward_auth 127.0.0.1:9091 {\nuri /auth\n}"),
	proxied("handle_errors", guarded+"respond /gone 410\nerror /wp-json/forbidden/* 403\nhandle_errors {\nrestwarden wordpress {\nlogin_only\n}\nrewrite * /wp-json/wp/v2/users\nreverse_proxy 127.0.0.1:8080\n}"),
	proxied("two directives", "route {\nrestwarden wordpress {\nlogin_only\n}\nrestwarden wordpress {\nallow anyone /wp/v2/**\ndeny /wc/v3/**\n}\nreverse_proxy 127.0.0.1:8080\n}"),
	proxied("basic_auth", guarded+"basic_auth /staff/* {\nbob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n}"),
	proxied("headers of the request", "request_header X-HTTP-Method-Override DELETE\n"+guarded),
	proxied("a header is deleted", "request_header -Authorization\n"+guarded),
	proxied("a bounded body", "request_body {\nmax_size 1KB\n}\n"+guarded),
	proxied("rest_call", guarded+"@users rest_call GET /wp/v2/users\nhandle @users {\nrespond \"users\" 200\n}"),
	proxied("rest_call before the directive", "@users rest_call GET /wp/v2/users\nredir @users /login\n"+guarded),
	{name: "nothing is guarded here", caddyfile: "shop.example.com {\nrespond \"closed\" 503\n}\nother.example.com {\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\n"},
	{name: "abort and error", caddyfile: "shop.example.com {\nroute {\nabort /abort\nerror /error 418\n" + guarded + "reverse_proxy 127.0.0.1:8080\n}\n}\n"},
}
