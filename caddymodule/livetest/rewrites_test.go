package livetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rewritten is one request to a site of docs/guides/rewrites.md.
type rewritten struct {
	line string // "GET /path"; a body after " | " is a form
	want string // what arrives, a status where it is refused, "answered" where Caddy answers itself
	call string // what it is judged as, "" a page
}

// What arrives at FastCGI is written as "REQUEST_URI QUERY_STRING SCRIPT_NAME".
var php = []rewritten{
	{"GET /wp-json/wp/v2/posts", "/wp-json/wp/v2/posts  /index.php", "GET /wp/v2/posts"},
	{"GET /wp-json/wp/v2/posts?_method=DELETE", "/wp-json/wp/v2/posts?_method=DELETE _method=DELETE /index.php", "DELETE /wp/v2/posts"},
	{"GET /wp-json/", "/wp-json/  /index.php", "GET /"},
	{"GET /about/?x=1", "/about/?x=1 x=1 /index.php", ""},
	{"GET /?rest_route=/wp/v2/posts", "/?rest_route=/wp/v2/posts rest_route=/wp/v2/posts /index.php", "GET /wp/v2/posts"},
	{"GET /index.php?rest_route=/wp/v2/posts", "/index.php?rest_route=/wp/v2/posts rest_route=/wp/v2/posts /index.php", "GET /wp/v2/posts"},
	{"GET /wp-login.php?rest.route=/wp/v2/posts", "/wp-login.php?rest.route=/wp/v2/posts rest.route=/wp/v2/posts /wp-login.php", "GET /wp/v2/posts"},
	{"POST /about/ | rest_route=/wp/v2/posts", "/about/  /index.php", "POST /wp/v2/posts"},
	{"GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users", "400", ""},
	{"POST /wp-json/wp/v2/posts | rest_route=/wp/v2/users", "400", ""},
	{"GET /index.php/wp-json/wp/v2/posts", "400", ""},
	{"GET /wp-json/../wp-json/wp/v2/posts", "400", ""},
	{"GET /%77p-json/wp/v2/posts", "400", ""},
}

// folder are requests to a site whose back-end knows nothing of /blog.
var folder = []rewritten{
	{"GET /blog/wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"},
	{"GET /blog/?rest_route=/wp/v2/posts", "/?rest_route=/wp/v2/posts", "GET /wp/v2/posts"},
	{"POST /blog/wp-json/wc/v3/products/7 | status=publish", "/wp-json/wc/v3/products/7", "POST /wc/v3/products/7"},
	{"POST /blog/about/ | rest_route=/wp/v2/posts", "/about/", "POST /wp/v2/posts"},
	{"GET /blog/about/", "/about/", ""},
	{"GET /blog/wp-json/wp/v2/posts?rest_route=/wp/v2/users", "400", ""},
	{"GET /blog/%77p-json/wp/v2/posts", "400", ""},
}

// outside are requests beside a base of /blog.
var outside = []rewritten{
	{"GET /wp-json/wp/v2/posts", "404", ""},
	{"GET /?rest_route=/wp/v2/posts", "404", ""},
	{"POST / | rest_route=/wp/v2/posts", "404", ""},
	{"GET /other/wp-json/wp/v2/posts", "404", ""},
	{"GET /blogwp-json/wp/v2/posts", "400", ""},
}

var proxied = []rewritten{
	{"GET /wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"},
	{"GET /?rest_route=/wp/v2/posts", "/?rest_route=/wp/v2/posts", "GET /wp/v2/posts"},
	{"GET /about/", "/about/", ""},
	{"GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users", "400", ""},
}

