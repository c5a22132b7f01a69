package call

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

const routeVar = "rest_route"

// routeIn finds rest_route in a raw query (docs/platform I.1.2). An array, a
// variable beyond PHP's limits or one that they could delete is refused.
func routeIn(raw string) (value string, set bool, refusal *Refusal) {
	value, times, plain := phpvars.Last(raw, routeVar)
	set = times > 0
	switch {
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
	return routeOf(phpvars.Query(raw))
}

// uncertain tells whether limits or releases of PHP decide what a raw query sets.
func uncertain(raw string) bool {
	return phpvars.Pairs(raw) > phpvars.MaxPairs || phpvars.Disputed(raw)
}

// routeOf is routeIn for variables already read.
func routeOf(vars *phpvars.Array) (value string, set bool, refusal *Refusal) {
	v, set := vars.Get(routeVar)
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
// a value with quotes, backslashes or control bytes, which is rewritten on the way.
func dispatched(value string) (route string, ok bool) {
	for i := 0; i < len(value); i++ {
		if c := value[i]; c < ' ' || c == 0x7f || c == '"' || c == '\'' || c == '\\' {
			return "", false
		}
	}
	if route = strings.TrimRight(value, "/"); route == "" || route == "0" {
		route = "/"
	}
	return route, true
}
