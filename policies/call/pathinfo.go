package call

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// cutPath refuses paths out of which the platform may cut a part before it reads the rest.
// The platform removes the server's PATH_INFO from the address, at whatever position. It
// reads what is left if PATH_INFO is its own script, empty or "0" (WP::parse_request in
// class-wp.php). So "/index.php/wp%2D/index.phpjson/…/../.." is "/wp-json/…" where a
// server resolves dot segments, and so is "/wp-/index.phpjson/…" where PATH_INFO is
// "/index.php" on every page.
func (rd *Reader) cutPath(tried *trials, u *url.URL) *Refusal {
	if between.PlainBytes.Holds(u.Path) && strings.IndexByte(u.Path, '.') < 0 {
		return nil
	}
	decoded := between.DecodeAll(u.Path)
	path := lower(decoded)
	switch {
	case between.Dots(path):
		return errPath
	case gluedScript.MatchString(path), rd.cutsInfo(u, path):
		return errScriptPath
	}
	if refusal := rd.filteredPath(tried, u, decoded); refusal != nil {
		return refusal
	}
	return splits(path)
}

// cutsInfo tells whether the platform may take what stands behind a script in a decoded path out
// of the address.
func (rd *Reader) cutsInfo(u *url.URL, path string) bool {
	_, behind, _ := strings.Cut(path, ".php")
	if ownScript.MatchString(behind) {
		return true
	}
	infos, ok := rd.emptyInfos(behind)
	return !ok || slices.ContainsFunc(infos, func(info string) bool { return rd.namedWithout(u, info) })
}

// splits refuses a decoded path with a line end before its end. A server that puts the decoded
// path into its request to the next one would send a second request (docs/platform I.13). A
// link that somebody has copied with the end of its line is honest.
func splits(path string) *Refusal {
	if strings.ContainsAny(strings.TrimSuffix(strings.TrimSuffix(path, "\n"), "\r"), "\r\n") {
		return errPath
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

// mostInfos is how many different texts of a path may be an empty PATH_INFO. Each costs a look
// at the whole path. One script has one, and honest paths have one script.
const mostInfos = 4

// emptyInfos returns what the platform may take for an empty PATH_INFO, each once. behind is
// what follows the first script of a path. Servers differ in which script counts. ok is false
// where there are more than mostInfos. Each byte of behind is looked at a few times only.
func (rd *Reader) emptyInfos(behind string) (infos []string, ok bool) {
	base := lower(strings.TrimPrefix(rd.site.Base, "/"))
	for behind != "" {
		if info, empty := emptyInfo(behind, base); empty && !slices.Contains(infos, info) {
			if infos = append(infos, info); len(infos) > mostInfos {
				return nil, false
			}
		}
		_, behind, _ = strings.Cut(behind, ".php")
	}
	return infos, true
}

// emptyInfo tells whether the platform takes the PATH_INFO that s begins with for empty, and
// returns it: nothing but slashes, the home path and "0", up to a "?" or the end.
func emptyInfo(s, base string) (info string, empty bool) {
	rest := strings.TrimLeft(s, "/")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, base), "/")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "0"), "/")
	if rest != "" && rest[0] != '?' {
		return "", false
	}
	return s[:len(s)-len(rest)], true
}

// namedWithout tells whether the address names the prefix if the platform removes info.
func (rd *Reader) namedWithout(u *url.URL, info string) bool {
	raw := lower(between.EscapedPath(u))
	for _, cut := range []string{info, "/" + strings.Trim(info, "/"), strings.TrimRight(info, "/")} {
		if cut != "" && rd.names(between.DecodeAll(strings.ReplaceAll(raw, cut, ""))) {
			return true
		}
	}
	return false
}

// filteredPath refuses a page whose decoded path names the prefix, or a script with nothing
// behind it, once a filter has been at it: it is PATH_INFO on some pages, and some servers put it
// into their requests to the next one.
func (rd *Reader) filteredPath(tried *trials, u *url.URL, path string) *Refusal {
	if !between.Filtered(path) {
		return nil
	}
	if before, _, tag := strings.Cut(path, "<"); tag && !rd.names(path) {
		switch {
		case slices.ContainsFunc(rd.prefixes, func(prefix string) bool { return between.Spells(lower(path), prefix) }):
			return errPath
		case strings.Contains(lower(before), ".php"):
			return errScriptPath
		}
	}
	for _, low := range []rune{0, ' '} { // with and without control bytes
		rest := between.Without(path, func(c byte) bool { return c >= 0x80 || c == '`' || c < byte(low) })
		switch {
		case (rd.names(rest) || rd.names(lower(rest))) && !rd.names(path):
			return errPath
		case strings.Contains(lower(rest), ".php/") && rd.cutsInfo(u, lower(rest)):
			return errScriptPath
		case rest != path && rd.aliasWithin(tried, rest) && !rd.aliasWithin(tried, path), tried.spent():
			return errPath
		}
	}
	return nil
}
