package call

import (
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// byteSet is a set of bytes that texts are tested against. Each request is tested several
// times.
type byteSet [256]bool

// alnumAnd returns the ASCII letters and digits, and others.
func alnumAnd(others string) *byteSet {
	s := new(byteSet)
	for c := range s {
		s[c] = alnum(byte(c))
	}
	for _, c := range []byte(others) {
		s[c] = true
	}
	return s
}

// holds tells whether all bytes of text are in s.
func (s *byteSet) holds(text string) bool {
	for i := range len(text) {
		if !s[text[i]] {
			return false
		}
	}
	return true
}

// plainBytes are those of a path that every server leaves as they are.
var plainBytes = alnumAnd("-._~/")

// escapedPath is u.EscapedPath, at less cost for a plain path.
func escapedPath(u *url.URL) string {
	if u.RawPath == "" && plainBytes.holds(u.Path) {
		return u.Path
	}
	return u.EscapedPath()
}

// dots tells whether a path has a "." or ".." segment.
func dots(s string) bool {
	if strings.IndexByte(s, '.') < 0 {
		return false
	}
	for s != "" {
		var segment string
		segment, s, _ = strings.Cut(s, "/")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// maxDecoded bounds how often something on the way decodes a text.
const maxDecoded = 8

// decodeAll decodes until nothing is left to decode. Some servers decode once, some twice.
func decodeAll(s string) string {
	for range maxDecoded {
		d := phpvars.Decode(s)
		if d == s {
			break
		}
		s = d
	}
	return s
}

// alnum tells whether c is an ASCII letter or digit.
func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
