package suggest

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/plugins"
)

// judge decides for one site which calls are good traffic.
type judge struct {
	*Collector

	plugins []*opened // that good traffic needs
	anyone  []Line
	left    []Left
}

// opened is a plugin for which a line is suggested.
type opened struct {
	plugin *plugins.Plugin
	groups []plugins.Group // that were seen
	few    bool            // some calls were made by fewer clients than --min-clients
	calls  []Calls
}

// judge decides on calls that count as one.
func (j *judge) judge(key subject, r *row) {
	calls := Calls{Method: key.method, Route: key.route, Seen: seen(r)}
	switch key.kind {
	case anonymous, formed:
		j.weigh(key, r, calls)
	case loggedIn:
		j.weighUsers(key, r, calls)
	default:
		j.leave(Left{Calls: calls, Reason: kindReasons[key.kind], Rule: key.rule, At: r.at})
	}
}

func (j *judge) leave(l Left) { j.left = append(j.left, l) }

// weighUsers leaves out calls of users whom a rule of the owner's refuses: the rule is an answer,
// and no gap. One user with several addresses is one user.
func (j *judge) weighUsers(key subject, r *row, calls Calls) {
	left := Left{Calls: calls, Reason: ReasonOwn, Rule: key.rule, At: r.at, Users: len(r.users.clients), MoreUsers: r.users.more}
	forms := index.Forms(key.route)
	f := j.facts
	forbidden := f.ofCore(key.route) && (key.method != "GET" || !f.mayName(key.route))
	closed := forbidden || f.ofShop(key.route) || f.GuardedBy(key.method, forms) != "" || f.Risky(key.method, forms, nil) != nil
	if !closed {
		left.Line = openings.LineFor(openings.Seeker{Kind: caller.User}, key.method, key.route)
	}
	j.leave(left)
}

// weigh decides on calls without a login that login_only refuses. Each step only takes away.
func (j *judge) weigh(key subject, r *row, calls Calls) {
	forms := index.Forms(key.route)
	guard, need := j.facts.GuardedBy(key.method, forms), j.facts.Needed(key.method, forms)
	risk := j.facts.Risky(key.method, forms, need)
	left := Left{Calls: calls, Rule: "login_only"}
	switch {
	case len(forms) == 0 && key.kind != formed:
		left.Reason = ReasonNoLine
	case len(forms) == 0:
		left.Reason = ReasonForms
	case guard != "":
		left.Reason, left.Rule = ReasonGuarded, guard
	case risk != nil:
		left.Reason, left.Why = ReasonRisky, risk.Reason()
		if len(risk.CVE) > 0 {
			left.Reason = ReasonHole
		}
	case need == nil && key.kind == formed:
		left.Reason = ReasonForms
	case calls.Seen.Clients == 0 && r.unnamed:
		left.Reason = ReasonNoAddress
	case calls.Seen.Clients == 0 && calls.Seen.Unsure > 0:
		left.Reason = ReasonUnsure
	case calls.Seen.Clients == 0:
		left.Reason = ReasonScanners
	case need != nil:
		left.Reason, left.Line = j.lacks(need, calls.Seen.Clients)
		left.Why = need.Why
	default:
		left.Reason, left.Line = j.lacksPage(key, r, calls.Seen.Clients)
		if left.Reason == ReasonNotNeeded {
			left.Why = "The catalogue knows " + j.facts.owner(key.route, forms).Slug + ", and does not know that a visitor needs this."
		}
	}
	switch {
	case left.Reason != "":
		j.leave(left)
	case need != nil: // the catalogue speaks for the line, and no crowd of scanners against it
		j.open(need, calls)
	case r.moreScanners():
		left.Reason = ReasonMostly
		j.leave(left)
	default:
		j.allow(key, r, calls)
	}
}

// moreScanners tells whether more scanners than others called. Where both are too many to count,
// nothing speaks against so many others.
func (r *row) moreScanners() bool {
	return len(r.scanners.clients) > len(r.clients.clients) || r.scanners.more && !r.clients.more
}

