package call

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// pathReading is what a path says: a page, a call in the pretty form, or neither for
// certain.
type pathReading struct {
	isCall  bool
	foreign bool
	own     bool // by the site's own prefix, not another name of it
	route   string
	base    string
	alias   string // that made a call of it; "" for the prefix
	refusal *Refusal
}

// form is the form of a call that p makes.
func (p pathReading) form() Form {
	if p.alias != "" {
		return Aliased
	}
	return Pretty
}

// sameAs tells whether two paths are the same page or the same call.
func (p pathReading) sameAs(q pathReading) bool {
	return p.isCall == q.isCall && p.foreign == q.foreign && lower(p.route) == lower(q.route) && p.refusal == q.refusal
}

// readPath reads the path of u as it is sent on: by the prefix, and by the aliases where the
// site has any.
func (rd *Reader) readPath(u *url.URL) pathReading {
	p := rd.readPrefix(u)
	if len(rd.rules) == 0 {
		return p
	}
	return p.and(rd.readAlias(u))
}

// readPrefix reads a path by the prefix. The platform matches its rewrite rules
// against the raw text first, so that a route stays undecoded. It matches them against the
// decoded text where that fails (docs/platform I.1.4). A path of the second kind is
// refused: no honest client encodes the prefix.
func (rd *Reader) readPrefix(u *url.URL) pathReading {
	raw := between.EscapedPath(u)
	plain := u.RawPath == "" && strings.IndexByte(raw, '%') < 0
	if plain && !containsAny(raw, rd.prefixes) && !containsAny(raw, rd.foreign) {
		return pathReading{}
	}
	decoded := raw
	if !plain {
		decoded = between.DecodeAll(raw)
	}
	own, n := named(decoded, rd.prefixes, rd.homeEnds)
	other, others := named(decoded, rd.foreign, never)
	switch {
	case n+others == 0:
		return pathReading{}
	case namesScript(decoded): // docs/platform I.12, 9
		return pathReading{refusal: errScriptPath}
	case u.RawPath != "" && u.RawPath != raw: // re-encoded on the way (docs/platform I.11, P2)
		return pathReading{refusal: errTarget}
	case n+others > 1:
		return pathReading{refusal: errPath}
	case n == 0:
		p := split(raw, other)
		p.foreign = true
		return p
	}
	p := split(raw, own)
	p.own = p.isCall && own == rd.prefixes[0]
	if p.isCall && rd.names(p.base) { // a rule might fit there already
		return pathReading{refusal: errPath}
	}
	return p
}

// containsAny is a quick test for named.
func containsAny(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.Contains(path, prefix) })
}

// named returns the last of the prefixes that a decoded path names, and how many of them it
// names, see mentions.
func named(decoded string, prefixes []string, home func(before string) bool) (prefix string, n int) {
	for _, p := range prefixes {
		if mentions(decoded, p, home) {
			prefix = p
			n++
		}
	}
	return prefix, n
}

// names tells whether a decoded path names one of the site's prefixes.
func (rd *Reader) names(decoded string) bool {
	_, n := named(decoded, rd.prefixes, rd.homeEnds)
	return n > 0
}

// namesScript tells whether a decoded path holds a script with more behind it, or the front
// controller. The platform may cut either out of a route.
func namesScript(decoded string) bool {
	decoded = lower(decoded)
	return strings.Contains(decoded, ".php/") || strings.Contains(decoded, "index.php")
}

// split takes a path apart at its one segment prefix.
func split(raw, prefix string) pathReading {
	at := -1
	for i := 0; i < len(raw); {
		end := len(raw)
		if j := strings.IndexByte(raw[i:], '/'); j >= 0 {
			end = i + j
		}
		if raw[i:end] == prefix {
			if at >= 0 {
				return pathReading{refusal: errPath}
			}
			at = i
		}
		i = end + 1
	}
	if at < 0 {
		return pathReading{refusal: errPath}
	}
	route := cmp.Or(strings.TrimRight(raw[at+len(prefix):], "/"), "/")
	base, ok := before(raw[:at])
	if !ok || !prettyRoute(route) {
		return pathReading{refusal: errPath}
	}
	return pathReading{isCall: true, route: route, base: base}
}

