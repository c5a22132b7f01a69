package between

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// ByteSet is a set of bytes that texts are tested against. Each request is tested several
// times.
type ByteSet [256]bool

// AlnumAnd returns the ASCII letters and digits, and others.
func AlnumAnd(others string) *ByteSet {
	s := new(ByteSet)
	for c := range s {
		s[c] = Alnum(byte(c))
	}
	for _, c := range []byte(others) {
		s[c] = true
	}
	return s
}

// Holds tells whether all bytes of text are in s.
func (s *ByteSet) Holds(text string) bool {
	for i := range len(text) {
		if !s[text[i]] {
			return false
		}
	}
	return true
}

// PlainBytes are those of a path that every server leaves as they are. What skips work for such a
// path saves a seventh of a reading; FuzzUsualPath holds it against the rest.
var PlainBytes = AlnumAnd("-._~/")

// EscapedPath is u.EscapedPath, at less cost for a plain path.
func EscapedPath(u *url.URL) string {
	if u.RawPath == "" && PlainBytes.Holds(u.Path) {
		return u.Path
	}
	return u.EscapedPath()
}

// Dots tells whether a path has a "." or ".." segment.
func Dots(s string) bool {
	if strings.IndexByte(s, '.') < 0 {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// MaxDecoded bounds how often something on the way decodes a text.
const MaxDecoded = 8

// DecodeAll decodes until nothing is left to decode. Some servers decode once, some twice.
func DecodeAll(s string) string {
	for range MaxDecoded {
		d := phpvars.Decode(s)
		if d == s {
			break
		}
		s = d
	}
	return s
}

// PairsIn returns what of a path may become pairs of a query, in a decoded form; "" for most paths. Some servers put the decoded
// path into the query (nginx: /index.php?q=$uri&$args), and Caddy's rewrite takes the text behind a "?" in a placeholder for a
// query.
func PairsIn(path string) string {
	if PlainBytes.Holds(path) || !strings.ContainsAny(path, "?&;%") {
		return ""
	}
	path = DecodeAll(path)
	i := strings.IndexAny(path, "?&;")
	if i < 0 {
		return ""
	}
	return asPairs.Replace(path[i+1:])
}

// asPairs writes what begins a pair anywhere as it begins one in a query.
var asPairs = strings.NewReplacer("?", "&", ";", "&")

// ASCII tells whether all bytes of s are ASCII.
func ASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
}

// Wide returns a text whose characters are the bytes of s. PHP matches bytes, Go characters.
func Wide(s string) string {
	if ASCII(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// Alnum tells whether c is an ASCII letter or digit.
func Alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
