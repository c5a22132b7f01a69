package respell

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// writer writes the requests of one call.
type writer struct {
	host   string
	base   string   // home path of the site
	prefix string   // of the pretty form
	route  string   // as the platform dispatches it
	method string   // effective
	query  []string // pairs of the query, without route and method
	header []string // lines, without those of the body and of the method
	body   body
}

// body is what a call brings.
type body struct {
	kind  kind
	line  string // its Content-Type, as a header line
	bytes []byte
	pairs []string // of a form, without the route
}

// kind says what may be done with a body.
type kind int

const (
	none   kind = iota
	form        // urlencoded: the route may stand in it, and it may become multipart
	asJSON      // counts with every method on the wire (docs/platform I.3)
	opaque      // of another type: it stays on its own method
)

const (
	formType  = "Content-Type: application/x-www-form-urlencoded"
	boundary  = "----------------------restwarden"
	multipart = "Content-Type: multipart/form-data; boundary=" + boundary
)

// asWritten returns the bytes of r. Like curl, it calls a body without a type a form.
func (w *writer) asWritten(r Request) []byte {
	_, target, _ := strings.Cut(r.URL, "://") // the bytes of the URL as they are
	target, _, _ = strings.Cut(target, "#")
	if i := strings.IndexAny(target, "/?"); i >= 0 {
		target = target[i:]
	} else {
		target = ""
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	header := headerWithout(r.Header, "Host", "Content-Length", "Transfer-Encoding")
	if len(r.Body) > 0 && !hasHeader(header, "Content-Type") {
		header = append(header, formType)
	}
	return w.request(methodOf(r), target, header, r.Body)
}

// methodOf is the method on the wire.
func methodOf(r Request) string {
	switch {
	case r.Method != "":
		return r.Method
	case len(r.Body) > 0:
		return http.MethodPost
	}
	return http.MethodGet
}

// request returns the bytes of one request.
func (w *writer) request(method, target string, header []string, content []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, w.host)
	for _, line := range header {
		b.WriteString(line + "\r\n")
	}
	if len(content) > 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(content))
	}
	b.WriteString("\r\n")
	b.Write(content)
	return b.Bytes()
}

// learn takes r apart, which is read as c.
func (w *writer) learn(r Request, u *url.URL, c reading, prefix string) {
	w.prefix, w.route, w.method, w.base = prefix, c.route, c.method, c.base
	switch {
	case c.pretty:
	case r.Base != "":
		w.base = "/" + strings.Trim(r.Base, "/")
	default:
		w.base = strings.TrimRight(strings.TrimSuffix(u.EscapedPath(), "/index.php"), "/")
	}
	w.query = pairsWithout(u.RawQuery, "rest_route", "_method")
	w.header = headerWithout(r.Header, "Host", "Content-Length", "Transfer-Encoding", "Content-Type", "X-HTTP-Method-Override")
	if len(r.Body) == 0 {
		return
	}
	w.body = body{kind: opaque, line: formType, bytes: r.Body}
	for _, line := range r.Header {
		if nameOf(line) == "content-type" {
			w.body.line = line
		}
	}
	_, contentType, _ := strings.Cut(w.body.line, ":")
	switch urlencoded, _ := phpvars.FormKind(strings.TrimSpace(contentType)); {
	case phpvars.IsJSON(strings.TrimSpace(contentType)):
		w.body.kind = asJSON
	case urlencoded:
		w.body.kind = form
		w.body.pairs = pairsWithout(string(r.Body), "rest_route")
		w.body.bytes = []byte(strings.Join(w.body.pairs, "&"))
	}
}

// carrier is where the route stands, and how it is written.
type carrier struct {
	name      string
	path      string
	pair      string // with the route, in the query
	field     string // with the route, in a form body
	multipart bool   // field is the name of a part, decoded
	usual     bool   // combined with all usual ways
}

// naming is how the method is named.
type naming struct {
	name   string
	wire   string // method of the request line
	pair   string // in the query
	header string
	usual  bool // combined with all usual places
}

// write returns a spelling. ok is false where the call cannot be written so.
func (w *writer) write(p carrier, m naming) (s Spelling, ok bool) {
	if !w.allows(p, m) {
		return Spelling{}, false
	}
	target := p.path
	var pairs []string
	for _, pair := range []string{p.pair, m.pair} {
		if pair != "" {
			pairs = append(pairs, pair)
		}
	}
	if pairs = append(pairs, w.query...); len(pairs) > 0 {
		target += "?" + strings.Join(pairs, "&")
	}
	header, content := slices.Clone(w.header), w.body.bytes
	if m.header != "" {
		header = append(header, m.header)
	}
	switch {
	case p.multipart:
		header = append(header, multipart)
		content = w.parts(p.field)
	case p.field != "":
		header = append(header, formType)
		content = []byte(strings.Join(append([]string{p.field}, w.body.pairs...), "&"))
	case len(content) > 0:
		header = append(header, w.body.line)
	}
	name := p.name
	if m.name != "" {
		name += ", " + m.name
	}
	return Spelling{Name: name, Raw: w.request(m.wire, target, header, content)}, true
}

// allows tells whether the platform finds the same parameters in the body if the route and
// the method are written so: PHP reads forms of POST alone, and the core those of PUT, PATCH
// and DELETE (docs/platform I.3).
func (w *writer) allows(p carrier, m naming) bool {
	if p.field != "" && (m.wire != http.MethodPost || w.body.kind != none && w.body.kind != form || w.body.kind == form && !writes(w.method)) {
		return false
	}
	if p.multipart && slices.ContainsFunc(w.body.pairs, quoted) {
		return false
	}
	switch w.body.kind {
	case none:
		return true
	case asJSON:
		return m.wire != http.MethodHead
	case form:
		return m.wire == w.method || m.wire == http.MethodPost && writes(w.method)
	default: // opaque
		return m.wire == w.method
	}
}

func writes(method string) bool {
	return slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method)
}

// quoted tells whether the name of a pair cannot stand in the quotes of a part.
func quoted(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	return strings.ContainsAny(phpvars.Decode(name), "\"\\\r\n\x00")
}

// parts returns the form as multipart, with the route in the part name.
func (w *writer) parts(name string) []byte {
	var b bytes.Buffer
	part := func(name, value string) {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary, name, value)
	}
	part(name, w.route)
	for _, pair := range w.body.pairs {
		name, value, _ := strings.Cut(pair, "=")
		part(phpvars.Decode(name), phpvars.Decode(value))
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.Bytes()
}

// nameOf returns the name of a header line, in lower case.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line, ":")
	return strings.ToLower(strings.TrimSpace(name))
}

func hasHeader(lines []string, name string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return nameOf(line) == strings.ToLower(name) })
}

func headerWithout(lines []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return nameOf(line) == strings.ToLower(name) })
	})
}
