package call

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// place is what a path says: a page, a call in the pretty form, or neither for
// certain.
type place struct {
	call    bool
	foreign bool
	route   string
	base    string
	refusal *Refusal
}

// sameAs tells whether two paths are the same page or the same call.
func (p place) sameAs(q place) bool {
	return p.call == q.call && p.foreign == q.foreign && lower(p.route) == lower(q.route) && p.refusal == q.refusal
}

// path reads the path of u as it is sent on: the platform matches its rewrite
// rules against the raw text first, so that a route stays undecoded, and
// against the decoded text only where that fails (docs/platform I.1.4). The
// second kind is refused, no honest client encodes the prefix.
func (rd *Reader) path(u *url.URL) place {
	raw := u.EscapedPath()
	plain := u.RawPath == "" && strings.IndexByte(raw, '%') < 0
	if plain && !strings.Contains(raw, rd.prefix) && (rd.foreign == "" || !strings.Contains(raw, rd.foreign)) {
		return place{}
	}
	decoded := raw
	if !plain {
		decoded = decodeAll(raw)
	}
	own := rd.names(decoded)
	other := rd.foreign != "" && mentions(decoded, rd.foreign, never)
	switch {
	case !own && !other:
		return place{}
	case namesScript(decoded): // docs/platform I.12, 9
		return place{refusal: scriptPath}
	case u.RawPath != "" && u.RawPath != raw: // re-encoded on the way (docs/platform I.11, P2)
		return place{refusal: badTarget}
	case own && other:
		return place{refusal: badPath}
	case other:
		p := split(raw, rd.foreign)
		p.foreign = true
		return p
	}
	p := split(raw, rd.prefix)
	if p.call && rd.names(p.base) { // a rule might fit there already
		return place{refusal: badPath}
	}
	return p
}

// names tells whether a decoded path names the site's prefix, see mentions.
func (rd *Reader) names(decoded string) bool { return mentions(decoded, rd.prefix, rd.homeEnds) }

// namesScript tells whether a decoded path has more behind a script, or the front
// controller anywhere: the platform may cut it out of a route.
func namesScript(decoded string) bool {
	decoded = lower(decoded)
	return strings.Contains(decoded, ".php/") || strings.Contains(decoded, "index.php")
}

// split takes a path apart at its one segment prefix.
func split(raw, prefix string) place {
	at := -1
	for i := 0; i < len(raw); {
		end := len(raw)
		if j := strings.IndexByte(raw[i:], '/'); j >= 0 {
			end = i + j
		}
		if raw[i:end] == prefix {
			if at >= 0 {
				return place{refusal: badPath}
			}
			at = i
		}
		i = end + 1
	}
	if at < 0 {
		return place{refusal: badPath}
	}
	route := strings.TrimRight(raw[at+len(prefix):], "/")
	if route == "" {
		route = "/"
	}
	base, ok := before(raw[:at])
	switch {
	case !ok:
		return place{refusal: badPath}
	case !prettyRoute(route):
		return place{refusal: badPath}
	}
	return place{call: true, route: route, base: base}
}

// before returns what stands before the prefix as a base; ok is false where it
// is not a plain path. Outer slashes are trimmed by the platform.
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

// plainPath tells whether s is made of segments that nobody rewrites.
func plainPath(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !alnum(c) && !strings.ContainsRune("-._~/", rune(c)) {
			return false
		}
	}
	return !strings.Contains(s, "//") && !dots(s)
}

// prettyRoute tells whether a raw route means itself to every front-end: even
// when decoded it has no control bytes, quotes or backslashes, no more slashes
// and no dot segments.
func prettyRoute(route string) bool {
	if strings.IndexByte(route, '%') >= 0 {
		decoded := decodeAll(route)
		if strings.Count(decoded, "/") != strings.Count(route, "/") {
			return false
		}
		route = decoded
	}
	for i := 0; i < len(route); i++ {
		switch c := route[i]; {
		case c < ' ', c == 0x7f, strings.IndexByte("\"'\\<>#?^`{|}", c) >= 0:
			return false
		}
	}
	return !dots(route)
}

// keyOf folds a route to what patterns are matched against: letters lower, since
// the platform matches without regard to case, slashes single, and one at the head.
func keyOf(route string) string {
	key := lower(route)
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	for strings.Contains(key, "//") {
		key = strings.ReplaceAll(key, "//", "/")
	}
	return versionedKey(key)
}

// templates are routes whose ids hold "//": the block editor's theme//home.
var templates = regexp.MustCompile(`(?i)^/[a-z]+/v2/template(-part)?s/[^/]`)

// straight tells whether a route stays what it is where something behind us
// straightens paths: the platform itself takes "//" and escapes of plain characters as
// they stand (docs/platform I.1.3), so that a free segment of some route fits what
// looks like another one.
func straight(route string) bool {
	double := templates.MatchString(route)
	for i := 0; i < len(route); i++ {
		switch {
		case route[i] == '/' && i > 0 && route[i-1] == '/' && !double:
			return false
		case route[i] == '%' && i+2 < len(route):
			if c := phpvars.Decode(route[i : i+3]); len(c) == 1 && (alnum(c[0]) || strings.Contains("-._~", c)) {
				return false
			}
		}
	}
	return true
}

// versionedKey is versioned for a key.
func versionedKey(key string) string {
	for _, old := range [...]string{"/wc/store/", "/shop/store/"} {
		if rest, ok := strings.CutPrefix(key, old); ok && rest != "v1" && !strings.HasPrefix(rest, "v1/") {
			return old + "v1/" + rest
		}
	}
	return key
}

// dots tells whether a path has a "." or ".." segment.
func dots(s string) bool {
	for s != "" {
		var segment string
		segment, s, _ = strings.Cut(s, "/")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// mentions tells whether a decoded path has prefix as a segment, or behind text
// that may be the home path: the platform removes that without regard to a
// boundary or case (docs/platform I.6), so "/BLOGwp-json" counts, but no slug
// like "about-wp-json".
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

// homeEnds tells whether s may end with the home path, slashes aside. Where no base
// is set it is unknown: then only "-" cannot be its end, as in slugs.
func (rd *Reader) homeEnds(s string) bool {
	if rd.site.Base == "" {
		return s[len(s)-1] != '-'
	}
	base := rd.site.Base[1:]
	return len(s) >= len(base) && lower(s[len(s)-len(base):]) == lower(base)
}

// never is home for the other platform's prefix: nothing is called by it, a
// segment of that name only shows a mistake in the configuration.
func never(string) bool { return false }

// decodeAll decodes until nothing is left to decode: some servers do it once,
// some twice.
func decodeAll(s string) string {
	for range 8 {
		d := phpvars.Decode(s)
		if d == s {
			break
		}
		s = d
	}
	return s
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// lower folds ASCII letters, as the platform matches routes.
func lower(s string) string { return phpvars.Lower(s) }
