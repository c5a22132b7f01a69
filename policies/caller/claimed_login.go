package caller

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLogin bounds a login name, in bytes. WordPress has 60 characters at most.
const maxLogin = 240

// ClaimedLogin returns the login name, or e-mail, that w gives without proof: that of
// Authorization Basic, or of a login cookie. It is "" where there is none, where two differ,
// and for what is no name: the key of a shop stands in the place of a name. Anybody can send
// any name, so it is for the eyes of people alone.
func (w *Whole) ClaimedLogin() string {
	login := ""
	if name, ok := basicName(w.HTTP.Header); ok && !strings.HasPrefix(name, keyBegin) {
		login = name
	}
	for pair := range cookiePairs(w.HTTP.Header) {
		if !w.Site.Platform.LogsIn(pair) {
			continue
		}
		name, ok := cookieLogin(pair)
		if ok && login != "" && name != login {
			return ""
		}
		if ok {
			login = name
		}
	}
	if len(login) > maxLogin || !utf8.ValidString(login) || strings.ContainsFunc(login, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return login
}
