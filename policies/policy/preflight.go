package policy

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// PreflightQuery returns what a preflight keeps of its query: the pairs that PHP reads as the
// route. What stands in one behind ";" is a variable to some servers, and part of the route here.
func PreflightQuery(query string) string {
	var kept []string
	for n := 0; query != "" && n < phpvars.MaxPairs; {
		var pair string
		if pair, query, _ = strings.Cut(query, "&"); pair == "" {
			continue
		}
		n++
		if _, is := phpvars.Query(pair).Get("rest_route"); is {
			kept = append(kept, strings.ReplaceAll(pair, ";", "%3B"))
		}
	}
	return strings.Join(kept, "&")
}
