package call

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// rewrittenNames are variables that decide.
var rewrittenNames = []string{"rest_route", "_method", "_embed", "id", "consumer_key", "requests"}

// rewrittenTokens are what names, and the parameters that are cut, are made of.
var rewrittenTokens = []string{
	"&", "=", "?", "|", ";", "&", "=", "rest_rout", "REST_ROUT", "rest_", "route", "E", "e", "=/wp/v2/users", "_meth", "od", "OD", "i", "d", "=7", "=9", "x", "X=1", "utm_a=b", "utm_a=b&", "UTM_a=B", "&fbclid=1&",
	"gclid=x~", "g%63lid=x", "cx=1&", "&cx=1", "ie=%7E", "_gl=1*a", "utm_", "fbcl", "%75", "%6CX=1&", "5", "%%37%35", "%7", "%", "%2", "0rest_route", "%1", "B(B", "si=x&", "%2e", "/../", "mc_x=+", "requests", "[0]", "consumer_", "key",
}

// stepsOf are rewritings by name: small letters, decoding, trim, order, order of names, what stands
// behind a "?", and caches.
func stepsOf(names string) (steps []byte) {
	for _, name := range []byte(names) {
		if at := strings.IndexByte("ldton?", name); at >= 0 {
			steps = append(steps, byte(at))
		} else {
			steps = append(steps, 120+(name-'0')+8)
		}
	}
	return steps
}

// ofTokens is the text of at most 24 tokens.
func ofTokens(tokens []string, picked []byte) (text string) {
	for _, at := range picked[:min(len(picked), 24)] {
		text += tokens[int(at)%len(tokens)]
	}
	return text
}

// dottedPath is a path with a dot segment, for lighttpd too, or a query behind one.
var dottedPath = regexp.MustCompile(`[/\\]\.\.?([/\\?&]|$)`)

// FuzzChanges: whatever rewritings follow each other, a query gives no variable another value than
// it gave before, unless that is told of. A query ends with tokens.
func FuzzChanges(f *testing.F) {
	for query, steps := range map[string]string{
		"CX=1&REST_ROUTUTM_A=B&E=/wp/v2/posts":                  "l2",
		"Cx=1&rest_routUtm_a=b&e=/wp/v2/posts":                  "l2",
		"XCX=1&REST_ROUTutm_a=b&E=/wp/v2/posts":                 "2l",
		"%63x=1&rest_rout%75tm_a=b&e=/wp/v2/posts":              "d2",
		"cx=1&rest_routfbclutm_a=b&id=1&e=/wp/v2/posts":         "22",
		"utm_source=x=/wp/v2/users&rest_route":                  "o0t",
		"a?b=1&x?i|utm_a=1":                                     "n1t?",
		"x?%%34%39D=7|?":                                        "ddlt?",
		"cx=1&te=/wp/v2/users&rest_rouutm_a=b":                  "o2",
		"rest_route=/wp/v2/users?":                              "t",
		"|?%75cx=1~&requestsutm_a=b&consumer_OD":                "?o2",
		"rest_rout%6CX=1&5=/wp/v2/posts":                        "l2",
		"id=5&_gl=1*x&gclid=y~z":                                "ol012",
		"xmsclkid=1&rest_routgclid=x&e=/wp/v2/users&cx=1":       "2",
		"rest_rout%cx=1&%%33%36%%33%35=/wp/v2/users":            "2ddd",
		"utm_cx=1&_route=/wp/v2/users&rest":                     "o2",
		"utm_campaign=a+b,c&utm_source=g&lang=eng&_route&rest=": "ol012",
	} {
		f.Add(query, []byte{}, stepsOf(steps))
	}
	all, rd := rewritings(true), readerFor("root")
	f.Fuzz(func(t *testing.T, query string, tokens, steps []byte) {
		query += ofTokens(rewrittenTokens, tokens)
		if len(steps) > 8 || strings.ContainsAny(query, "# ") || uncertain(query) || !utf8.ValidString(query) {
			return
		}
		changed, text := between.ChangesOf(query), rewrittenBy(all, steps, query)
		for _, name := range rewrittenNames {
			before, set, plain := phpvars.Last(query, name)
			after, now, too := phpvars.Last(text, name)
			if phpvars.Hidden(query, name) || changed.Sets(name) || set > 1 || (name != platforms.RouteVar || set > 0) && phpvars.Completed(query) {
				continue
			}
			if now > 0 && (set == 0 || plain != too || plain && lower(before) != lower(after)) {
				t.Errorf("%q becomes %q by %v: %s is %q, not %q, and nothing tells of it", query, text, steps, name, after, before)
			}
			if set > 0 && now == 0 && !strings.Contains(query, "?") && !changed.Loses(name) {
				t.Errorf("%q becomes %q by %v: %s is gone, and nothing tells of it", query, text, steps, name)
			}
		}
		if mark := strings.LastIndexByte(text, '?'); mark >= 0 && dottedPath.MatchString(between.DecodeAll(text[:mark+1])) && !between.Crosses(&url.URL{Path: "/", RawQuery: query}, nil, changed, rd.prefixes) {
			t.Errorf("%q becomes %q by %v: dot segments, and nothing tells of it", query, text, steps)
		}
	})
}

