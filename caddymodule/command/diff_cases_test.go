package command_test

import (
	"fmt"
	"strings"
)

// at is a site whose directive gets the requests of a path alone.
func at(path string) string {
	return "shop.example.com {\n\trestwarden " + path + " wordpress {\nlogin_only\n}\n\treverse_proxy 127.0.0.1:8080\n}\n"
}

// nested are two sites of a snippet in a snippet; the first one has another body_limit.
func nested(limit string) string {
	return "(inner) {\nrestwarden wordpress {\nlogin_only\nbody_limit {args[0]}\n}\n}\n(outer) {\nimport inner {args[0]}\n}\n" +
		"a.example.com {\nimport outer " + limit + "\nreverse_proxy 127.0.0.1:8080\n}\nb.example.com {\nimport outer 1000\nreverse_proxy 127.0.0.1:8080\n}\n"
}

// handles is a site with a directive for each of two paths and one for the rest.
func handles(one, two, rest string) string {
	guard := func(lines string) string {
		return "restwarden wordpress {\n" + lines + "\n}\nreverse_proxy 127.0.0.1:8080\n"
	}
	return "shop.example.com {\nhandle /wp-json/p1/* {\n" + guard(one) + "}\nhandle /wp-json/p2/* {\n" + guard(two) + "}\nhandle {\n" + guard(rest) + "}\n}\n"
}

// ports is a host with a directive on each of three ports.
func ports(lines ...string) (text string) {
	for i, line := range lines {
		text += fmt.Sprintf("http://shop.example.com:808%d {\nrestwarden wordpress {\n%s\n}\nreverse_proxy 127.0.0.1:9000\n}\n", i, line)
	}
	return text
}

// behindBalancer are sites without TLS of their own.
func behindBalancer(names ...string) (text string) {
	for _, name := range names {
		text += "http://" + name + ".example.com:8081 {\nrestwarden wordpress {\nlogin_only\n}\nreverse_proxy 127.0.0.1:9000\n}\n"
	}
	return text
}

// behindLogin is a site where Caddy asks for a password before the directive.
func behindLogin(lines string) string {
	return "shop.example.com {\n\troute {\n\tbasic_auth /wp-json/acme/* {\n\tbob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n\t}\n\trestwarden wordpress {\n" +
		lines + "\n}\n\treverse_proxy 127.0.0.1:8080\n}\n}\n"
}

// twoOf are two sites of one snippet. The directive of the second one gets the requests of a path alone.
func twoOf(path string) string {
	text := "(guard) {\n\trestwarden {args[0]} wordpress {\n\tlogin_only\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	return text + "a.example.com {\n\timport guard *\n}\nb.example.com {\n\timport guard " + path + "\n}\n"
}

// files is a site that serves files but for one.
func files(text, hidden string) string {
	return strings.Replace(text, "reverse_proxy 127.0.0.1:8080", "php_fastcgi 127.0.0.1:9000\n\tfile_server {\n\thide "+hidden+"\n\t}", 1)
}

// loginShop is what most of the changes below begin with.
var loginShop = shop("login_only")

