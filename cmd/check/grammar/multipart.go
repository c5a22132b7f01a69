package grammar

import (
	"strings"
)

// Multipart makes a form as main/rfc1867.c reads it: lines of at most 5120 bytes,
// words in quotes of three kinds, headers that fold, parts that do not end.
func (g *Generator) Multipart() (contentType, body string) {
	boundary := g.boundary()
	var b strings.Builder
	if g.oneIn(6) {
		b.WriteString(g.line(boundary) + g.eol())
	}
	n := 1 + g.IntN(4)
	if g.oneIn(150) {
		n = 990 + g.IntN(40) // more than max_input_vars and max_file_uploads together
	}
	for range n {
		if n > 100 {
			b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + pick(g, "a", "b[]", "rest_route") + "\"\r\n\r\n1\r\n")
			continue
		}
		g.part(&b, boundary)
	}
	b.WriteString(pick(g, "--"+boundary+"--\r\n", "--"+boundary+"--", "", "--"+boundary, "\r\n--"+boundary+"--\r\n"))
	if body = b.String(); g.oneIn(4) {
		body = g.damaged(body)
	}
	return g.multipartType(boundary), body
}

const boundaryBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'()+_./:=?-"

func (g *Generator) boundary() string {
	n := pick(g, 1, 1, 2, 16, 38, 70)
	if g.oneIn(10) {
		n = 1 + g.IntN(1100)
	}
	if g.oneIn(40) {
		n = pick(g, 5100, 5115, 5120, 5121, 6000) - g.IntN(8)
	}
	if g.oneIn(3) {
		return strings.Repeat(pick(g, "B", "-", "a", "\n--", "x"), n)
	}
	var b strings.Builder
	for range min(n, 40) { // a long one repeats: it must not take thousands of choices
		b.WriteByte(boundaryBytes[g.IntN(len(boundaryBytes))])
	}
	return strings.Repeat(b.String(), 1+n/b.Len())[:n]
}

func (g *Generator) multipartType(boundary string) string {
	if !g.oneIn(5) {
		return "multipart/form-data; boundary=" + boundary
	}
	return pick(g, "multipart/form-data; boundary=\"", "multipart/form-data; BOUNDARY=", "Multipart/Form-Data;boundary=", "multipart/form-data; charset=utf-8; boundary=",
		"multipart/form-data; xboundary=", "multipart/form-data; boundary =", "multipart/form-data boundary=", "multipart/form-data, boundary=", "multipart/form-data; x=\"boundary=A\"; boundary=",
		"multipart/form-data; boundary=A; boundary=", "multipart/form-data", "multipart/mixed; boundary=", "multipart/form-data; boundary= ") +
		boundary + pick(g, "", "\"", ";", ",x", " ", "\"x", ";charset=x")
}

func (g *Generator) eol() string {
	return pick(g, "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n")
}

// line is one that may be taken for another.
func (g *Generator) line(boundary string) string {
	near := boundary[:g.IntN(len(boundary)+1)]
	return pick(g, "", "x", "--", "--"+near, near, " --"+boundary, "--"+boundary+"x", "-", "\x00", "\x00--"+boundary, "--"+boundary+"\x00", "--"+boundary+" ", "--"+boundary+"--x",
		strings.Repeat(pick(g, "y", "-", "\x00", " "), g.length()))
}

func (g *Generator) part(b *strings.Builder, boundary string) {
	b.WriteString("--" + boundary + pick(g, "", "", "", "", "", "", " ", "\t", "--", "x", "\x00") + g.eol())
	for range g.IntN(2) {
		g.otherHeader(b)
	}
	if !g.oneIn(15) {
		b.WriteString(g.disposition() + g.eol())
	}
	for range g.IntN(2) {
		g.otherHeader(b)
	}
	if !g.oneIn(25) {
		b.WriteString(pick(g, "\r\n", "\r\n", "\r\n", "\n"))
	}
	for range g.IntN(3) {
		b.WriteString(pick(g, "v", "/wp/v2/users", "", g.line(boundary), strings.Repeat("v", g.length()), "\r", "\n", "\r\n", "\x00", "%41+b", "\xff"))
	}
	if !g.oneIn(20) {
		b.WriteString(g.eol())
	}
}

func (g *Generator) otherHeader(b *strings.Builder) {
	b.WriteString(pick(g, "Content-Type: text/plain", "X: y", "X:", ":", "nothing", " folded", "\tname=\"folded\"", "Content-Type: application/octet-stream; charset=x", "content-disposition : form-data; name=z",
		"X: "+strings.Repeat("h", g.length()), strings.Repeat("k", g.length())+": v", "Content-Transfer-Encoding: base64", "\x00", "X: \x00; name=q", "Content-Disposition: form-data; name=\"second\"") + g.eol())
}

// disposition is the header that names a field.
func (g *Generator) disposition() string {
	var b strings.Builder
	b.WriteString(pick(g, "Content-Disposition: form-data", "Content-Disposition: form-data", "Content-Disposition: form-data", "content-disposition:form-data", "CONTENT-DISPOSITION: attachment", "Content-Disposition:\t x",
		"Content-Disposition: form-data; a=b", "Content-Disposition: name=early", "Content-Disposition:  "))
	params := []string{"name"}
	for g.oneIn(4) {
		params = append(params, pick(g, "filename", "name", "NAME", "name*", "x", "filename*", "Filename", "xname", "file name"))
	}
	shuffle(g, params)
	for _, p := range params {
		b.WriteString(pick(g, "; ", "; ", "; ", ";", " ;", ";;", " ", ";\t", ",", ";\r\n ") + p + pick(g, "=", "=", "=", "=", "=", " =", "= ", "", "=="))
		b.WriteString(g.word())
	}
	b.WriteString(pick(g, "", "", "", ";", " ", "; ", "\x00", "; x"))
	return b.String()
}

// word is the value of a parameter, in one of the ways to quote it.
func (g *Generator) word() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(pick(g, pick(g, nameTokens...), "a", "rest_route", `\"`, `\\`, `\'`, `\`, "%41", "=", "rest_\x00x", "/", "C:\\x", "MAX_FILE_SIZE"))
	}
	if g.oneIn(12) {
		b.WriteString(strings.Repeat(pick(g, " ", "a", ".", "\\"), g.length()))
	}
	s := b.String()
	return pick(g, `"`+s+`"`, `"`+s+`"`, `"`+s+`"`, s, `'`+s+`'`, `"`+s, s+`"`, `"`+s+`"x`, `'`+s+`"`, `""`, "")
}

// damaged cuts, doubles, drops or changes something anywhere.
func (g *Generator) damaged(s string) string {
	for range 1 + g.IntN(3) {
		if len(s) < 2 {
			return s
		}
		i := g.IntN(len(s))
		j := min(len(s), i+1+g.IntN(12))
		switch g.IntN(5) {
		case 0:
			s = s[:i]
		case 1:
			s = s[:j] + s[i:]
		case 2:
			s = s[:i] + s[j:]
		case 3:
			s = s[:i] + pick(g, "\x00", "\r", "\n", "\"", ";", "=", ":", " ", "[", "]", "-", "\\") + s[i:]
		default:
			s = s[:i] + string(rune(g.IntN(128))) + s[i+1:]
		}
	}
	return s
}
