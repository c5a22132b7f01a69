package grammar

import (
	"fmt"
	"strings"
)

// tokens of names; brackets, blanks and dots decide.
var nameTokens = []string{
	"a", "b", "rest_route", "rest.route", "rest route", "rest+route", "rest_", "route", "_method", "id", "x", "0", "1", "-1", "-5", "007", "-0", "9",
	"9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "1e3", "__Host-", "__Secure-", "_Host-", "Host-", "GLOBALS", "this", "_SERVER",
	"\x00", "\xff", "\xc3\xa9", "\x01", "\x1f", "\x7f", "+", " ", "  ", ".", "..", "_", "[", "]", "[", "]", "[]", "[ ]", "[a]", "[a]", "[0]", "[-5]", "[a b]", "[a.b]", "[a_b]", "[[", "]]", "[a[b]]", "[a]b", "[a]b[c]", "[\x00]",
	"\t", "\n", "\v", "\f", "\r", "%", "%0", "%zz", "%25", "%2", "%g0", "#", "'", "\"", "\\", "/", "-", ";", ":", ",", "*",
}

var valueTokens = []string{"", "1", "/wp/v2/users", "x", "%", "%0", "%00", "\x00", "+", " ", "=", "%3D", "[", "\r\n", "\xff", "é", ";", "?", "#", "\"", "\\"}

// Pairs makes a query or an urlencoded form.
func (g *Generator) Pairs() string {
	n := 1 + g.IntN(6)
	switch g.rare(60) {
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

func (g *Generator) pair(b *strings.Builder, short bool) {
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
func (g *Generator) manyBrackets() string {
	depth := 58 + g.IntN(12)
	bracket := pick(g, "[x]", "[]", "%5Bx%5D", "[0]", "[ ]")
	return pick(g, "", "a=1&", "a[x]=1&") + "a" + strings.Repeat(bracket, depth) + pick(g, "", "[", "]", "[x") + "=1" + pick(g, "", "&b=1", "&a=2", "&a[x][y]=2")
}

// encoded writes s with some of its bytes percent-encoded; what would end a pair is
// mostly among them.
func (g *Generator) encoded(s string) string {
	every := pick(g, 1000, 1000, 8, 3, 1)
	var b strings.Builder
	for i := range len(s) {
		special := strings.IndexByte("&=", s[i]) >= 0 && !g.oneIn(8)
		chosen := every < 1000 && i%every == 0 // a long text must not take thousands of choices
		if i < 500 {
			chosen = every < 1000 && g.oneIn(every)
		}
		if special || chosen {
			fmt.Fprintf(&b, pick(g, "%%%02x", "%%%02X"), s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
