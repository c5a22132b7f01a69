package index

import (
	"fmt"
	"regexp"
	"strings"
)

// expression writes a sequence as an expression of Go's regexp for routes in lower case.
func expression(seq []node) string {
	var b strings.Builder
	for i := range seq {
		n := &seq[i]
		switch {
		case n.alts != nil:
			list := make([]string, len(n.alts))
			for j, alt := range n.alts {
				list[j] = expression(alt)
			}
			b.WriteString("(?:" + strings.Join(list, "|") + ")")
		case n.set != nil:
			b.WriteString(n.set.expression())
		default:
			b.WriteString(regexp.QuoteMeta(string(lower(n.lit))))
		}
		switch {
		case n.once():
		case n.max < 0 && n.min == 0:
			b.WriteByte('*')
		case n.max < 0 && n.min == 1:
			b.WriteByte('+')
		case n.max < 0:
			fmt.Fprintf(&b, "{%d,}", n.min)
		default:
			fmt.Fprintf(&b, "{%d,%d}", n.min, n.max)
		}
	}
	return b.String()
}

// latin1 returns s with each byte as the character of the same number, as the platform
// takes them.
func latin1(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return widened(s)
		}
	}
	return s
}

func widened(s string) string {
	runes := make([]rune, len(s))
	for i := 0; i < len(s); i++ {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
