//go:build wordpress

package wordpress

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// target is a site that the part attack calls: a Caddyfile of docs/guides/rewrites.md, or
// one of the other front-ends and sites that the docs name as working.
type target struct {
	name string
	text string   // the site block, without its address
	site string   // whose WordPress stands behind it
	at   []string // what stands before the site's paths there, "" for nothing
	// other tells that its PHP splits queries at ";", and that its site has the rewrite rules
	// of early.php.
	other bool
	// chained tells that addresses are rewritten several times on the way.
	chained bool

	port, tls int
}

// earlyPorts are the servers that end pages early.
type earlyPorts struct{ apache, lost, nginx, nginxQ, lossy, queryless, lighttpd, qsa, haproxy, small, sorted, twice, before, caddy, other int }

// lostHeader is the target where the server keeps Authorization from PHP.
const lostHeader = "Apache, mod_proxy_fcgi"

// documentedAt are the examples of docs/guides/rewrites.md by their headings: the paths at
// which they serve the site, and the site where it is not fpm's or Apache's.
var documentedAt = map[string]struct {
	at   []string
	site string
}{
	"PHP":                            {[]string{""}, fpm},
	"PHP with a fallback of its own": {[]string{""}, fpm},
	"PHP without php_fastcgi":        {[]string{""}, fpm},
	"All to the front controller":    {[]string{""}, fpm},
	"All to the front controller, without php_fastcgi": {[]string{""}, fpm},
	"A sub-folder, stripped by handle_path":            {[]string{"/blog", "/blog", ""}, apache},
	"A sub-folder, the gateway inside":                 {[]string{"/blog", "/blog", ""}, apache},
	"A sub-folder, stripped by uri":                    {[]string{"/blog", "/blog", ""}, apache},
	"A sub-folder with PHP":                            {[]string{"/blog", "/blog", ""}, subFolder},
	"Several back-ends":                                {[]string{""}, apache},
	"Multisite in sub-directories":                     {[]string{"", "/two"}, fpm},
	"Language directories":                             {[]string{"", "/de"}, apache},
	"Pretty paths for plain permalinks":                {[]string{""}, apache},
	"An order of one's own":                            {[]string{"", "/shop"}, apache},
	"Error pages by the platform":                      {[]string{""}, fpm},
	"Redirects":                                        {[]string{"", "/api"}, apache},
	"What the gateway cannot see":                      {[]string{"", "/internal"}, apache},
}

