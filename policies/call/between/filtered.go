package between

import "strings"

// Some sites have PHP filter what it reads (filter.default in php.ini): variables, and what the
// server says of a request, PATH_INFO, CONTENT_TYPE and REQUEST_METHOD among it. The usual
// filter takes out tags, from a "<" to some ">" or to the end, and rewrites quotes. Its flags
// take out control bytes, back ticks, and all bytes that are not ASCII (docs/platform I.13, B6).

// FilteredByte tells whether a filter of PHP may take c out of a text, or write it otherwise.
func FilteredByte(c byte) bool {
	return dropped(c) || c == '<' || c == '>' || c == '"' || c == '\''
}

// dropped tells whether a filter of PHP may take c alone out of a text.
func dropped(c byte) bool { return c < ' ' || c >= 0x80 || c == '`' }

// Filtered tells whether a filter may change a text.
func Filtered(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 || FilteredByte(byte(c)) })
}

// Spells tells whether the bytes of word stand in text in their order, whatever is between them.
func Spells(text, word string) bool {
	for i := range len(text) {
		if word == "" {
			break
		}
		if text[i] == word[0] {
			word = word[1:]
		}
	}
	return word == ""
}

// Without returns text without the bytes that drop names.
func Without(text string, drop func(c byte) bool) string {
	var b strings.Builder
	from := 0
	for i := range len(text) {
		if drop(text[i]) {
			b.WriteString(text[from:i])
			from = i + 1
		}
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}
