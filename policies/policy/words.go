package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
)

// worded are the patterns of a chain that have a word where a route of some site may have a named group: "hello" in
// "/wp/v2/plugins/hello". The platform takes the group from a body or a query if it is there, so that a call of this route
// may be about another plugin (docs/platform I.3). A call is refused whose parameter says otherwise than its route.
func (c *Chain) worded() (found []routes.Pattern) {
	for _, l := range c.links {
		if p, ok := l.policy.(Router); ok {
			p.EachRoute(func(l RouteLine) {
				for _, route := range l.Routes {
					if hasWord(&route) && !slices.ContainsFunc(found, func(p routes.Pattern) bool { return p.String() == route.String() }) {
						found = append(found, route)
					}
				}
			})
		}
	}
	return found
}

// hasWord tells whether a literal stands behind the first segment, which is always one of a namespace.
func hasWord(p *routes.Pattern) bool {
	segments, _ := p.Segments()
	return slices.ContainsFunc(segments[min(1, len(segments)):], func(s string) bool { return !routes.IsWildcard(s) })
}

// checkWords refuses a call, or a part of one, with a parameter that takes the place of a word that one of some lines has in its
// route.
func (r *Request) checkWords(lines []routes.Pattern) error {
	if r.bare() {
		return nil
	}
	if err := r.checkWordsOf(lines, r.Call, r.Call); err != nil {
		return err
	}
	for _, part := range r.Call.Parts {
		if err := r.checkWordsOf(lines, part, part); err != nil {
			return err
		}
		if err := r.checkWordsOf(lines, r.Call, part); err != nil { // the shop gives a part the groups of its batch
			return err
		}
	}
	return nil
}

// bare tells whether the request has no parameter but in its route, as most reads.
func (r *Request) bare() bool {
	return r.ClientURL == nil && r.HTTP.URL.RawQuery == "" && r.HTTP.ContentLength == 0
}

// checkWordsOf refuses a call if a parameter of by says another word than its route.
func (r *Request) checkWordsOf(lines []routes.Pattern, c, by *call.Call) error {
	for _, g := range r.groups(lines, c) {
		v, set, err := by.Scalar(g.Name)
		_, compound := v.(call.Compound)
		if err != nil || set && (compound || phpvars.Lower(fmt.Sprint(v)) != phpvars.Lower(c.Route[g.From:g.To])) {
			return errOutsidePath
		}
	}
	return nil
}

// groups returns the named groups of a call's route, if one of some lines has a word in place of one: by the routes of the
// shops that may answer for the host, or else by those that are known.
func (r *Request) groups(lines []routes.Pattern, c *call.Call) (all []index.Group) {
	if !slices.ContainsFunc(lines, func(line routes.Pattern) bool { return index.BeginsLike(&line, c.Route) }) {
		return nil
	}
	fits := false
	ask := func(x *index.Index) {
		pattern, ok := x.Dispatch(c.Route)
		fits = fits || ok
		if ok && slices.ContainsFunc(lines, func(line routes.Pattern) bool { return pattern.HasWord(&line, c.Route) }) {
			groups, _ := pattern.Groups(c.Route)
			all = append(all, groups...)
		}
	}
	if r.Site.Routes != nil {
		own, others := r.Site.Routes(r.HTTP.Host)
		ask(own)
		for _, x := range others {
			ask(x)
		}
	}
	if !fits {
		ask(knownGroups[r.Site.Platform.Name])
	}
	return all
}

// Replaces returns the parameters that take the place of what the route of a call says, if a line has a word there.
func (r *Request) Replaces(c *call.Call) (names []string) {
	for _, g := range r.groups(r.Site.worded, c) {
		names = append(names, g.Name)
	}
	return names
}

// Worded returns the patterns of the lines of the site that have a word where a route of an index has a named group; nil stands
// for what is known of the platform.
func (s *Site) Worded(x *index.Index) (found []routes.Pattern) {
	x = cmp.Or(x, knownGroups[s.Platform.Name])
	for _, line := range s.worded {
		if x.Worded(&line) {
			found = append(found, line)
		}
	}
	return found
}

