package replay

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

var captures = regexp.MustCompile(`\\\$(\d)`)

// aliasedPath returns a path below the home address that an alias makes a call of a route, "" if
// there is none that is simple. The reading of the path tells whether it really does.
func aliasedPath(pattern, template, route string) string {
	fits, err := regexp.Compile("^" + captures.ReplaceAllString(regexp.QuoteMeta(template), "(?P<c$1>.+)") + "$")
	if err != nil {
		return ""
	}
	found := fits.FindStringSubmatch(route)
	if found == nil {
		return ""
	}
	captured := map[int]string{}
	for i, name := range fits.SubexpNames() {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "c")); err == nil {
			captured[n] = found[i]
		}
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	writeExample(&b, parsed, captured)
	return b.String()
}

// writeExample writes a text that an expression fits, with the texts that its groups have to capture.
func writeExample(b *strings.Builder, re *syntax.Regexp, captured map[int]string) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture:
		if text, known := captured[re.Cap]; known {
			b.WriteString(text)
			return
		}
		writeExample(b, re.Sub[0], captured)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			writeExample(b, sub, captured)
		}
	case syntax.OpPlus, syntax.OpAlternate:
		writeExample(b, re.Sub[0], captured)
	case syntax.OpRepeat:
		for range re.Min {
			writeExample(b, re.Sub[0], captured)
		}
	default: // what may be absent, and what fits between characters
	}
}
