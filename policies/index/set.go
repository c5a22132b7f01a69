package index

import (
	"fmt"
	"strings"
)

// set is a set of bytes. The platform compares bytes, and folds ASCII letters only.
type set [4]uint64

func (s *set) add(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

func (s *set) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *set) join(t set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *set) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// fold adds the other case of each letter.
func (s *set) fold() {
	for c := byte('a'); c <= 'z'; c++ {
		if s.has(c) || s.has(c-0x20) {
			s.add(c, c)
			s.add(c-0x20, c-0x20)
		}
	}
}

// expression returns s as a class of Go's regexp, where a byte is the character of the
// same number.
func (s *set) expression() string {
	var b strings.Builder
	b.WriteByte('[')
	for lo := 0; lo < 256; lo++ {
		if !s.has(byte(lo)) {
			continue
		}
		hi := lo
		for hi < 255 && s.has(byte(hi+1)) {
			hi++
		}
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, lo, hi)
		lo = hi
	}
	if b.Len() == 1 {
		return `[^\x{0}-\x{10FFFF}]`
	}
	b.WriteByte(']')
	return b.String()
}

func setOf(ranges string) (s set) {
	for i := 0; i+1 < len(ranges); i += 2 {
		s.add(ranges[i], ranges[i+1])
	}
	return s
}

// types are the classes that a letter stands for, as PCRE has them without a locale.
var types = map[byte]set{
	'd': setOf("09"), 'w': setOf("09AZ__az"), 's': setOf("\t\r  "), 'h': setOf("\t\t  \xa0\xa0"),
}

// posix are the named classes, "[:alnum:]".
var posix = map[string]set{
	"alnum": setOf("09AZaz"), "alpha": setOf("AZaz"), "digit": setOf("09"), "lower": setOf("az"), "upper": setOf("AZ"),
	"xdigit": setOf("09AFaf"), "word": setOf("09AZ__az"), "space": setOf("\t\r  "), "punct": setOf("!/:@[`{~"),
}

// classOf returns the class that \c stands for.
func classOf(c byte) (set, bool) {
	s, ok := types[c|0x20]
	if ok && c&0x20 == 0 {
		s.invert()
	}
	return s, ok
}

// anything is ".": every byte but the end of a line.
func anything() set {
	s := setOf("\n\n")
	s.invert()
	return s
}
