package php

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// input is what PHP is asked about.
type input struct {
	kind, method, query, contentType, body string
	record                                 int // bytes of the body in one FastCGI record
}

// The kinds of inputs.
const (
	kindQuery     = "queries"
	kindForm      = "forms"
	kindMultipart = "multipart bodies"
	kindRaw       = "bodies of PUT"
)

var kinds = []string{kindQuery, kindForm, kindMultipart, kindRaw}

// generator makes inputs from what PHP's sources look at: main/php_variables.c,
// main/SAPI.c and main/rfc1867.c. It knows nothing of our reader but the lengths of
// its buffers.
type generator struct{ *rand.Rand }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// next returns the next input.
func (g *generator) next() *input {
	in := &input{method: "POST", record: pick(g, maxRecord, maxRecord, 1+g.IntN(40), 1024, 5120, 8192, 16384, 32768)}
	switch g.IntN(5) {
	case 0:
		// CGI cannot carry a NUL, nor php-fpm a variable over 64 KiB.
		query := strings.ReplaceAll(g.pairs(), "\x00", "%00")
		in.kind, in.method, in.query = kindQuery, "GET", query[:min(len(query), maxQuery)]
	case 1:
		in.kind, in.contentType, in.body = kindForm, g.formType(), g.pairs()
	case 2:
		in.kind, in.method, in.contentType, in.body = kindRaw, "PUT", formType, g.pairs()
	default:
		in.kind = kindMultipart
		g.multipart(in)
	}
	if in.record < 64 && len(in.body) > 4096 {
		in.record = 4096 // thousands of records would take seconds
	}
	return in
}

const maxQuery = 60_000

const formType = "application/x-www-form-urlencoded"

func (g *generator) formType() string {
	if !g.oneIn(12) {
		return formType
	}
	return formType + pick(g, "; charset=utf-8", ";", " ", ",x", "x", "\t", ", multipart/form-data; boundary=B", " ;boundary=B")
}

// edges are lengths at which something ends: PHP's buffers (1 KiB of a form's
// handler, 5 KiB of a line of multipart, 8 KiB of a stream, 16 KiB of a body), a
// FastCGI record, and the buffers of our reader (4, 16, 32 and 64 KiB).
var edges = []int{0, 1, 64, 255, 1000, 1024, 4096, 5120, 8192, 16384, 32768, 65535, 65536, 131072, 262144}

// length is mostly short, else a little around one of the edges.
func (g *generator) length() int {
	if !g.oneIn(24) {
		return g.IntN(6)
	}
	edge := edges[g.IntN(len(edges))]
	if edge > 65536 && !g.oneIn(4) {
		edge = 5120
	}
	return max(0, edge-g.IntN(24)+8)
}

// tokens of names; brackets, blanks and dots decide.
var nameTokens = []string{
	"a", "b", "rest_route", "rest.route", "rest route", "rest+route", "rest_", "route", "_method", "id", "x", "0", "1", "-1", "-5", "007", "-0", "9",
	"9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "1e3", "__Host-", "__Secure-", "_Host-", "Host-", "GLOBALS", "this", "_SERVER",
	"\x00", "\xff", "\xc3\xa9", "\x01", "\x1f", "\x7f", "+", " ", "  ", ".", "..", "_", "[", "]", "[", "]", "[]", "[ ]", "[a]", "[a]", "[0]", "[-5]", "[a b]", "[a.b]", "[a_b]", "[[", "]]", "[a[b]]", "[a]b", "[a]b[c]", "[\x00]",
	"\t", "\n", "\v", "\f", "\r", "%", "%0", "%zz", "%25", "%2", "%g0", "#", "'", "\"", "\\", "/", "-", ";", ":", ",", "*",
}

var valueTokens = []string{"", "1", "/wp/v2/users", "x", "%", "%0", "%00", "\x00", "+", " ", "=", "%3D", "[", "\r\n", "\xff", "é", ";", "?", "#", "\"", "\\"}

// pairs makes a query or an urlencoded form.
func (g *generator) pairs() string {
	n := 1 + g.IntN(6)
	switch g.IntN(60) {
	case 0:
		n = 996 + g.IntN(10) // max_input_vars is 1000
	case 1:
		return g.manyBrackets()
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(pick(g, "&", "&", "&", "&", "&", "&&", ";", "&amp;", "&&&"))
		}
		g.pair(&b, n > 100)
	}
	return b.String()
}

func (g *generator) pair(b *strings.Builder, short bool) {
	if short && !g.oneIn(200) {
		b.WriteString(pick(g, "a=1", "b", "", "a[]=1", "rest_route=1", "x[y]=2"))
		return
	}
	if g.oneIn(12) {
		b.WriteString(strings.Repeat(pick(g, " ", "+", "%20", "%09", "\t", "%00", ".", "%2e", "_"), g.length()))
	}
	for range 1 + g.IntN(5) {
		b.WriteString(g.encoded(nameTokens[g.IntN(len(nameTokens))]))
	}
	if g.oneIn(6) {
		b.WriteString(pick(g, "", "%00", "%00[x]", "%5B", "%5D", "%5b%5d"))
		return
	}
	b.WriteString("=")
	if g.oneIn(40) {
		b.WriteString(strings.Repeat(pick(g, "v", "%41", "%", "+", "%2"), g.length()))
	}
	for range g.IntN(3) {
		b.WriteString(g.encoded(valueTokens[g.IntN(len(valueTokens))]))
	}
}

// manyBrackets nests around max_input_nesting_level, 64.
func (g *generator) manyBrackets() string {
	depth := 58 + g.IntN(12)
	bracket := pick(g, "[x]", "[]", "%5Bx%5D", "[0]", "[ ]")
	return pick(g, "", "a=1&", "a[x]=1&") + "a" + strings.Repeat(bracket, depth) + pick(g, "", "[", "]", "[x") + "=1" + pick(g, "", "&b=1", "&a=2", "&a[x][y]=2")
}

// encoded writes s with some of its bytes percent-encoded; what would end a pair is
// mostly among them.
func (g *generator) encoded(s string) string {
	every := pick(g, 1, 3, 8, 1000, 1000)
	var b strings.Builder
	for i := range len(s) {
		special := strings.IndexByte("&=", s[i]) >= 0 && !g.oneIn(8)
		if special || every < 1000 && g.oneIn(every) {
			fmt.Fprintf(&b, pick(g, "%%%02x", "%%%02X"), s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
