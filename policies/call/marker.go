package call

import (
	"net/url"
	"strings"
)

// marked tells whether an address holds the text that makes a shop key valid on any route.
// At the start of a pretty path that text is honest. The shop looks for it in the address
// as the platform cleans it (docs/platform III.8).
func (rd *Reader) marked(u *url.URL, p pathReading) bool {
	raw := u.EscapedPath()
	if u.RawQuery != "" {
		raw += "?" + u.RawQuery
	}
	cleaned := cleanedURL(raw)
	for _, marker := range rd.markers {
		i := strings.LastIndex(cleaned, marker)
		atStart := p.isCall && i >= 0 && strings.Trim(cleaned[:i], "/") == strings.Trim(p.base, "/")
		if i >= 0 && !atStart {
			return true
		}
	}
	return false
}

// cleanedURL drops what the platform's esc_url_raw drops: every byte that is not in a list,
// and encoded line ends until none is left.
func cleanedURL(s string) string {
	if strings.IndexFunc(s, dropped) < 0 && !strings.Contains(s, "%0") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if dropped(rune(c)) {
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

func dropped(c rune) bool {
	return c < 0x80 && !alnum(byte(c)) && strings.IndexByte("-~+_.?#=!&;,/:%@$|*'()[]", byte(c)) < 0
}