// documented are the examples of docs/guides/rewrites.md, by their headings.
var documented = map[string][]rewritten{
	"PHP":                            append(php, rewritten{"GET /readme.txt", "answered", ""}),
	"PHP with a fallback of its own": php,
	"PHP without php_fastcgi": append(php,
		rewritten{"POST /wp-json/wc/v3/products/7 | status=publish", "/wp-json/wc/v3/products/7  /index.php", "POST /wc/v3/products/7"}),
	"All to the front controller": append(php,
		rewritten{"POST /wp-json/wc/v3/products/7 | status=publish", "/wp-json/wc/v3/products/7  /index.php", "POST /wc/v3/products/7"}),
	"All to the front controller, without php_fastcgi": append(php,
		rewritten{"POST /wp-json/wc/v3/products/7 | status=publish", "/wp-json/wc/v3/products/7  /index.php", "POST /wc/v3/products/7"}),
	"A sub-folder, stripped by handle_path": append(append(folder, outside...), rewritten{"GET /home", "answered", ""},
		rewritten{"GET /blog/de/wp-json/wp/v2/posts", "/de/wp-json/wp/v2/posts", "GET /wp/v2/posts"}),
	"A sub-folder, the gateway inside": append(folder,
		rewritten{"GET /wp-json/wp/v2/posts", "answered", ""}, rewritten{"GET /blogwp-json/wp/v2/posts", "answered", ""}),
	"A sub-folder, stripped by uri": append(append(folder, outside[:4]...), rewritten{"GET /home", "/home", ""}),
	"A sub-folder with PHP": append([]rewritten{
		{"GET /blog/wp-json/wp/v2/posts", "/blog/wp-json/wp/v2/posts  /blog/index.php", "GET /wp/v2/posts"},
		{"GET /blog/?rest_route=/wp/v2/posts", "/blog/?rest_route=/wp/v2/posts rest_route=/wp/v2/posts /blog/index.php", "GET /wp/v2/posts"},
		{"POST /blog/wp-json/wc/v3/products/7 | status=publish", "/blog/wp-json/wc/v3/products/7  /blog/index.php", "POST /wc/v3/products/7"},
		{"GET /blog/de/wp-json/wp/v2/posts", "/blog/de/wp-json/wp/v2/posts  /blog/index.php", "GET /wp/v2/posts"},
		{"GET /BLOG/wp-json/wp/v2/posts", "404", ""},
		{"GET /blog/blogwp-json/wp/v2/posts", "400", ""},
	}, outside...),
	"Several back-ends": append(proxied, rewritten{"GET /healthz", "answered", ""}, rewritten{"GET /healthz?rest_route=/wp/v2/posts", "answered", ""}),
	"Multisite in sub-directories": append([]rewritten{
		{"GET /two/wp-json/wp/v2/posts", "/two/wp-json/wp/v2/posts  /index.php", "GET /wp/v2/posts"},
		{"GET /two/index.php?rest_route=/wp/v2/posts", "/two/index.php?rest_route=/wp/v2/posts rest_route=/wp/v2/posts /index.php", "GET /wp/v2/posts"},
		{"GET /two/wp-admin/index.php", "/two/wp-admin/index.php  /wp-admin/index.php", ""},
		{"POST /two/wp-json/wc/v3/products/7 | status=publish", "/two/wp-json/wc/v3/products/7  /index.php", "POST /wc/v3/products/7"},
		{"POST /two/wp-admin/admin-ajax.php | action=a", "/two/wp-admin/admin-ajax.php  /wp-admin/admin-ajax.php", ""},
		{"GET /wp-json/users.php", "400", ""},
		{"GET /two/wp-admin/wp-json/wp/v2/users", "403", ""},
	}, php...),
	"Language directories": append(proxied,
		rewritten{"GET /de/wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"},
		rewritten{"POST /de/wp-json/wc/v3/products/7 | status=publish", "/wp-json/wc/v3/products/7", "POST /wc/v3/products/7"},
		rewritten{"GET /de/about/", "/about/", ""}),
	"Pretty paths for plain permalinks": {
		{"GET /wp-json/wp/v2/posts", "/index.php?rest_route=/wp%2Fv2%2Fposts", "GET /wp/v2/posts"},
		{"GET /wp-json/wp/v2/posts?page=2", "/index.php?rest_route=/wp%2Fv2%2Fposts&page=2", "GET /wp/v2/posts"},
		{"GET /wp-json", "/index.php?rest_route=/", "GET /"},
		{"GET /wp-json/", "/index.php?rest_route=/", "GET /"},
		{"GET /about/", "/about/", ""},
		{"GET /?rest_route=/wp/v2/posts", "/?rest_route=/wp/v2/posts", "GET /wp/v2/posts"},
		{"GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users", "400", ""},
		{"GET /wp-json/wp/v2/posts?rest.route=/wp/v2/users", "400", ""},
		{"POST /wp-json/wp/v2/posts | rest_route=/wp/v2/users", "400", ""},
	},
	"An order of one's own": append(proxied,
		rewritten{"GET /shop/wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"},
		rewritten{"GET /shop/?rest_route=/wp/v2/posts", "/?rest_route=/wp/v2/posts", "GET /wp/v2/posts"}),
	"Error pages by the platform": {
		{"GET /wp-json/wp/v2/posts", "/wp-json/wp/v2/posts  /index.php", "GET /wp/v2/posts"},
		{"GET /about/?x=1", "/about/?x=1 x=1 /index.php", ""},
		{"GET /%77p-json/wp/v2/posts", "400", ""},
		// The rewrite takes the second route away, and with it what was uncertain.
		{"GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users", "/wp-json/wp/v2/posts?rest_route=/wp/v2/users error=400 /index.php", "GET /wp/v2/posts"},
		{"POST /?rest_route=/wp/v2/posts | rest_route=/wp/v2/users", "403", ""},
	},
	"Redirects": append(proxied, rewritten{"GET /api/wp/v2/users", "answered", ""}),
	"What the gateway cannot see": append(proxied,
		rewritten{"GET /internal/wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"},
		rewritten{"GET /internal/wp-json/wp/v2/posts?rest_route=/wp/v2/users", "400", ""}),
}

