package review

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// oddRoutes returns W06, the routes that can be no REST routes.
func oddRoutes(p policy.Router) (odd []Odd) {
	p.EachRoute(func(l policy.RouteLine) {
		for _, route := range l.Routes {
			if why := notREST(route); why != "" {
				odd = append(odd, Odd{
					Code: "W06", At: l.At,
					Text: fmt.Sprintf("%s names %s, which can be no REST route, since %s", l.Text, route, why),
					Do:   "name a route as the REST index has it, without the prefix, or remove it",
				})
			}
		}
	})
	return odd
}

// directories are what the platforms have beside REST (docs/platform I.1; docs/project/interface 1),
// as first segments.
var directories = []string{
	"wp-admin", "wp-content", "wp-includes", "wp-login", "wp-cron", "wp-signup", "wp-activate", "wp-trackback",
	"cms-admin", "cms-content", "cms-includes", "cms-login", "cms-cron", "cms-signup", "cms-activate", "cms-trackback",
}

// notREST says why a pattern can be no REST route, or "".
func notREST(p routes.Pattern) string {
	segments, _ := p.Segments()
	for i, s := range segments {
		switch {
		case strings.HasSuffix(s, ".php") && s[0] != ':':
			return s + " is a script"
		case i == 0 && slices.Contains(directories, s):
			return "/" + s + " is a part of the platform beside REST, which RestWarden does not guard"
		}
	}
	return ""
}

// openDoors returns W19: servers of tools to which any user may send messages that no policy
// judges.
func openDoors(c *policy.Chain, site *Installed) []Odd {
	r, err := NewReacher(c)
	if err != nil {
		return nil
	}
	var open []string
	for _, route := range site.tools {
		found, err := r.Of(route, []string{http.MethodPost}, []caller.Caller{{Kind: caller.User}})
		if err == nil && found[0][0].All() {
			open = append(open, route.Called())
		}
	}
	if len(open) == 0 {
		return nil
	}
	return []Odd{{
		Code: "W19", Do: "write abilities with allow lines, or close the route",
		Text: fmt.Sprintf("The site has servers of tools for AI agents at %s, and no rule says what agents may run there", strings.Join(open, " and ")),
	}}
}
