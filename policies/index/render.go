package index

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// maxName bounds the name of a pattern.
const maxName = 200

// render returns the name of a pattern: its literal text, ":name" for a named group, "*"
// for text that has no name, "[…]" for a part that may be absent and "(a|b)" for
// alternatives. The alphabet is closed: any other character becomes "_".
func render(seq []node) string {
	var b strings.Builder
	renderSequence(&b, seq)
	name := strings.TrimSuffix(b.String(), "[/]")
	if len(name) > maxName {
		name = name[:maxName]
	}
	return name
}

func renderSequence(b *strings.Builder, seq []node) {
	for i := range seq {
		renderNode(b, &seq[i])
	}
}

func renderNode(b *strings.Builder, n *node) {
	switch {
	case n.name != "":
		optional(b, n, ":"+n.name)
	case n.lit != 0 && n.once(), n.literal('/') && n.min == 1 && n.max < 0:
		b.WriteByte(plain(n.lit))
	case n.literal(0) && n.min == 0 && n.max == 1:
		optional(b, n, string(plain(n.lit)))
	case n.alts != nil && (n.once() || n.min == 0 && n.max == 1):
		var inner strings.Builder
		for i, seq := range n.alts {
			if i > 0 {
				inner.WriteByte('|')
			}
			renderSequence(&inner, seq)
		}
		text := inner.String()
		switch {
		case text == "":
			return
		case n.min == 1 && len(n.alts) > 1:
			text = "(" + text + ")"
		case n.min == 1 && text == "*": // as a class without a group
			anyText(b)
			return
		}
		optional(b, n, text)
	default:
		anyText(b)
	}
}

// anyText writes one "*" for any run of text without a name.
func anyText(b *strings.Builder) {
	if !strings.HasSuffix(b.String(), "*") {
		b.WriteByte('*')
	}
}

func optional(b *strings.Builder, n *node, text string) {
	if n.min == 0 {
		text = "[" + text + "]"
	}
	b.WriteString(text)
}

// plainMarks are what names hold of a pattern, beside letters and digits.
const plainMarks = "_/-._~"

// plain returns c where a name may hold it.
func plain(c byte) byte {
	if between.Alnum(c) || strings.IndexByte(plainMarks, c) >= 0 {
		return c
	}
	return '_'
}
