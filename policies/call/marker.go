package call

import (
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// marked tells whether an address holds the text that makes a shop key valid on any route.
// At the start of a pretty path that text is honest. The shop looks for it in the address
// as the platform cleans it (docs/platform III.8).
func (rd *Reader) marked(u *url.URL, p pathReading) bool {
	path, query := cleanedURL(between.EscapedPath(u)), cleanedURL(u.RawQuery) // no marker has a "?"
	for _, marker := range rd.markers {
		i := strings.LastIndex(path, marker)
		atStart := p.isCall && i >= 0 && strings.Trim(path[:i], "/") == strings.Trim(p.base, "/")
		if i >= 0 && !atStart || strings.Contains(query, marker) || filteredHolds(u.RawQuery, marker) {
			return true
		}
	}
	return false
}

// cleanedURL drops what the platform's esc_url_raw drops: every byte that is not in a list,
// and encoded line ends until none is left.
func cleanedURL(s string) string {
	if keptBytes.Holds(s) && !strings.Contains(s, "%0") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if !keptBytes[c] {
			continue
		}
		b = append(b, c)
		// What a removed line end leaves side by side may be the next one.
		if n := len(b); n >= 3 && b[n-3] == '%' && b[n-2] == '0' && (b[n-1]|0x20 == 'a' || b[n-1]|0x20 == 'd') {
			b = b[:n-3]
		}
	}
	return string(b)
}

// keptBytes are those that esc_url_raw keeps.
var keptBytes = func() *between.ByteSet {
	s := between.AlnumAnd("-~+_.?#=!&;,/:%@$|*'()[]")
	for c := 0x80; c < len(s); c++ {
		s[c] = true
	}
	return s
}()

// filteredHolds tells whether a query may hold word once a filter and the platform have cleaned it.
func filteredHolds(query, word string) bool {
	if !between.Filtered(query) {
		return false
	}
	return strings.IndexByte(query, '<') >= 0 && between.Spells(query, word) || strings.Contains(cleanedURL(between.Without(query, between.FilteredByte)), word)
}