// knownGroups are the routes of the core and of the shop whose named groups take words (docs/platform I.3), by the name of
// the platform: for sites whose REST root is not known.
var knownGroups = func() map[string]*index.Index {
	all := map[string]*index.Index{}
	for _, p := range platforms.All() {
		var patterns []string
		add := func(namespace string, below ...string) {
			for _, route := range below {
				patterns = append(patterns, "/"+namespace+route)
			}
		}
		add(p.Core, coreGroups...)
		add(p.Abilities, abilityGroups...)
		add(p.ShopWord()+"-admin", adminGroups...)
		for _, ns := range append(slices.Clone(p.Shop), p.Analytics) {
			add(ns, shopGroups...)
		}
		all[p.Name] = index.New(patterns, platforms.Namespaces())
	}
	return all
}()

var (
	coreGroups = []string{
		`/types/(?P<type>[\w-]+)`, `/statuses/(?P<status>[\w-]+)`, `/taxonomies/(?P<taxonomy>[\w-]+)`,
		`/users/(?P<user_id>(?:[\d]+|me))/application-passwords`,
		`/users/(?P<user_id>(?:[\d]+|me))/application-passwords/introspect`,
		`/users/(?P<user_id>(?:[\d]+|me))/application-passwords/(?P<uuid>[\w\-]+)`,
		`/block-renderer/(?P<name>[a-z0-9-]+/[a-z0-9-]+)`,
		`/block-types/(?P<namespace>[a-zA-Z0-9_-]+)`, `/block-types/(?P<namespace>[a-zA-Z0-9_-]+)/(?P<name>[a-zA-Z0-9_-]+)`,
		`/plugins/(?P<plugin>[^.\/]+(?:\/[^.\/]+)?)`, `/themes/(?P<stylesheet>[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)`,
		`/sidebars/(?P<id>[\w-]+)`, `/widgets/(?P<id>[\w\-]+)`,
		`/widget-types/(?P<id>[a-zA-Z0-9_-]+)`, `/widget-types/(?P<id>[a-zA-Z0-9_-]+)/encode`, `/widget-types/(?P<id>[a-zA-Z0-9_-]+)/render`,
		`/templates/(?P<id>([^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)[\/\w%-]+)`,
		`/template-parts/(?P<id>([^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)[\/\w%-]+)`,
		`/global-styles/themes/(?P<stylesheet>[\/\s%\w\.\(\)\[\]\@_\-]+)/variations`, `/global-styles/themes/(?P<stylesheet>[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)`,
		`/global-styles/(?P<id>[\/\w-]+)`,
		`/menu-locations/(?P<location>[\w-]+)`, `/font-collections/(?P<slug>[\/\w-]+)`,
	}
	abilityGroups = []string{
		`/abilities/(?P<name>[a-zA-Z0-9\-\/]+?)/run`, `/abilities/(?P<name>[a-zA-Z0-9\-\/]+)`, `/categories/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)`,
	}
	adminGroups = []string{`/v1/features/(?P<feature>[\w-]+)`, `/features/(?P<feature>[\w-]+)`, `/onboarding/tasks/(?P<id>[a-z0-9_\-]+)/(?:dismiss|undo_dismiss|snooze|undo_snooze|hide|unhide|action)`}
	shopGroups  = []string{
		`/settings/(?P<group_id>[\w-]+)`, `/settings/(?P<group_id>[\w-]+)/batch`, `/settings/(?P<group_id>[\w-]+)/(?P<id>[\w-]+)`,
		`/payment_gateways/(?P<id>[\w-]+)`, `/shipping_methods/(?P<id>[\w-]+)`, `/system_status/tools/(?P<id>[\w-]+)`,
		`/taxes/classes/(?P<slug>\w[\w\s\-]*)`,
		`/data/continents/(?P<location>[\w-]+)`, `/data/countries/(?P<location>[\w-]+)`, `/data/currencies/(?P<currency>[\w-]{3})`,
		`/reports/(?P<type>[a-z]+)/export`, `/reports/(?P<type>[a-z]+)/export/(?P<export_id>[a-z0-9]+)/status`,
	}
)
