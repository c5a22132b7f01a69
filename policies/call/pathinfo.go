package call

import (
	"net/url"
	"regexp"
	"strings"
)

// cutPath refuses paths out of which the platform may cut a part before it reads the rest.
// The platform removes the server's PATH_INFO from the address, at whatever position. It
// reads what is left if PATH_INFO is its own script, empty or "0" (WP::parse_request in
// class-wp.php). So "/index.php/wp%2D/index.phpjson/…/../.." is "/wp-json/…" where a
// server resolves dot segments, and so is "/wp-/index.phpjson/…" where PATH_INFO is
// "/index.php" on every page.
func (rd *Reader) cutPath(u *url.URL) *Refusal {
	if strings.IndexByte(u.Path, '%') < 0 && strings.IndexByte(u.Path, '.') < 0 {
		return nil
	}
	path := lower(decodeAll(u.Path))
	switch {
	case dots(path):
		return errPath
	case gluedScript.MatchString(path):
		return errScriptPath
	}
	_, info, _ := strings.Cut(path, ".php")
	if ownScript.MatchString(info) {
		return errScriptPath
	}
	for info != "" { // servers differ in which script counts
		if rd.emptyInfo(u, info) {
			return errScriptPath
		}
		_, info, _ = strings.Cut(info, ".php")
	}
	return nil
}

var (
	// gluedScript is the script's name with more behind it than a slash.
	gluedScript = regexp.MustCompile(`(?s)index\.php[^/]`)
	// ownScript is how the platform knows its own script in PATH_INFO: the dot is
	// any character.
	ownScript = regexp.MustCompile(`(?s)index.php`)
)

// emptyInfo tells whether the platform takes PATH_INFO for empty, and the rest of the
// address, without it, names the prefix.
func (rd *Reader) emptyInfo(u *url.URL, info string) bool {
	info, _, _ = strings.Cut(info, "?")
	rest := strings.Trim(info, "/")
	rest = strings.Trim(strings.TrimPrefix(rest, lower(strings.TrimPrefix(rd.site.Base, "/"))), "/")
	if rest != "" && rest != "0" {
		return false
	}
	raw := lower(escapedPath(u))
	for _, cut := range []string{info, "/" + strings.Trim(info, "/"), strings.TrimRight(info, "/")} {
		if cut == "" {
			continue
		}
		if rd.names(decodeAll(strings.ReplaceAll(raw, cut, ""))) {
			return true
		}
	}
	return false
}
