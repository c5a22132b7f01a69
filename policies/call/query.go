package call

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// routeIn finds rest_route in a raw query (docs/platform I.1.2), of which changed may become. An array, a
// variable beyond PHP's limits or one that they could delete is refused. Where a cache cuts it away the
// request is a page, or the same call by its path.
func routeIn(raw string, changed *between.Changes) (value string, set bool, refusal *Refusal) {
	value, times, plain := phpvars.Last(raw, platforms.RouteVar)
	set = times > 0
	switch {
	case phpvars.Hidden(raw, platforms.RouteVar), changed.Sets(platforms.RouteVar), set && value == "" && plain && !endsWith(raw, platforms.RouteVar):
		return "", true, errVariable
	case times > 1: // a server that sorts the query would choose another one
		return "", true, errTwoRoutes
	case plain:
		return value, set, nil
	}
	if uncertain(raw) {
		if set {
			return "", true, errVariable
		}
		return "", false, nil
	}
	return routeOf(phpvars.OfQuery(raw).Get(platforms.RouteVar, scalar))
}

// uncertain tells whether limits or releases of PHP decide what a raw query sets.
func uncertain(raw string) bool {
	return phpvars.Pairs(raw)+strings.Count(raw, ";") > phpvars.MaxPairs || phpvars.Disputed(raw)
}

// decidingVars are the variables of a query, beside those of Site.Variables, that decide
// whatever the rules of a site look at.
var decidingVars = []string{methodVar, "_envelope"}

// separated tells whether a PHP that splits queries at ";" too (docs/platform I.1.5), or a cache
// that cuts parameters out or writes them otherwise (docs/platform I.13, B8 to B12), would find another value of a variable that
// decides, or a server the end of an escape in any. The parameters that a rule looks at are judged where they are read, see source.find.
func (rd *Reader) separated(query string, changed *between.Changes) bool {
	if changed == nil && !strings.ContainsAny(query, ";?%ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return false // as most: nothing of it is written otherwise
	}
	return phpvars.Completed(query) || phpvars.Hidden(query, rd.hidden...) || changed.Loses(methodVar) || slices.ContainsFunc(rd.hidden, changed.Sets)
}

// routeOf is routeIn for a variable already read.
func routeOf(v any, set bool) (value string, _ bool, refusal *Refusal) {
	if !set {
		return "", false, nil
	}
	value, ok := v.(string)
	if !ok {
		return "", true, errVariable
	}
	return value, true, nil
}

// cancelled tells whether a value of rest_route means "no REST" even on a
// pretty path (docs/platform I.1.2).
func cancelled(value string) bool { return value == "" || value == "0" }

// dispatched returns the route that the platform makes of a value of rest_route. It strips
// trailing slashes, and an empty route is the root (docs/platform I.1.3). ok is false for
// a value with quotes, backslashes or control bytes, which is rewritten on the way, and with
// what a filter of PHP takes out (docs/platform I.13, B6).
func dispatched(value string) (route string, ok bool) {
	if strings.ContainsFunc(value, func(c rune) bool { return c == 0x7f || c == '\\' || c < 0x80 && between.FilteredByte(byte(c)) }) {
		return "", false
	}
	if route = strings.TrimRight(value, "/"); route == "" || route == "0" {
		route = "/"
	}
	return route, true
}

// endsWith tells whether the last pair of a raw query sets the variable name.
func endsWith(query, name string) bool {
	return phpvars.Has(query[strings.LastIndexByte(query, '&')+1:], name)
}
