package call

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// readAlias reads the path of u by the site's aliases, as the platform tries its rules: the
// first that fits wins, and each is tried on the raw text and then on the decoded one, below the
// home address (WP::parse_request in class-wp.php). A path that a rule might fit on its way
// through some server only is refused.
func (rd *Reader) readAlias(u *url.URL) pathReading {
	raw := between.EscapedPath(u)
	text, base := rd.belowHome(phpSlashes(raw))
	if text == "" || text == "0" || text == "index.php" { // the home page, for which no rule is tried
		return pathReading{}
	}
	tried := trials{rules: rd.rules}
	a, fitted := tried.first(text, phpvars.Decode(text))
	if a == nil {
		return pathReading{refusal: rd.nearAlias(&tried, raw, text)}
	}
	route := a.fill(fitted)
	switch {
	case cancelled(route): // the rule's, and no call
		return pathReading{}
	case namesScript(between.DecodeAll(raw)):
		return pathReading{refusal: errScriptPath}
	case u.RawPath != "" && u.RawPath != raw: // re-encoded on the way
		return pathReading{refusal: errTarget}
	case fitted != wide(text) && !decodesOnce(text), hasControl(between.DecodeAll(text)):
		return pathReading{refusal: errPath}
	}
	if route = cmp.Or(strings.TrimRight(route, "/"), "/"); !prettyRoute(route) {
		return pathReading{refusal: errPath}
	}
	return pathReading{isCall: true, route: route, base: base, alias: a.text}
}

// and joins what the prefix and the aliases say of one path.
func (p pathReading) and(a pathReading) pathReading {
	switch {
	case a == (pathReading{}), p.refusal != nil:
		return p
	case p == (pathReading{}), a.refusal != nil:
		return a
	case p.foreign || lower(p.route) != lower(a.route):
		return pathReading{refusal: errTwoRoutes}
	}
	return p
}

// belowHome returns a path as the platform matches it: without outer slashes, and without the
// home path, which it removes without regard to case or to a boundary. base is the home path
// where it stands there as configured.
func (rd *Reader) belowHome(path string) (text, base string) {
	path = strings.Trim(path, "/")
	if rd.site.Base == "" {
		return path, ""
	}
	home := rd.site.Base[1:]
	if len(path) < len(home) || lower(path[:len(home)]) != lower(home) {
		return path, ""
	}
	if under("/"+path, rd.site.Base) {
		base = rd.site.Base
	}
	return strings.Trim(path[len(home):], "/"), base
}

// decodesOnce tells whether every server that decodes a path and writes it again leaves the
// text that PHP decodes from it.
func decodesOnce(text string) bool {
	decoded := phpvars.Decode(text)
	return strings.IndexByte(text, '+') < 0 && phpvars.Decode(decoded) == decoded
}

// nearAlias refuses a path that no alias fits as it is sent, but that one fits once it is
// decoded further, straightened, or cut at a script, or that may be too many texts to tell. No
// honest client sends one.
func (rd *Reader) nearAlias(tried *trials, raw, text string) *Refusal {
	if tried.spent() {
		return errPath
	}
	if between.PlainBytes.Holds(raw) && !strings.Contains(raw, "//") && strings.IndexByte(raw, '.') < 0 {
		return nil
	}
	all := between.DecodeAll(text)
	if a, _ := tried.first(all, singleSlashes(all), strings.TrimSuffix(all, "\n"), strings.ReplaceAll(all, "\v", " ")); a != nil {
		return errPath
	}
	if refusal := rd.aliasBehindScript(tried, raw); refusal != nil {
		return refusal
	}
	if tried.spent() {
		return errPath
	}
	return nil
}

// maxScripts is how many scripts a path may name. Each may be the one that a server runs.
const maxScripts = 4

// aliasBehindScript refuses a path that an alias fits behind a script: in PATH_INFO, or in
// what is left where the platform takes an empty PATH_INFO out of the address.
func (rd *Reader) aliasBehindScript(tried *trials, raw string) *Refusal {
	for _, path := range []string{raw, phpvars.Decode(raw), between.DecodeAll(raw)} {
		at := lower(path)
		if strings.Count(at, ".php") > maxScripts {
			return errScriptPath
		}
		for end := 0; ; {
			i := strings.Index(at[end:], ".php")
			if i < 0 {
				break
			}
			end += i + len(".php")
			info, _, _ := strings.Cut(path[end:], "?")
			if info == "" {
				continue
			}
			text, _ := rd.belowHome(info)
			if text == "" || text == "0" {
				text, _ = rd.belowHome(strings.ReplaceAll(path, info, ""))
			}
			if a, _ := tried.first(text, singleSlashes(text)); a != nil {
				return errScriptPath
			}
		}
	}
	return nil
}

// aliasWithin tells whether an alias fits a decoded path, or what stands behind a script in it,
// unless tried is spent.
func (rd *Reader) aliasWithin(tried *trials, path string) bool {
	if len(rd.rules) == 0 {
		return false
	}
	text, _ := rd.belowHome(path)
	a, _ := tried.first(text, singleSlashes(text))
	return a != nil || rd.aliasBehindScript(tried, path) != nil
}

// phpSlashes writes a backslash before what WordPress slashes in REQUEST_URI.
func phpSlashes(s string) string {
	if !strings.ContainsAny(s, `'"\`) {
		return s
	}
	return slashed.Replace(s)
}

var slashed = strings.NewReplacer(`'`, `\'`, `"`, `\"`, `\`, `\\`)

func singleSlashes(s string) string {
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	return s
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}
