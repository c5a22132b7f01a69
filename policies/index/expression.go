package index

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// expression writes a sequence as an expression of Go's regexp for routes in lower case, with the names of its groups.
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
			open := "(?:"
			if n.name != "" {
				open = "(?P<" + n.name + ">"
			}
			b.WriteString(open + strings.Join(list, "|") + ")")
		case n.set != nil:
			b.WriteString(n.set.expression())
		default:
			b.WriteString(regexp.QuoteMeta(string(phpvars.LowerByte(n.lit))))
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