// otherTargets are front-ends and sites that docs/guides/rewrites.md does not show.
var otherTargets = []*target{
	{name: "nginx", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{nginx}\n", site: fpm, at: []string{""}},
	{name: "nginx, the path in the query", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{nginx_q}\n", site: fpm, at: []string{""}},
	{name: "nginx, the first variable lost", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{lossy}\n", site: fpm, at: []string{""}},
	{name: "nginx, the query lost", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{queryless}\n", site: fpm, at: []string{""}},
	{name: "lighttpd", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{lighttpd}\n", site: fpm, at: []string{""}},
	{name: "lighttpd, rewrites", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{qsa}\n", site: fpm, at: []string{""}},
	{name: "HAProxy", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{haproxy}\n", site: fpm, at: []string{""}},
	{name: "Varnish, small letters and a cut", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{small}\n", site: fpm, at: []string{""}, chained: true},
	{name: "Varnish, sorted and two cuts", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{sorted}\n", site: fpm, at: []string{""}, chained: true},
	{name: "Varnish, two cuts, and lighttpd", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{twice}\n", site: fpm, at: []string{""}, chained: true},
	{name: "HAProxy and Varnish", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{before}\n", site: fpm, at: []string{""}, chained: true},
	{name: "another Caddy", text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{caddy}\n", site: fpm, at: []string{""}},
	{
		name: "rewrite rules, and a PHP that splits at semicolons", site: fpm, at: []string{""}, other: true,
		text: "\trestwarden wordpress {\n\t\talias ^api/(.+) /$1\n\t\talias ^.well-known/canary/(.+)$ /canary/v1/$1\n\t}\n\treverse_proxy 127.0.0.1:{other}\n",
	},
	{name: lostHeader, text: "\trestwarden wordpress\n\treverse_proxy 127.0.0.1:{lost}\n", site: apache, at: []string{""}},
	{name: "plain permalinks", text: "\troot /srv/www\n\trestwarden wordpress\n\tphp_fastcgi 127.0.0.1:9000\n\tfile_server\n", site: plain, at: []string{""}},
}

var (
	exampleHeading = regexp.MustCompile(`(?m)^##+ (.*)$`)
	exampleBlock   = regexp.MustCompile("(?ms)^```caddyfile\nshop.example.com \\{\n(.*?)^}\n```")
	exampleGate    = regexp.MustCompile(`(?m)^(\t+)restwarden wordpress( \{)?$`)
)

// readTargets reads the examples of docs/guides/rewrites.md. One that is not known here is
// an error.
func readTargets(root string) ([]*target, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "guides", "rewrites.md"))
	if err != nil {
		return nil, err
	}
	var list []*target
	for _, at := range exampleBlock.FindAllSubmatchIndex(text, -1) {
		headings := exampleHeading.FindAllSubmatch(text[:at[0]], -1)
		name := string(headings[len(headings)-1][1])
		known, ok := documentedAt[name]
		if !ok {
			return nil, fmt.Errorf("docs/guides/rewrites.md: the example %q is not attacked: where does it serve the site?", name)
		}
		list = append(list, &target{name: name, text: string(text[at[2]:at[3]]), site: known.site, at: known.at})
	}
	if len(list) != len(documentedAt) {
		return nil, fmt.Errorf("docs/guides/rewrites.md: %d examples, %d are known", len(list), len(documentedAt))
	}
	return append(list, otherTargets...), nil
}

// guard are the options of every target's directive: whoever reaches a canary that
// these close has walked around them.
const guard = `
	login_only
	allow anyone GET /canary/v1/open/** /wp/v2/posts/**
	deny POST,PUT,PATCH,DELETE /canary/v1/read/**
	deny /canary/v1/never/**
	identity {
		rate 1000000/1m
	}`

// withOptions puts options into every directive of a Caddyfile.
func withOptions(text, options string) string {
	return exampleGate.ReplaceAllStringFunc(text, func(line string) string {
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		opened, ends := line, ""
		if !strings.HasSuffix(line, "{") {
			opened, ends = line+" {", "\n"+indent+"}"
		}
		return opened + strings.ReplaceAll(options, "\n", "\n"+indent) + ends
	})
}

// blocks writes a target's site blocks, over http and https.
func (s *stack) blocks(t *target) string {
	site := s.site(t.site)
	text := withOptions(t.text, guard)
	text = strings.NewReplacer(
		"127.0.0.1:9000", "unix/"+s.earlySocket(), "127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", s.early.apache), "/srv/www", site.Root,
		"{nginx}", fmt.Sprint(s.early.nginx), "{nginx_q}", fmt.Sprint(s.early.nginxQ), "{caddy}", fmt.Sprint(s.early.caddy),
		"{lossy}", fmt.Sprint(s.early.lossy), "{queryless}", fmt.Sprint(s.early.queryless), "{lighttpd}", fmt.Sprint(s.early.lighttpd), "{qsa}", fmt.Sprint(s.early.qsa), "{haproxy}", fmt.Sprint(s.early.haproxy),
		"{small}", fmt.Sprint(s.early.small), "{sorted}", fmt.Sprint(s.early.sorted), "{twice}", fmt.Sprint(s.early.twice), "{before}", fmt.Sprint(s.early.before),
		"{lost}", fmt.Sprint(s.early.lost), "{other}", fmt.Sprint(s.early.other),
	).Replace(text)
	return fmt.Sprintf("# %s\nhttp://127.0.0.1:%d {\n\tbind 127.0.0.1\n%s}\nhttps://127.0.0.1:%d {\n\tbind 127.0.0.1\n\ttls internal\n%s}\n", t.name, t.port, text, t.tls, text)
}