var (
	example   = regexp.MustCompile("(?ms)^```caddyfile\nshop.example.com \\{\n(.*?)^}\n```")
	directive = regexp.MustCompile(`(?m)^(\t+)restwarden wordpress(?: \{[^}]*\})?$`)
)

// TestRewrites_Documented runs every example of docs/guides/rewrites.md.
func TestRewrites_Documented(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/rewrites.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for section := range strings.SplitSeq(string(page), "\n##") {
		heading, text, _ := strings.Cut(section, "\n")
		heading = strings.TrimLeft(heading, "# ")
		for _, e := range example.FindAllStringSubmatch(text, -1) {
			examples++
			t.Run(heading, func(t *testing.T) {
				if len(documented[heading]) == 0 {
					t.Error("no requests")
				}
				runRewrites(t, e[1], documented[heading])
			})
		}
	}
	// Those marked as Caddyfiles of FrankenPHP are run in front of WordPress.
	if blocks := strings.Count(string(page), "```caddyfile\n"); blocks != examples || blocks != len(documented) {
		t.Errorf("%d blocks, %d run, %d with requests", blocks, examples, len(documented))
	}
}

// TestRewrites_OfAllKinds: rewrites that make another call of a request are
// refused, what leaves it the same passes.
func TestRewrites_OfAllKinds(t *testing.T) {
	for rewrite, requests := range map[string][]rewritten{
		"rewrite /api/* /wp-json/wp/v2{uri}":       {{"GET /api/users", "400", ""}, {"GET /about/", "/about/", ""}},
		"uri replace /api /wp-json":                {{"GET /api/wp/v2/users", "400", ""}, {"GET /wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"}},
		"uri replace posts users":                  {{"GET /wp-json/wp/v2/posts", "400", ""}, {"GET /wp-json/wp/v2/pages", "/wp-json/wp/v2/pages", "GET /wp/v2/pages"}},
		"rewrite * /index.php{uri}":                {{"GET /wp-json/wp/v2/posts", "400", ""}},
		"rewrite /wp-json/* /about/":               {{"GET /wp-json/wp/v2/posts", "400", ""}},
		"uri query rest_route /wp/v2/pages":        {{"GET /wp-json/wp/v2/posts", "400", ""}, {"GET /?rest_route=/wp/v2/posts", "/?rest_route=%2Fwp%2Fv2%2Fpages", "GET /wp/v2/pages"}},
		"rewrite /short /?rest_route=/wp/v2/posts": {{"GET /short", "/?rest_route=/wp/v2/posts", "GET /wp/v2/posts"}},
		"method GET":                                        {{"POST /wp-json/wp/v2/posts | a=b", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"}, {"DELETE /wp-json/wp/v2/posts/5", "/wp-json/wp/v2/posts/5", "GET /wp/v2/posts/5"}},
		"uri strip_suffix /":                                {{"GET /wp-json/wp/v2/posts/", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"}},
		"rewrite * /index.php?{query}":                      {{"GET /wp-json/wp/v2/posts", "/index.php", "GET /wp/v2/posts"}, {"GET /?rest_route=/wp/v2/posts", "/index.php?rest_route=/wp/v2/posts", "GET /wp/v2/posts"}},
		"rewrite * /index.php?q={path}&{query}":             {{"GET /?rest_route=/wp/v2/posts", "/index.php?q=%2F&rest_route=/wp/v2/posts", "GET /wp/v2/posts"}, {"GET /a%26rest_route=/wp/v2/users", "400", ""}},
		"uri path_regexp /+ /":                              {{"GET //wp-json//wp/v2/posts", "400", ""}, {"GET /wp-json/wp/v2/posts", "/wp-json/wp/v2/posts", "GET /wp/v2/posts"}},
		"rewrite /wp-json/v1/* /other/index.php?{query}":    {{"GET /wp-json/v1/x", "400", ""}},
		"rewrite /feed/* /index.php?rest_route={path}&noop": {{"GET /feed/a", "/index.php?rest_route=%2Ffeed%2Fa&noop", "GET /feed/a"}},
	} {
		t.Run(rewrite, func(t *testing.T) {
			runRewrites(t, "\trestwarden wordpress\n\t"+rewrite+"\n\treverse_proxy 127.0.0.1:8080\n", requests)
		})
	}
}

// runRewrites runs one site and sends it requests.
func runRewrites(t *testing.T, site string, requests []rewritten) {
	t.Helper()
	proxy, php := newBackend(t), newFastCGI(t)
	root := scripts(t)
	site = directive.ReplaceAllString(site, "$0\n${1}witness")
	site = strings.NewReplacer("127.0.0.1:8080", proxy.address, "127.0.0.1:9000", php.address, "/srv/www", root).Replace(site)
	at := runEverywhere(t, "", site)
	overAll(t, "", func(t *testing.T, by *client) {
		for _, c := range requests {
			t.Run(c.line, func(t *testing.T) { c.hold(t, by, at(by.protocol)[0], proxy, php) })
		}
	})
	eventually(t, "the gateway asks for the REST root", func() bool {
		return slices.ContainsFunc(append(proxy.questions(), php.questions()...), func(a *arrival) bool {
			return strings.HasSuffix(a.path(), "/wp-json/") || a.target == "/index.php?rest_route=%2F" // no file of that name: the query form
		})
	})
	for _, a := range proxy.questions() { // the gateway asks where the back-end has its REST root
		if !strings.HasPrefix(a.target, "/wp-json/") && a.path() != "/wp-admin/admin-ajax.php" && !strings.HasPrefix(a.target, "/index.php?rest_route=") {
			t.Errorf("asked %s", a.target)
		}
	}
	for _, b := range []*backend{proxy, php} {
		for _, a := range b.rest() {
			t.Errorf("reached the backend unseen: %s %s", a.method, a.target)
		}
	}
}

// hold sends the request to a site in front of these two and compares what comes of it.
func (c *rewritten) hold(t *testing.T, by *client, address string, proxy, php *backend) {
	t.Helper()
	line, body, isForm := strings.Cut(c.line, " | ")
	raw := request(line, "")
	if isForm {
		raw = request(line, body, form)
	}
	p := by.try(t, address, proxy, raw)
	for _, j := range p.judged {
		p.arrived = append(p.arrived, php.take(j.n)...)
	}
	if c.want == "answered" {
		if len(p.arrived) > 0 || p.status == 0 || p.status >= 400 {
			t.Errorf("got %d %.200q, %d arrived", p.status, p.raw, len(p.arrived))
		}
		return
	}
	if len(c.want) == 3 {
		if len(p.arrived) > 0 || fmt.Sprint(p.status) != c.want {
			t.Errorf("got %d %.200q, %d arrived", p.status, p.raw, len(p.arrived))
		}
		return
	}
	kind := aCall
	if c.call == "" {
		kind = aPage
	}
	a := p.passed(t, kind, c.call)
	got := a.target
	if a.params != nil {
		got = strings.Join([]string{a.target, a.query, a.params["SCRIPT_NAME"]}, " ")
	}
	if got != c.want || a.body.String() != digestOf([]byte(body)).String() {
		t.Errorf("arrived %q %v, want %q", got, a.body, c.want)
	}
}
