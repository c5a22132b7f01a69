package grammar

import (
	"fmt"
	"strings"
)

// inPath names the route in the path.
func (g *Generator) inPath(r *Request, aim *Aim) {
	r.note("path")
	path := "/wp-json" + aim.Route
	if len(aim.Paths) > 0 && g.oneIn(2) {
		r.note("a rewrite rule")
		path = pick(g, aim.Paths...)
	}
	for range g.IntN(4) {
		path = g.twisted(path, aim)
	}
	r.Target = aim.Base + path
	if g.oneIn(4) {
		r.Target += "?" + g.around("b=2", aim)
	}
	if g.oneIn(12) {
		g.decoyBody(r, aim)
		r.Method = pick(g, r.Method, aim.Method)
	}
}

// scripts are what a server may find in a path, beside index.php.
var scripts = []string{"/index.php", "/index.php", "/index.php", "/wp-login.php", "/wp-admin/index.php", "/x.php", "/.php", "/INDEX.PHP", "/index.php.", "/index.php%20", "/wp-cron.php", "/index.phpx", "/indexXphp"}

// cuts are texts that something on the way may take out of a path or end it at.
var cuts = []string{
	"index.php", "/index.php", "0", "/0", "/", "//", "/.", "/./", "/..", "/x/..", "..", ".", "%2e", "%2e%2e", "%2f", "%5c", "\\", ";", ";x=y", "%3b", "?", "%3f", "#", "%23", "%00", "%0a", "%0d", "%0d%0a", "%09", "%20", "+",
	"%", "%zz", "%u0077", "%25", "%252f", "%c3%a9", "%c3", "\xc3\xa9", "\x80", "%e2%80%8b", "*", "|", "\"", "'", "<", "{", "^", "~", "@", ":", ",", "=", "&", "$", "!", "(", "[", "%5b", "wp-json", ".php", ".php/", "x.php/", "x.php",
}

// twisted is a step away from a path.
func (g *Generator) twisted(p string, aim *Aim) string {
	at := g.IntN(len(p) + 1)
	cut := pick(g, cuts...)
	if aim.Base != "" && g.oneIn(8) {
		cut = pick(g, aim.Base, aim.Base[1:])
	}
	switch g.IntN(12) {
	case 0:
		return g.encoded(p)
	case 1:
		return p[:at] + cut + p[at:]
	case 2:
		return g.takenOut(p, at)
	case 3:
		return p[:at] + cut + p[at:] + pick(g, scripts...) + pick(g, "", "/", "/"+cut, cut)
	case 4:
		return pick(g, scripts...) + p
	case 5:
		return p + pick(g, scripts...)
	case 6:
		return p + cut
	case 7:
		return pick(g, "/", "//", "/.", "/x/..", "/de", "/x", "/a-", "/wp", "/\\", "/%2e", "/;", "/_", "/index.php?") + p
	case 8:
		return strings.ToUpper(p[:at]) + p[at:]
	case 9: // one byte, written as two or three
		if at == len(p) {
			return p
		}
		return p[:at] + fmt.Sprintf(pick(g, "%%%02x", "%%25%02x", "%%c0%%%02x", "%%u00%02x"), p[at]) + p[at+1:]
	case 10:
		return strings.ReplaceAll(p, "/", pick(g, "//", "/./", "%2f", "\\", "/x/../"))
	default:
		return p[:at] + strings.Repeat(pick(g, "/", "x", "%20", "./", "a/", "%c3%a9"), g.edge()%40_000) + p[at:]
	}
}

// takenOut puts a text into a path that the platform takes out again where the server
// calls the same text PATH_INFO: what stands behind a script, dot segments resolved.
func (g *Generator) takenOut(p string, at int) string {
	info := pick(g, "/index.php", "/index.php", "/0", "/x.php", "/", "/"+pick(g, cuts...))
	up := strings.Count(p, "/") + strings.Count(info, "/")
	if g.oneIn(3) {
		up = g.IntN(8)
	}
	script := pick(g, scripts...)
	p = p[:at] + info + p[at:]
	if i := strings.IndexAny(p, "-j"); i >= 0 && g.oneIn(2) {
		p = p[:i] + fmt.Sprintf("%%%02X", p[i]) + p[i+1:]
	}
	return script + p + pick(g, "%0A", "%0A", "", "%3F", "?") + strings.Repeat(pick(g, "/..", "/..", "/%2e%2e"), up) + pick(g, info, info, "", script)
}

// targetForm writes the target in another form (RFC 9112, 3.2), or a wrong one.
func (g *Generator) targetForm(r *Request, aim *Aim) {
	t := r.Target
	bare := strings.TrimPrefix(t, "/")
	form := pick(g, "absolute", "other host", "scheme", "scheme and slash", "two slashes", "no slash", "fragment", "asterisk", "blank", "userinfo", "authority", "upper scheme", "tail")
	r.note("target: %s", form)
	switch form {
	case "absolute":
		t = pick(g, "http://", "https://") + aim.Host + t
	case "other host":
		t = "http://" + pick(g, "other.example", "", ":80", "[::1]", "%31", "127.0.0.1:1") + t
	case "scheme":
		t = pick(g, "foo", "http", "x", "a.b", "php", "file") + ":" + bare
	case "scheme and slash":
		t = pick(g, "foo", "http", "unix") + ":" + t
	case "two slashes":
		t = pick(g, "//"+aim.Host+t, "///"+bare, "//"+bare, "/\\"+bare)
	case "no slash":
		t = bare
	case "fragment":
		t += pick(g, "#", "#x", "#&rest_route=0", "#?rest_route=0", "#/../..")
		if i := strings.IndexByte(r.Target, '?'); i >= 0 && g.oneIn(2) {
			t = r.Target[:i] + pick(g, "#", "#x") + r.Target[i:]
		}
	case "asterisk":
		t = pick(g, "*", "*"+t, "*/"+t)
	case "blank":
		at := g.IntN(len(t) + 1)
		t = t[:at] + pick(g, " ", "\t", "  ", " HTTP/1.1 ", " HTTP/1.0") + t[at:]
	case "userinfo":
		t = pick(g, "http://u:p@"+aim.Host+t, "//u@"+aim.Host+t, "/@"+bare)
	case "authority":
		t = aim.Host
	case "upper scheme":
		t = pick(g, "HTTP://", "Http://", "HTTPS://") + aim.Host + t
	case "tail":
		t += pick(g, "?", "??", "?#", "&", "/?", "%", "%3F", "?=", "?&&", "?"+strings.Repeat("x", g.edge()%50_000))
	}
	r.Target = t
}
