package wordpress

import (
	"fmt"
	"strings"
)

// mutate changes d in one place.
func (g *generator) mutate(d *draft) {
	pick(g, g.spellPath, g.spellPath, g.spellName, g.secondRoute, g.override, g.spellMethod, g.contentType, g.otherPath, g.multipart, g.oddHeader)(d)
}

// spellPath writes the path in another way that some part of the chain may take
// for the same.
func (g *generator) spellPath(d *draft) {
	p := d.path
	switch g.rare(16) {
	case 0:
		p = strings.Replace(p, "/wp-json", pick(g, "/%77p-json", "/wp%2Djson", "//wp-json", "/WP-JSON", "/index.php/wp-json", "/de/wp-json", "/./wp-json", "/x/../wp-json", "/wp-json.", "/wp-jsonx"), 1)
	case 1:
		p = strings.Replace(p, "/wp-json/", pick(g, "/wp-json%2F", "/wp-json//", "/wp-json/./", "/wp-json/x/../"), 1)
	case 2:
		p = strings.ToUpper(p)
	case 3:
		p = "/wp-json" + strings.ToUpper(d.route)
	case 4, 5:
		p += pick(g, "/", "//", "%0A", "%0D", "%20", "%00", "\\", "%5C", ".", ";a", "%3Fx", "?")
	case 6:
		i := strings.LastIndexAny(p, "/")
		p = p[:i+1] + "000" + p[i+1:]
	case 7, 8, 9:
		p = g.encodeOne(p)
	case 10:
		p = strings.Replace(p, "/orders", pick(g, "//orders", "/./orders", "%2Forders", "/Orders", "/orders/x/.."), 1)
	case 11:
		p += pick(g, "%0A/x", "/%2e%2e", "%E2%84%AA", "\xe2\x84\xaa", "|", "#x")
	case 12:
		p = strings.Replace(g.encodeOne(p), "/wp-json", "/%77p-json", 1)
	default:
		return
	}
	d.path = p
}

// encodeOne percent-encodes one byte.
func (g *generator) encodeOne(s string) string {
	i := g.IntN(len(s))
	return fmt.Sprintf("%s%%%02x%s", s[:i], s[i], s[i+1:])
}

// routeNames are spellings of rest_route, some of which PHP folds to it.
var routeNames = []string{
	"rest.route", "rest+route", "rest%20route", "rest[route", "%20rest_route", "+rest.route", "rest_route%00x",
	"r%65st_route", "rest%5Froute", "REST_ROUTE", "rest_route[]", "rest-route", "%09rest_route", "rest_route+", "[rest_route",
}

func (g *generator) spellName(d *draft) {
	name := pick(g, routeNames...)
	for i, pair := range d.query {
		d.query[i] = strings.Replace(pair, "rest_route", name, 1)
	}
	for i, pair := range d.form {
		d.form[i] = strings.Replace(pair, "rest_route", name, 1)
	}
}

// secondRoute names another route beside the first one.
func (g *generator) secondRoute(d *draft) {
	name := "rest_route"
	if g.oneIn(3) {
		name = pick(g, routeNames...)
	}
	pair := name + "=" + pick(g, g.route(), g.route(), d.route, "", "0", "%0A")
	if d.form != nil && g.oneIn(2) {
		d.form = append(d.form, pair)
		return
	}
	d.query = append(d.query, pair)
	if g.oneIn(3) {
		last := len(d.query) - 1
		i := g.rare(last + 1)
		d.query[i], d.query[last] = d.query[last], d.query[i]
	}
}

func (g *generator) override(d *draft) {
	method := pick(g, "PUT", "DELETE", "POST", "put", "GET", "PATCH", "", "HEAD", "NOPE", " PUT")
	if g.oneIn(2) {
		name := pick(g, "_method", "_method", "_method", ".method", "%20_method", "_method%00", "+method", "_METHOD")
		d.query = append(d.query, name+"="+strings.ReplaceAll(method, " ", "+"))
		return
	}
	d.headers = append(d.headers, pick(g, "X-HTTP-Method-Override: ", "x-http-method-override: ", "X-HTTP-Method-Override:", "X_HTTP_Method_Override: ")+method)
}

func (g *generator) spellMethod(d *draft) {
	d.method = pick(g, "get", "post", "put", "Post", "delete", "TRACE", "LINK", d.method, d.method)
}

func (g *generator) contentType(d *draft) {
	d.ctype = pick(g, "", "application/json", "application/json; charset=utf-8", "text/plain", "application/vnd.x+json",
		"application/x-www-form-urlencoded; charset=utf-8", "application/x-www-form-urlencoded,application/json",
		"text/plain,application/json", "APPLICATION/JSON", "multipart/form-data; boundary=b", "application/jsonx", "text")
}

// paths run WordPress's main query, or other scripts.
var paths = []string{
	"/robots.txt", "/x.css", "/visitors/", "/feed/", "/wp-admin/nope.php", "/wp-login.php", "/wp-admin/admin-ajax.php",
	"/wp-admin/async-upload.php", "/xmlrpc.php", "/wp-trackback.php", "/wp-cron.php", "/wp-admin/", "/wp-content/", "/wp-login.php/x",
	"/wp-json-guide/", "/a/wp-json/b", "/wp-includes/css/dashicons.css",
}

func (g *generator) otherPath(d *draft) { d.path = pick(g, paths...) }

// multipart writes a form as multipart, quoted in one of the ways that PHP takes.
func (g *generator) multipart(d *draft) {
	if d.form == nil {
		return
	}
	var b strings.Builder
	for _, pair := range d.form {
		name, value, _ := strings.Cut(pair, "=")
		format := pick(g, "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n",
			"--b\r\nContent-Disposition: form-data; name=%s\r\n\r\n%s\r\n", "--b\r\nContent-Disposition: form-data; name='%s'\r\n\r\n%s\r\n",
			"--b\r\ncontent-disposition: attachment; name=\"x\"; name=\"%s\"\r\n\r\n%s\r\n", "--b\nContent-Disposition: form-data; name=\"%s\"\n\n%s\n",
			"--b\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"f\"\r\n\r\n%s\r\n")
		fmt.Fprintf(&b, format, name, value)
	}
	d.body = b.String() + pick(g, "--b--\r\n", "--b--\r\n", "")
	d.ctype = pick(g, "multipart/form-data; boundary=b", "multipart/form-data; boundary=b", "multipart/form-data; boundary=\"b\"", "multipart/form-data; xboundary=b", "Multipart/Form-Data; charset=x; boundary=b")
}

func (g *generator) oddHeader(d *draft) {
	d.headers = append(d.headers, pick(g, "Connection: X-HTTP-Method-Override", "Content-Type: text/plain", "Content_Type: application/json",
		"Content-Encoding: gzip", "Transfer-Encoding: identity", "X-WP-Nonce: x", "Expect: x", "Upgrade: websocket", "Origin: http://other.example",
		"X-Original-URL: /wp-json/wp/v2/users", "X-Rewrite-URL: /x", "X-Forwarded-Prefix: /x"))
}
