package grammar

import (
	"fmt"
	"net/http"
	"strings"
)

// inMultipart names the route in a field of a multipart body.
func (g *Generator) inMultipart(r *Request, aim *Aim) {
	r.note("multipart")
	r.Target, r.Method = g.page(aim), "POST"
	if aim.Method != http.MethodPost {
		g.override(r, aim)
	}
	boundary := g.boundary()
	if strings.ContainsAny(boundary, "\n,;\"") {
		boundary = "B" // it must end where the header says
	}
	if len(boundary) > 100 {
		r.note("a boundary of %d bytes", len(boundary))
	}
	var b strings.Builder
	for range g.IntN(3) {
		g.otherPart(&b, boundary, aim)
	}
	g.routePart(r, &b, boundary, aim)
	if g.oneIn(5) {
		g.otherPart(&b, boundary, aim)
	}
	b.WriteString(pick(g, "--"+boundary+"--\r\n", "--"+boundary+"--\r\n", "--"+boundary+"--", ""))
	r.Body = b.String()
	quote := pick(g, "", "", "", `"`)
	r.add("Content-Type", pick(g, "multipart/form-data; boundary=", "multipart/form-data; boundary=", "multipart/form-data; boundary=", "multipart/form-data;boundary=", "Multipart/Form-Data; charset=utf-8; boundary=", "multipart/form-data; BOUNDARY=", "multipart/form-data; xboundary=")+
		quote+boundary+quote+pick(g, "", "", "", ";", "; charset=utf-8", ",x"))
}

// otherPart is a part before or behind the one with the route: a value, a file, or
// one that looks like the end.
func (g *Generator) otherPart(b *strings.Builder, boundary string, aim *Aim) {
	switch g.IntN(5) {
	case 0:
		fmt.Fprintf(b, "--%s\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n%s\r\n", boundary, pick(g, "0", "", aim.Decoy))
	case 1:
		fmt.Fprintf(b, "--%s\r\nContent-Disposition: form-data; name=\"f\"; filename=\"%s\"\r\nContent-Type: text/plain\r\n\r\n%s\r\n",
			boundary, pick(g, "f", "", "x.php"), pick(g, "", "x--"+boundary+"\r\ny", "--"+boundary[:len(boundary)-1], strings.Repeat("x", g.edge()), "\x00", "--"+boundary+"--"))
	case 2:
		fmt.Fprintf(b, "--%s\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n%s\r\n", boundary, pick(g, "1", strings.Repeat("v", g.edge()), "--", "\r\n--", "\x00"))
	case 3:
		fmt.Fprintf(b, "--%s\r\n%s: %s\r\n\r\nv\r\n", boundary, pick(g, "X", "Content-Type", "Content-Disposition"), strings.Repeat("h", g.edge()))
	default:
		g.part(b, boundary)
	}
}

// routePart is the field with the route, its header written in a way of its own.
func (g *Generator) routePart(r *Request, b *strings.Builder, boundary string, aim *Aim) {
	name := pick(g, "rest_route", "rest_route", "rest.route", "rest route", " rest_route", "rest[route", "rest_route\x00x", "rest_route[", strings.Repeat(" ", g.length())+"rest_route")
	quote := pick(g, `"`, `"`, `"`, `'`, "")
	header := pick(g, "Content-Disposition: form-data; ", "Content-Disposition: form-data; ", "content-disposition:form-data;", "Content-Disposition: attachment; x=y; ", "Content-Disposition: form-data; name=\"x\"; ", "Content-Disposition: ") +
		"name=" + quote + name + quote + pick(g, "", "", "", "; x=\"y\"", ";", " ")
	if g.oneIn(3) { // lines of a header are joined, and each ends at a NUL
		at := len("Content-Disposition:") + g.IntN(len(header)-len("Content-Disposition:")+1)
		fold := pick(g, "\x00x\r\n", "\r\n ", "\x00\n", "\r\n\t", "\x00"+strings.Repeat("x", g.IntN(40))+"\r\n", "\n")
		header = header[:at] + fold + header[at:]
		r.note("a folded header in a part: %q", fold)
	}
	if g.oneIn(8) {
		header = pick(g, "X: y\r\n", strings.Repeat("H: "+strings.Repeat("h", 500)+"\r\n", g.IntN(140)), ": x\r\n", "nothing\r\n") + header
	}
	fmt.Fprintf(b, "--%s%s%s%s%s%s", boundary, pick(g, "\r\n", "\r\n", "\r\n", "\n"), header, pick(g, "\r\n\r\n", "\r\n\r\n", "\r\n\r\n", "\n\n", "\r\nContent-Type: text/plain\r\n\r\n"),
		aim.Route, pick(g, "\r\n", "\r\n", "\r\n", "\n"))
}
