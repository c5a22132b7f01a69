package call

import (
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// oddBetween refuses a path of which a server or a cache makes a call, or another one: in small
// letters, trimmed, or by cuts (docs/platform I.13, B8 and B11).
func (rd *Reader) oddBetween(tried *trials, u *url.URL) *Refusal {
	path := between.EscapedPath(u)
	if lower(path) == path && between.PlainBytes.Holds(path) {
		return nil
	}
	decoded := between.DecodeAll(path)
	if rd.namesInSmall(tried, decoded) && !rd.namesCall(tried, decoded) || tried.spent() {
		return errPath
	}
	left := path
	if cuts := between.CutsOf(path); cuts != nil {
		switch {
		case rd.namesCall(tried, decoded), cuts.MakeCall(rd.prefixes), !cuts.Whole && (strings.Contains(lower(decoded), ".php/") || strings.IndexByte(decoded, '<') >= 0):
			return errPath
		case cuts.LeaveMany() && len(rd.rules) > 0 && (strings.Contains(lower(decoded), ".php") || rd.cutToAlias(cuts)):
			return errPath
		case !cuts.Whole:
			return nil
		}
		left = cuts.Left()
	}
	if left = between.Trimmed(left); left == path {
		return nil
	}
	if decoded := between.DecodeAll(left); rd.namesCall(tried, decoded) || rd.namesInSmall(tried, decoded) || tried.spent() {
		return errPath
	}
	return rd.cutPath(tried, &url.URL{Path: phpvars.Decode(left), RawPath: left})
}

// cutToAlias tells whether an alias may fit what is left of a path, as what is left of its beginning in
// any case does not tell them apart.
func (rd *Reader) cutToAlias(cuts *between.Cuts) bool {
	head := singleSlashes(lower(cuts.Head()))
	if len(head) <= len(rd.site.Base) {
		return true
	}
	head, _ = rd.belowHome(head)
	return slices.ContainsFunc(rd.rules, func(a *alias) bool {
		return strings.HasPrefix(head, a.begins) || strings.HasPrefix(a.begins, head)
	})
}

// namesInSmall is namesCall for a path that a cache writes in small letters.
func (rd *Reader) namesInSmall(tried *trials, path string) bool {
	small := lower(path)
	return small != path && rd.namesCall(tried, small)
}

// namesCall tells whether a decoded path names the prefix or an alias, or a route as a part of a query.
func (rd *Reader) namesCall(tried *trials, path string) bool {
	return rd.names(path) || rd.aliasWithin(tried, path) || namesRoute(path)
}
