package difftest

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// pair are two blocks of a site, before and after a change.
type pair struct{ old, now block }

// block is what stands in the block of a site: around the directive, in a snippet that it imports, and in the directive.
type block struct {
	before, matcher string
	snippet, lines  []string
}

// write writes the Caddyfile of a site, with the snippet.
func (b *block) write(address, upstream string) string {
	return "(common) {\n\t" + strings.Join(b.snippet, "\n\t") + "\n}\n" + address + " {\n" + b.body(upstream, "import common") + "}\n"
}

// live writes the body of the site's block, with what the snippet says.
func (b *block) live(upstream string) string { return b.body(upstream, b.snippet...) }

func (b *block) body(upstream string, first ...string) string {
	at, before := "", b.before
	if b.matcher != "" {
		at, before = "@some ", "\t@some "+b.matcher+"\n"+before
	}
	text := before + "\trestwarden " + at + "wordpress {\n\t\trelease 11.1\n\t\tidentity {\n\t\t\trate 1000000/1m\n\t\t}\n"
	for _, line := range slices.Concat(first, b.lines) {
		text += "\t\t" + strings.ReplaceAll(line, "\n", "\n\t\t") + "\n"
	}
	return text + "\t}\n\treverse_proxy " + upstream + "\n"
}

// scopeText is the block of the scope.
func (b *block) scopeText() string { return b.lines[0] }

// draw draws blocks.
type draw struct{ *rand.Rand }

func (d draw) one(of ...string) string { return of[d.IntN(len(of))] }

// route is a pattern that fits some of the calls that are tried.
func (d draw) route() string {
	return d.one("/acme/v1/x", "/acme/v1/*", "/acme/v1/**", "/acme/**", "/acme/*/x", "/wp/v2/posts", "/wp/v2/posts/:id", "/wp/v2/**", "/wp/v2/*",
		"/wp/v2/users", "/wc/v3/orders", "/wc/v3/orders/*", "/wc/v3/**", "/wc/**", "/*/v1/upload-logo", "/**", "/wp/v2/types/page", "/acme/v1/x/y")
}

func (d draw) line() string {
	who := d.one("deny", "allow anyone", "allow anyone", "allow users", "allow role editor", "allow role author,editor", "allow capability edit_posts", "allow scope erp")
	line := who + " " + d.one("", "", "GET ", "POST ", "POST,DELETE ") + d.route()
	if who == "allow anyone" && d.IntN(8) == 0 {
		line += " {\n\tfrom 203.0.113.0/24\n}"
	}
	return line
}

func (d draw) scope() string {
	text := "scope erp {\n\t" + d.one("key a1b2c3d", "key *", "user editor", "user editor\n\tkey a1b2c3d")
	for range d.IntN(3) {
		text += "\n\tallow " + d.one("", "GET ", "POST ") + d.route()
	}
	return text + d.one("", "", "", "\n\tmode observe", "\n\trate 1000000/1d") + "\n}"
}

func (d draw) block() (b block) {
	b.snippet = []string{d.one("login_only", "recommended on", "recommended off")}
	for range d.IntN(3) {
		b.snippet = append(b.snippet, d.line())
	}
	b.snippet = append(b.snippet, "allow role editor /never/named") // so that a report tells of editors
	b.lines = append(b.lines, d.scope())
	for range d.IntN(4) {
		b.lines = append(b.lines, d.line())
	}
	return b
}

// changed returns the block after a change of one kind.
func (d draw) changed(b block) block {
	b.snippet, b.lines = slices.Clone(b.snippet), slices.Clone(b.lines)
	last, at := len(b.lines)-1, 1+d.IntN(len(b.lines)) // behind the scope
	switch kind := d.IntN(12); {
	case kind == 0 && last > 0:
		b.lines = slices.Delete(b.lines, last, last+1)
	case kind == 1 && last > 1:
		line := b.lines[last]
		b.lines = slices.Insert(b.lines[:last], 1, line)
	case kind == 2:
		b.snippet = slices.Insert(b.snippet, 1, d.line())
	case kind == 3:
		b.snippet = []string{b.snippet[0], b.snippet[len(b.snippet)-1]}
	case kind == 4:
		b.lines = append(b.lines, d.one("allow plugin contact-form-7", "deny plugin complianz-gdpr", "allow plugin woocommerce"))
	case kind == 5:
		b.lines[0] = d.scope()
	case kind == 6:
		b.lines = append(b.lines, d.one("mode observe", "access {\n\tmode observe\n}", "access {\n\ton_error pass\n}", "order_type off"))
	case kind == 7:
		b.matcher = d.one("path /wp-json/*", "not path /wp-json/acme/*", "method GET")
	case kind == 8:
		b.before = d.one("\trespond /wp-json/acme/* 418\n", "\theader X-Test a\n", "\trewrite /wp-json/old /wp-json/acme/v1/x\n")
	default:
		b.lines = slices.Insert(b.lines, at, d.line())
	}
	return b
}
