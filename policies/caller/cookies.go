package caller

import (
	"iter"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// cookiePairs yields the cookies of a request as sent, "name=value". PHP drops blanks
// before a name only.
func cookiePairs(h http.Header) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range h["Cookie"] {
			for pair := range strings.SplitSeq(line, ";") {
				if !yield(strings.TrimLeft(pair, " \t\r\n\v\f")) {
					return
				}
			}
		}
	}
}

// foldsOnto tells whether some release of PHP reads the name of a cookie as a name that
// begins with prefix, and returns the rest. PHP turns dots, blanks and brackets into
// underscores. Older releases, and those that convert what they read, decode the name first
// (docs/platform I.1.5; I.13, B7; CVE-2020-7070).
func foldsOnto(pair, prefix string) (rest string, folds bool) {
	name, _, _ := strings.Cut(pair, "=")
	name = strings.TrimLeft(phpvars.Decode(name), " ")
	for i := range len(prefix) {
		if i == len(name) {
			return "", false
		}
		c := name[i]
		if phpvars.Shifts(c) {
			return "", true
		}
		if c == '.' || c == ' ' || c == '[' || c == '+' {
			c = '_'
		}
		if c != prefix[i] {
			return "", false
		}
	}
	return name[len(prefix):], true
}

// hasLoginCookie tells whether h has a login cookie, or one that PHP may fold onto it.
func (s *Site) hasLoginCookie(h http.Header) bool {
	found, err := s.hasCookie(h, false)
	return found || err != nil
}

// sessionOf returns a hash that identifies the login session of a request, "" without
// one.
func sessionOf(h *hasher, header http.Header, p *platforms.Platform) string {
	var b []byte
	for pair := range cookiePairs(header) {
		if p.LogsIn(pair) {
			b = append(append(b, pair...), ';')
		}
	}
	if b == nil {
		return ""
	}
	return h.mac(b)
}