// diffs are changes of a configuration, with the effects of calls, those beside, and the status.
var diffs = map[string]struct {
	old, now string
	flags    []string
	want     string
}{
	"another site behind a balancer": {behindBalancer("a", "b"), behindBalancer("a", "b", "c"), []string{"--fail-on", "any"}, "added 1"},
	"nothing":                        {loginShop, loginShop, []string{"--fail-on", "any"}, "0"},
	"a comment":                      {loginShop, "# why\n" + loginShop, []string{"--fail-on", "any"}, "0"},
	"a line":                         {loginShop, shop("login_only", "allow anyone POST /acme/v1/x"), []string{"--fail-on", "opened"}, "opened 1"},
	"without it":                     {shop("login_only", "allow anyone POST /acme/v1/x"), loginShop, []string{"--fail-on", "opened"}, "closed 0"},
	"a line that does not":           {shop("allow anyone /a/**"), shop("allow anyone /a/**", "deny /a/b"), []string{"--fail-on", "any"}, "0"},
	"the same in other words": {
		shop("login_only", "allow anyone GET /a/b", "allow anyone POST /a/b"), shop("login_only", "allow anyone GET,POST /a/b"), []string{"--fail-on", "any"}, "0",
	},
	"a condition": {
		shop("login_only", "allow anyone POST /a/b"), shop("login_only", "allow anyone POST /a/b {\nonly x\n}"), []string{"--fail-on", "closed"}, "may_close 1",
	},
	"another condition": {
		shop("allow users POST /a/b {\nonly x\n}"), shop("allow users POST /a/b {\nonly y\n}"), nil, "may_close may_open 0",
	},
	"a name":                                {shop("allow users /a/*"), shop("allow users /a/:id"), nil, "may_close 0"},
	"a policy that is on by default, again": {shop("order_type off"), shop(), []string{"--fail-on", "closed"}, "beside:may_close 1"},
	"another on_error by default":           {shop(), shop("order_type {\non_error pass\n}"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"the directive's mode again": {
		shop("mode observe", "rate_limit 1/1m /a/b", "rate_limit {\nmode enforce\n}"), shop("mode observe", "rate_limit 1/1m /a/b"), []string{"--fail-on", "opened"}, "beside:may_open 1",
	},
	"a matcher of a directive without a root": {at("/wp-json/acme/*"), at("/wp-json/foo/*"), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
	"the arguments of a snippet in a snippet": {nested("1000"), nested("3000"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"a base": {loginShop, shop("base /blog", "login_only"), []string{"--fail-on", "closed"}, "beside:may_open,may_close removed renamed 1"},
	"a host of a site that goes on": {
		strings.Replace(shop("allow anyone /a/b"), "shop.example.com {", "a.example.com, b.example.com {", 1),
		strings.Replace(loginShop, "shop.example.com {", "b.example.com {", 1) + "a.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n",
		[]string{"--fail-on", "closed"},
		"closed removed renamed 1",
	},
	"handles that change places":   {handles("login_only", "", ""), handles("", "login_only", ""), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
	"directives on several ports":  {ports("login_only", "", "login_only"), ports("login_only", "login_only", ""), []string{"--fail-on", "opened"}, "closed opened 1"},
	"a parameter that is stripped": {shop(), shop("strip_query lang /a/b"), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
	"a key beside the shop": {
		shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders /wp/v2/posts\n}"), []string{"--fail-on", "opened"}, "may_open 1",
	},
	"a scope beside others": {
		shop("scope all {\nkey *\nallow /wc/**\nrate 5/1m\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/**\n}", "scope all {\nkey *\nallow /wc/**\nrate 5/1m\n}"), []string{"--fail-on", "opened"}, "may_close may_open beside:may_open,may_close 1",
	},
	"the file's own name":     {files(loginShop, "a"), files(loginShop, "b"), []string{"--fail-on", "any"}, "0"},
	"a header of answers":     {loginShop, strings.Replace(loginShop, "\trestwarden", "\theader X-A b\n\tencode gzip\n\trestwarden", 1), []string{"--fail-on", "any"}, "0"},
	"a header of requests":    {loginShop, strings.Replace(loginShop, "\trestwarden", "\trequest_header X-HTTP-Method-Override DELETE\n\trestwarden", 1), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
	"an order of limits":      {shop("rate_limit 5/1m /a/b", "rate_limit 6/1m /c/d"), shop("rate_limit 6/1m /c/d", "rate_limit 5/1m /a/b"), []string{"--fail-on", "any"}, "0"},
	"a journal":               {loginShop, shop("login_only", "journal writes"), []string{"--fail-on", "opened,closed"}, "beside: 0"},
	"a second name of a site": {loginShop, strings.Replace(loginShop, "shop.example.com {", "shop.example.com, www.example.com {", 1), []string{"--fail-on", "any"}, "0"},
	"observe":                 {loginShop, shop("login_only", "mode observe"), []string{"--fail-on", "closed"}, "opened beside:may_open 0"},
	"a limit":                 {shop("rate_limit 5/1m /a/b"), shop("rate_limit 9/1m /a/b"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"a guard off":             {shop("order_type"), shop("order_type off"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"on_error":                {shop("access {\non_error refuse\n}"), shop("access {\non_error pass\n}"), []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"an answer":               {shop(), shop("redact /wp/v2/posts title"), []string{"--fail-on", "any"}, "beside:may_open,may_close 1"},
	"a matcher":               {loginShop, strings.Replace(loginShop, "restwarden", "@x path /wp-json/*\n\trestwarden @x", 1), []string{"--fail-on", "opened"}, "may_open beside:may_open,may_close 1"},
	"an upstream":             {loginShop, strings.Replace(loginShop, "8080", "9090", 1), []string{"--fail-on", "any"}, "0"},
	"a dot":                   {shop(), shop("allow anyone /a.b/c"), nil, "beside:may_close 0"},
	"a word": {
		shop("allow anyone /wp/v2/plugins/*"), shop("allow anyone /wp/v2/plugins/*", "allow anyone GET /wp/v2/plugins/hello"), []string{"--fail-on", "closed"}, "beside:may_close 1",
	},
	"no word": {
		shop("allow anyone /acme/v1/*"), shop("allow anyone /acme/v1/*", "allow anyone GET /acme/v1/hello"), []string{"--fail-on", "any"}, "0",
	},
	"a word of a plugin": {
		shop("allow anyone /acme/v1/*", "allow anyone GET /acme/v1/hello"), shop("allow anyone /acme/v1/*"), []string{"--index", "root.json"}, "beside:may_open 0",
	},
	"a route that the site has not":  {shop("login_only"), shop("login_only", "allow anyone GET /acme/v2/x"), []string{"--index", "root.json", "--fail-on", "any"}, "0"},
	"a route that the site has":      {shop("login_only"), shop("login_only", "allow anyone GET /acme/v1/x"), []string{"--index", "root.json"}, "opened beside:may_close 0"},
	"a new site":                     {loginShop, loginShop + strings.ReplaceAll(loginShop, "shop", "blog"), []string{"--fail-on", "opened,closed"}, "added 0"},
	"a new site that nothing guards": {loginShop, loginShop + "blog.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"--fail-on", "opened"}, "unguarded 1"},
	"a new redirect":                 {loginShop, loginShop + "blog.example.com {\n\tredir https://shop.example.com\n}\n", []string{"--fail-on", "any"}, "0"},
	"a guard":                        {"shop.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", loginShop, []string{"--fail-on", "closed"}, "added 1"},
	"a site less":                    {loginShop + strings.ReplaceAll(loginShop, "shop", "blog"), loginShop, []string{"--fail-on", "closed"}, "removed 1"},
	"a directive without a root": {
		strings.Replace(loginShop, "restwarden", "@x path /wp-json/acme/*\n\trestwarden @x", 1),
		strings.Replace(shop("login_only", "allow anyone /acme/v1/x"), "restwarden", "@x path /wp-json/acme/*\n\trestwarden @x", 1),
		[]string{"--fail-on", "opened"},
		"beside:may_open,may_close 1",
	},
	"no gateway":   {loginShop, "shop.example.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"--fail-on", "opened"}, "removed 1"},
	"another name": {loginShop, strings.Replace(loginShop, "shop.example.com", "www.example.com, shop.example.com", 1), []string{"--fail-on", "any"}, "renamed 1"},
	"a platform":   {loginShop, strings.Replace(loginShop, "wordpress", "cms", 1), nil, "not_compared 3"},
	"a scope": {
		shop("scope erp {\nkey a1b2c3d\nallow GET /wc/v3/orders\n}"), shop("scope erp {\nkey a1b2c3d\nallow /wc/v3/orders\nrate 5/1h\n}"), nil, "opened beside:may_open,may_close 0",
	},
	"a line behind a root": {
		strings.Replace(loginShop, "\trestwarden", "\troot * /srv\n\trestwarden", 1), strings.Replace(shop("login_only", "allow anyone /acme/v1/x"), "\trestwarden", "\troot * /srv\n\trestwarden", 1), nil, "opened 0",
	},
	"a line behind a login": {behindLogin("login_only"), behindLogin("login_only\nallow anyone /acme/v1/x"), nil, "may_open 0"},
	"a header to the backend": {
		loginShop, strings.Replace(loginShop, "127.0.0.1:8080", "127.0.0.1:8080 {\n\theader_up X-HTTP-Method-Override DELETE\n\t}", 1), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1",
	},
	"limits of one kind": {
		shop("rate_limit 5/1m /a/b", "rate_limit 60/1h /a/b"), shop("rate_limit 60/1h /a/b", "rate_limit 5/1m /a/b"), []string{"--fail-on", "any"}, "0",
	},
	"a matcher of another host without a root": {twoOf("/wp-json/acme/*"), twoOf("/wp-json/foo/*"), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1"},
	"a new host at a socket":                   {loginShop, loginShop + "http://x.example.com {\n\tbind unix//run/x.sock\n\treverse_proxy 127.0.0.1:8080\n}\n", []string{"--fail-on", "opened"}, "beside:may_open 1"},
	"a new host of the environment": {
		loginShop, loginShop + strings.Replace(loginShop, "shop.example.com", "http://{env.SITE}", 1), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1",
	},
	"a host of the environment": {
		loginShop + strings.Replace(loginShop, "shop.example.com", "http://{env.SITE}", 1), loginShop + strings.Replace(shop("login_only", "allow anyone /a/b"), "shop.example.com", "http://{env.SITE}", 1), []string{"--fail-on", "opened"}, "beside:may_open,may_close 1",
	},
}
