package grammar

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// header adds to the fields of a request, doubles or changes one.
func (g *Generator) header(r *Request, aim *Aim) {
	if i := g.IntN(len(r.Fields) + 2); i < len(r.Fields) {
		g.change(r, i)
		return
	}
	name := pick(g, "Content-Type", "Content-Type", "Connection", "Host", "Content-Encoding", "Upgrade", "Expect", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Original-URL", "Forwarded", "Trailer", "TE", "Cookie", "Authorization",
		"X-HTTP-Method-Override", "Range", "Max-Forwards", "Proxy", "Accept", "X-Rewrite-URL", "Content-Length", "Transfer-Encoding", "Keep-Alive", "X-WP-Nonce", "Origin", "Access-Control-Request-Method", "If-None-Match", "Via", "Script-Name", "Path-Info", "Request-Uri", "Redirect-Url")
	values := map[string][]string{
		"Content-Type":                  {formType, "multipart/form-data; boundary=B", "multipart/form-data; boundary=Z", "application/json", "text/plain", "", "x", formType + ", text/plain", "multipart/form-data", "multipart/form-data; boundary=\"", "application/json, " + formType},
		"Connection":                    {"close", "Content-Type", "X-HTTP-Method-Override", "keep-alive, content-length", "Upgrade", "Host", "close, Authorization", "HTTP2-Settings, Upgrade"},
		"Host":                          {aim.Host, "other.example", "", "127.0.0.1", aim.Host + ":1", aim.Host + " "},
		"Content-Encoding":              {"gzip", "deflate", "identity", "", "x", "br"},
		"Upgrade":                       {"h2c", "websocket", "HTTP/2.0", "TLS/1.0"},
		"Expect":                        {"100-continue", "x", ""},
		"X-Forwarded-Proto":             {"https", "http", "https, http"},
		"X-Original-URL":                {"/wp-json" + aim.Route, "/index.php?rest_route=" + aim.Route},
		"X-Rewrite-URL":                 {"/wp-json" + aim.Route},
		"Trailer":                       {"Content-Type", "X-HTTP-Method-Override", "Host"},
		"Cookie":                        {"wordpress_logged_in_0=x", "a=b", "rest_route=" + aim.Route, ";", "wordpress.logged_in_0=x"},
		"Authorization":                 {"Basic eDp5", "Bearer x", "", "Digest x"},
		"X-HTTP-Method-Override":        {aim.Method, "GET", "", "x"},
		"Content-Length":                {"0", strconv.Itoa(len(r.Body)), "+5", "5, 5", "0x5", " 5", "00", "-1"},
		"Transfer-Encoding":             {"chunked", "identity", "Chunked", "chunked, identity", "x", " chunked", "gzip, chunked"},
		"Origin":                        {"http://other.example", "null"},
		"Access-Control-Request-Method": {"PUT", aim.Method},
		"Path-Info":                     {"/wp-json" + aim.Route}, "Request-Uri": {"/wp-json" + aim.Route}, "Redirect-Url": {"/wp-json" + aim.Route}, "Script-Name": {"/index.php"},
	}[name]
	value := "x"
	if values != nil {
		value = pick(g, values...)
	}
	r.note("%s: %s", name, value)
	r.Fields = slices.Insert(r.Fields, g.IntN(len(r.Fields)+1), Field{name, value})
	r.Short = r.Short || name == "Content-Length" || name == "Transfer-Encoding"
	if name == "Content-Encoding" && value == "gzip" && r.Body != "" && g.oneIn(2) {
		r.Body = zipped(r.Body)
	}
}

func zipped(body string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(body)) // into memory
	_ = z.Close()
	return b.String()
}

// change doubles a field, spells its name in another way, or pads its value.
func (g *Generator) change(r *Request, i int) {
	f := r.Fields[i]
	how := pick(g, "twice", "twice", "other", "joined", "blanks", "case", "alias", "long", "control", "empty")
	r.note("%s: %s", f.Name, how)
	switch how {
	case "twice":
		r.Fields = slices.Insert(r.Fields, i+g.IntN(2), f)
	case "other":
		r.Fields = slices.Insert(r.Fields, i+g.IntN(2), Field{f.Name, pick(g, "x", "", "multipart/form-data; boundary=Z", "text/plain", formType, "application/json")})
	case "joined":
		f.Value += pick(g, ", ", ",", ";, ") + pick(g, f.Value, "x", "multipart/form-data; boundary=Z", "text/plain")
	case "blanks":
		f.Value = pick(g, " ", "\t", "", "\v", "\u00a0") + f.Value + pick(g, "", " ", "\t", "  ")
	case "case":
		f.Name = strings.ToUpper(f.Name)
	case "alias":
		f.Name = strings.ReplaceAll(f.Name, "-", pick(g, "_", ".", "~", "!", "*", "|"))
	case "long":
		f.Value = strings.Replace(f.Value, ";", "; x="+strings.Repeat("y", g.edge()%60_000)+";", 1)
	case "control":
		at := g.IntN(len(f.Value) + 1)
		f.Value = f.Value[:at] + pick(g, "\x01", "\x7f", "\xff", "\t", "\\") + f.Value[at:]
	case "empty":
		r.Fields = slices.Insert(r.Fields, i, Field{f.Name, ""})
	}
	if how != "twice" && how != "other" && how != "empty" {
		r.Fields[i] = f
	}
}

// announce says how long the body is, mostly rightly.
func (g *Generator) announce(r *Request) {
	if r.Body == "" && !g.oneIn(30) {
		return
	}
	switch g.rare(30) {
	case 0, 1, 2:
		r.note("chunked")
		r.add("Transfer-Encoding", "chunked")
		r.Body = g.chunked(r.Body)
	case 3:
		r.note("both lengths")
		r.add("Content-Length", strconv.Itoa(len(r.Body)))
		r.add("Transfer-Encoding", "chunked")
		r.Body = g.chunked(r.Body)
	case 4:
		n := len(r.Body) + pick(g, -5, -1, 1, 10)
		r.note("a length that is not that of the body")
		r.add("Content-Length", strconv.Itoa(max(0, n)))
		r.Short = n > len(r.Body)
	case 5:
		r.note("a length written oddly")
		r.add("Content-Length", pick(g, "+", "0", "0x", " ", "")+strconv.Itoa(len(r.Body))+pick(g, "", "", ".0", ", "+strconv.Itoa(len(r.Body))))
	case 6:
		r.note("no length")
	default:
		r.add("Content-Length", strconv.Itoa(len(r.Body)))
	}
}

// chunked writes a body in chunks (RFC 9112, 7.1), with extensions and trailers.
func (g *Generator) chunked(body string) string {
	var b strings.Builder
	for body != "" {
		n := min(len(body), pick(g, 1+g.IntN(40), len(body), len(body), 1+g.edge()))
		fmt.Fprintf(&b, "%s%x%s\r\n%s\r\n", pick(g, "", "", "", "0"), n, pick(g, "", "", "", ";x=y", " ", ";"), body[:n])
		body = body[n:]
	}
	b.WriteString("0\r\n" + pick(g, "", "", "", "X: y\r\n", "Content-Type: "+formType+"\r\n") + "\r\n")
	return b.String()
}
