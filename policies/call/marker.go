package call

import (
	"net/url"
	"strings"
)

// marked tells whether the text that makes a shop key valid on any route stands
// anywhere but at the head of a pretty path, as the shop looks for it: in the
// address, cleaned by the platform (platform-facts III.8).
func (rd *Reader) marked(u *url.URL, p place) bool {
	raw := u.EscapedPath()
	if u.RawQuery != "" {
		raw += "?" + u.RawQuery
	}
	cleaned := cleanedURL(raw)
	i := strings.LastIndex(cleaned, rd.marker)
	return i >= 0 && !(p.call && strings.Trim(cleaned[:i], "/") == strings.Trim(p.base, "/"))
}

// cleanedURL drops what the platform's esc_url_raw drops: all but a list of
// bytes, and then encoded line ends, until none is left.
func cleanedURL(s string) string {
	if strings.IndexFunc(s, dropped) >= 0 {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			if !dropped(rune(s[i])) {
				b = append(b, s[i])
			}
		}
		s = string(b)
	}
	for {
		i := strings.Index(s, "%0")
		for i >= 0 && (i+2 >= len(s) || s[i+2]|0x20 != 'a' && s[i+2]|0x20 != 'd') {
			j := strings.Index(s[i+2:], "%0")
			if j < 0 {
				return s
			}
			i += 2 + j
		}
		if i < 0 {
			return s
		}
		s = s[:i] + s[i+3:]
	}
}

func dropped(c rune) bool {
	return c < 0x80 && !alnum(byte(c)) && strings.IndexByte("-~+_.?#=!&;,/:%@$|*'()[]", byte(c)) < 0
}