// before returns the text before the prefix as a base. ok is false where it is not a plain
// path. The platform trims outer slashes.
func before(s string) (base string, ok bool) {
	s = strings.Trim(s, "/")
	if s == "" {
		return "", true
	}
	if !plainPath(s) {
		return "", false
	}
	return "/" + s, true
}

// plainPath tells whether s is made of segments that no server rewrites.
func plainPath(s string) bool {
	return between.PlainBytes.Holds(s) && !strings.Contains(s, "//") && !between.Dots(s)
}

// prettyRoute tells whether a raw route is the same to every front-end. Decoded, it must
// have no control bytes, quotes or backslashes, no additional slashes and no dot segments.
func prettyRoute(route string) bool {
	if between.PlainBytes.Holds(route) {
		return !between.Dots(route)
	}
	if strings.IndexByte(route, '%') >= 0 {
		decoded := between.DecodeAll(route)
		if strings.Count(decoded, "/") != strings.Count(route, "/") {
			return false
		}
		route = decoded
	}
	return !hasControl(route) && !strings.ContainsAny(route, "\"'\\<>#?^`{|}") && !between.Dots(route)
}

// maxRoute bounds a route, in bytes. The longest of the platform holds one name of a post, 200
// bytes that may each be escaped. Every part of a shop's batch has the route of its collection.
const maxRoute = 1 << 10

// straight tells whether a route stays the same if a server behind the gateway straightens
// paths. The platform itself leaves "//" and escapes of plain characters alone
// (docs/platform I.1.3), so that a free segment of one route fits text that looks like
// another route.
func straight(route string) bool {
	if between.PlainBytes.Holds(route) && !strings.Contains(route, "//") {
		return true
	}
	if strings.HasSuffix(between.DecodeAll(route), " ") { // nginx drops it where it passes on the decoded path
		return false
	}
	if once := phpvars.Decode(strings.ReplaceAll(route, "+", "%2B")); once != route && strings.IndexByte(once, '%') >= 0 && !straight(once) {
		return false // some servers decode before a rewrite, and PHP decodes again
	}
	double := platforms.IsTemplate(route)
	for i := 0; i < len(route); i++ {
		switch {
		case route[i] == '/' && i > 0 && route[i-1] == '/' && !double:
			return false
		case route[i] == '%' && i+2 < len(route):
			if c := phpvars.Decode(route[i : i+3]); len(c) == 1 && (between.Alnum(c[0]) || strings.Contains("-._~", c)) {
				return false
			}
		}
	}
	return true
}

// mentions tells whether a decoded path has prefix as a segment, or behind text that may be
// the home path. The platform removes the home path without regard to a boundary or case
// (docs/platform I.6), so "/BLOGwp-json" counts. A slug like "about-wp-json" does not.
func mentions(path, prefix string, home func(before string) bool) bool {
	for from := 0; ; {
		i := strings.Index(path[from:], prefix)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(prefix)
		// Some servers take what follows ".php" for PATH_INFO, slash or not.
		start := i == 0 || path[i-1] <= ' ' || strings.IndexByte(`/\`, path[i-1]) >= 0 || lower(path[max(0, i-4):i]) == ".php" || home(path[:i])
		end := from == len(path) || path[from] <= ' ' || strings.IndexByte(`/\?#`, path[from]) >= 0
		if start && end {
			return true
		}
	}
}

// homeEnds tells whether s may end with the home path, slashes aside. The home path is
// unknown where no base is set. Then any text may end with it that does not end with "-",
// as slugs do.
func (rd *Reader) homeEnds(s string) bool {
	if rd.site.Base == "" {
		return s[len(s)-1] != '-'
	}
	base := rd.site.Base[1:]
	return len(s) >= len(base) && lower(s[len(s)-len(base):]) == lower(base)
}

// never is home for the prefixes of other platforms: a segment of such a name only shows
// a mistake in the configuration.
func never(string) bool { return false }

// lower folds ASCII letters, as the platform matches routes.
func lower(s string) string { return phpvars.Lower(s) }