// pathTokens are what paths that name a call, and parameters that are cut, are made of.
var pathTokens = []string{
	"/", "&", "=", "wp-js", "on", "WP-JS", "ON/", "wp-json/", "/wp/v2/posts", "rest_rout", "e=/wp/v2/users", "utm_a=b", "utm_a=b&", "&utm_a=b", "UTM_A=B&", "gclid=x~", "&fbclid=1",
	"cx=1", "fbcl", "id=1&", "%75", "%6CX=1&", "5", "%7", "%", "%2", "0rest_route", "%1", "B(B", "si=x&", "%2e", "/..", "/.", ".ph", "p/", "index", "|", "shop", "-", "%26", "%3F", "msclkid=1&", "x",
}

// FuzzPaths: whatever rewritings follow each other, a path names no call that it did not name, unless it
// is refused. A path ends with tokens.
func FuzzPaths(f *testing.F) {
	for path, steps := range map[string]string{
		"/wp-jsgclid=x&on/wp/v2/posts":           "2",
		"/WP-JSUTM_A=b&ON/wp/v2/posts":           "l2",
		"/wp-jsfbclutm_a=b&id=1&on/wp/v2/posts":  "22",
		"/wp-jso%6CX=1&e/wp/v2/posts":            "l2d",
		"/wp-jsomsclkid=1&gclid=xn/wp/v2/posts":  "2",
		"/x&REST_ROUTUTM_A=B&E=/wp/v2/posts":     "l2",
		"/wp-json&utm_a=+":                       "2t",
		"/shop/&utm_source=a&gclid=b":            "0t",
		"/.utm_a=b&./wp-json/x":                  "2",
		"/caf%C3%A9/&utm_source=a,b&lang=eng/x.": "0l2",
	} {
		f.Add(path, []byte{}, stepsOf(steps))
	}
	all, rd := rewritings(false), readerFor("root")
	f.Fuzz(func(t *testing.T, path string, tokens, steps []byte) {
		path = "/" + path + ofTokens(pathTokens, tokens)
		u, err := url.ParseRequestURI(path)
		if err != nil || len(steps) > 8 || strings.ContainsAny(path, "?#") || !utf8.ValidString(path) || u.EscapedPath() != path {
			return
		}
		tried := trials{rules: rd.rules}
		if rd.oddBetween(&tried, u) != nil || rd.cutPath(&tried, u) != nil || rd.namesCall(&tried, between.DecodeAll(path)) {
			return
		}
		path = rewrittenBy(all, steps, path)
		if decoded := between.DecodeAll(path); rd.namesCall(&tried, decoded) || rd.namesInSmall(&tried, decoded) || rd.cutPath(&tried, &url.URL{Path: phpvars.Decode(path), RawPath: path}) != nil {
			t.Errorf("%q becomes %q by %v, and is not refused", u, path, steps)
		}
	})
}
