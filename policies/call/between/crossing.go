package between

import (
	"net/url"
	"slices"
	"strings"
)

// Crosses tells whether a part of a query may become one of the path and lead elsewhere: of the current target, the query
// of which may become changed, or of the client's own, which is nil where no rewrite made another of it. prefixes are
// those by which a path names a call.
func Crosses(current, original *url.URL, changed *Changes, prefixes []string) bool {
	if queryCrosses(current, changed, prefixes) {
		return true
	}
	if original == nil {
		return false
	}
	if original.RawQuery != current.RawQuery {
		changed = ChangesOf(original.RawQuery)
	}
	return queryCrosses(original, changed, prefixes)
}

// queryCrosses tells whether a part of a query, of which changed may become, may become one of the path and
// lead elsewhere. lighttpd ends the path at the last "?" (docs/platform I.13, B10), and some caches take the
// "?" away: with a parameter behind it, or with a value that begins in the path (B8).
func queryCrosses(u *url.URL, changed *Changes, prefixes []string) bool {
	query := u.RawQuery
	if query == "" {
		return false
	}
	if strings.IndexByte(u.Path, '=') >= 0 {
		if path := EscapedPath(u); cuttable(path) {
			j := jointsOf(path + "?" + query)
			return j == nil || dotted(query) || j.makeCall(prefixes)
		}
	}
	switch {
	case changed == nil || !strings.ContainsAny(query, ".%"):
		return false
	case changed.cuts && dotted(query), changed.marked != "" && dottedBefore(query), changed.many:
		return true
	}
	return changed.joints != nil && slices.ContainsFunc(dotSegments[:], changed.joints.makes)
}

// dottedBefore tells whether, in some order of its pairs, a raw query has a dot segment before its last "?".
func dottedBefore(query string) bool {
	var dots, marks, both int
	for pair := range strings.SplitSeq(query, "&") {
		mark, found := strings.LastIndexByte(pair, '?'), dotted(pair)
		if found && mark >= 0 && dotted(pair[:mark+1]) {
			return true
		}
		dots, marks, both = dots+one(found), marks+one(mark >= 0), both+one(found && mark >= 0)
	}
	return dots*marks > both
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// dotted tells whether a raw query has a dot segment.
func dotted(query string) bool {
	return strings.ContainsAny(query, ".%") && Dots("&"+asSegments.Replace(DecodeAll(query)))
}

// asSegments ends segments as lighttpd does, and as pairs end.
var asSegments = strings.NewReplacer(`\`, "/", "?", "/?", "&", "/&")