// lacks says why calls that a plugin needs are left out, or "", and the line that opens them.
// Providers and services have few addresses: one will do, and the line says so. Few sites need
// what apps and connecting a service need, and anybody can call it.
func (j *judge) lacks(n *openings.NeededCall, good int) (Reason, string) {
	line := n.Line()
	switch n.Caller.Group() {
	case "setup":
		return ReasonSetup, line
	case "apps":
		return ReasonApps, line
	case "payments", "services", "sites":
		return "", ""
	}
	if good < j.options.MinClients {
		return ReasonFew, line
	}
	return "", ""
}

// lacksPage says why calls that no plugin is known to need are left out, or "", and the line
// that opens them. Reads of a plugin's own need no page. A client can forge a page, so that
// what is known of the platform and of plugins goes first.
func (j *judge) lacksPage(key subject, r *row, good int) (Reason, string) {
	line := anyoneLine(key)
	pages, core := len(r.pages.clients), j.facts.ofCore(key.route)
	switch {
	case j.facts.ofShop(key.route):
		return ReasonShop, ""
	case isIndex(key.route):
		return ReasonIndex, ""
	case core && !j.facts.mayName(key.route):
		return ReasonCore, ""
	case core && !j.facts.pagesRead(key.method, key.route):
		return ReasonCore, line
	case j.facts.owner(key.route, index.Forms(key.route)) != nil:
		return ReasonNotNeeded, line
	case slices.Contains(changes, key.method):
		return ReasonChange, line
	case pages >= j.options.MinClients:
		return "", line
	case pages == 0 && (key.method != "GET" || core):
		return ReasonNoPage, line
	case key.method != "GET" || core || good < j.options.MinClients:
		return ReasonFew, line
	}
	return "", line
}

// open adds calls that a plugin needs.
func (j *judge) open(n *openings.NeededCall, calls Calls) {
	i := slices.IndexFunc(j.plugins, func(o *opened) bool { return o.plugin == n.Plugin })
	if i < 0 {
		i = len(j.plugins)
		j.plugins = append(j.plugins, &opened{plugin: n.Plugin})
	}
	o := j.plugins[i]
	if g := n.Caller.Group(); !slices.Contains(o.groups, g) {
		o.groups = append(o.groups, g)
	}
	o.few = o.few || calls.Seen.Clients < j.options.MinClients
	calls.Why = n.Why
	o.calls = append(o.calls, calls)
}

// allow adds calls that no plugin is known to need. Each method of a route has a line of its own,
// so that forged writes stand apart from good reads.
func (j *judge) allow(key subject, r *row, calls Calls) {
	about := "No entry of the catalogue needs it. Clients say that pages of the site made these calls; a client can forge that: do you know this plugin?"
	if j.facts.ofCore(key.route) {
		about = "No entry of the catalogue needs it. Clients say that pages of the site made these calls; a client can forge that: which page of yours reads it?"
	}
	if len(r.pages.clients) < j.options.MinClients {
		about = "No entry of the catalogue needs it, and hardly any client says that a page of the site made these calls: do you know this plugin, and who calls it?"
	}
	abouts := []string{about}
	if parameters(key.route) > 0 {
		abouts = append(abouts, aboutParameter)
	}
	if key.method != "GET" {
		abouts = append(abouts, "It lets anybody write: a rate_limit beside it bounds how often.")
	}
	j.anyone = append(j.anyone, Line{Line: anyoneLine(key), Calls: []Calls{calls}, About: abouts})
}

// aboutParameter is said of a line whose route has a parameter.
const aboutParameter = "It opens every address of this shape, other routes of the site with it: caddy restwarden audit lists them."

// anyoneLine returns the line that opens the calls of a key to anybody.
func anyoneLine(key subject) string {
	return openings.LineFor(openings.Seeker{}, key.method, key.route)
}

// changes are methods that change or remove what is there. Forged calls must not open them.
var changes = []string{"PUT", "PATCH", "DELETE"}

// covers tells whether a pattern matches whatever one of a route's forms does.
func covers(p routes.Pattern, forms []routes.Pattern) bool {
	return len(forms) > 0 && !slices.ContainsFunc(forms, func(f routes.Pattern) bool { return !p.Covers(f) })
}
