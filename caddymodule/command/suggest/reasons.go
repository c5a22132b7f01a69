package suggest

import (
	"fmt"
	"slices"
)

// Reason is why no line is suggested for calls.
type Reason string

// The reasons, in the order in which they are told.
const (
	ReasonFew       Reason = "few-clients"
	ReasonNoPage    Reason = "no-page"
	ReasonChange    Reason = "change"
	ReasonNotNeeded Reason = "not-needed"
	ReasonCore      Reason = "core"
	ReasonForms     Reason = "several-forms"
	ReasonNoLine    Reason = "no-line"
	ReasonNoAddress Reason = "no-address"
	ReasonApps      Reason = "apps"
	ReasonSetup     Reason = "setup"
	ReasonIndex     Reason = "index"
	ReasonShop      Reason = "shop"
	ReasonOwn       Reason = "own-rule"
	ReasonGuarded   Reason = "guarded"
	ReasonHole      Reason = "known-hole"
	ReasonRisky     Reason = "risky"
	ReasonScanners  Reason = "scanners"
	ReasonMostly    Reason = "mostly-scanners"
	ReasonUnsure    Reason = "unsure"
	ReasonUnindexed Reason = "no-index"
	ReasonUnknown   Reason = "unknown-route"
	ReasonUnread    Reason = "no-reading"
	ReasonPolicy    Reason = "other-policy"
	ReasonPlatform  Reason = "platform"
)

// said is a reason with the sentence that tells it.
type said struct {
	reason Reason
	text   string
}

var reasons = []said{
	{ReasonFew, "too few clients called them; a lower --min-clients suggests them"},
	{ReasonNoPage, "no page of the site made them, and no entry of the catalogue needs them; if you know who calls, write the line yourself"},
	{ReasonChange, "PUT, PATCH and DELETE change or remove what is there, and no entry of the catalogue needs them; if you know who calls, write the line yourself"},
	{ReasonNotNeeded, "the catalogue knows the plugin, and does not know that a visitor needs this"},
	{ReasonCore, "the platform's own interface: visitors are not known to need these calls, whatever clients say of pages"},
	{ReasonForms, "the route has several forms, and the records do not tell which was called"},
	{ReasonNoLine, "no line is certain to let them pass: no rule can name the route, the caller sent a shop key, or a parameter stood elsewhere than in the path"},
	{ReasonNoAddress, "the log has no addresses, so that nobody can tell how many clients there were"},
	{ReasonApps, "apps need them, and anybody can make them: if people use this app with the site, add the line"},
	{ReasonSetup, "only needed while a service is being connected: add the line for that time"},
	{ReasonIndex, "they list the routes of the site"},
	{ReasonShop, "the shop's own interface is for keys and staff"},
	{ReasonOwn, "a rule of your own closes them"},
	{ReasonGuarded, "a built-in rule guards them, or a line deny plugin"},
	{ReasonHole, "the route of a known hole"},
	{ReasonRisky, "the catalogue calls them risky"},
	{ReasonScanners, "only scanners called them"},
	{ReasonMostly, "more scanners than others called them; if you know who the others are, write the line yourself"},
	{ReasonUnsure, "cannot be known: the logs have so many clients that look like scanners that nothing is known of those who called"},
	{ReasonUnindexed, "the gateway had not read the site's REST root, so that the records do not name the route: look again later"},
	{ReasonUnknown, "the site has no such route, or the gateway did not know it yet: calls before its first reading of the REST root count here, too"},
	{ReasonUnread, "the request has no certain reading or is too large: no rule changes that"},
	{ReasonPolicy, "another policy refuses them: no rule of access changes that"},
	{ReasonPlatform, "the platform itself refuses the credentials"},
}

func order(r Reason) int {
	return slices.IndexFunc(reasons, func(s said) bool { return s.reason == r })
}

// kindReasons are the reasons that a record alone tells.
var kindReasons = map[kind]Reason{
	formed: ReasonForms, unknown: ReasonUnknown, unread: ReasonUnread, unindexed: ReasonUnindexed, guarded: ReasonGuarded, denied: ReasonGuarded,
	owned: ReasonOwn, elsewhere: ReasonPolicy, refused: ReasonPlatform, noLine: ReasonNoLine,
}

func count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
