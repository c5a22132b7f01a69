package call

import "net/url"

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
