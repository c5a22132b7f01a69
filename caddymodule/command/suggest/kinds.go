package suggest

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
)

// kind is what a record alone tells of the call.
type kind uint8

const (
	anonymous kind = iota // refused by login_only, and a line would help
	loggedIn              // somebody with a login, refused by a rule of the owner's before which a line could stand
	formed                // as anonymous, and the route has several forms, of which no record tells
	unknown               // the index has no such route
	unread                // the request has no certain reading
	unindexed             // the index is not known
	guarded               // a built-in rule
	denied                // a line of the owner's for a plugin
	owned                 // a rule of the owner's
	elsewhere             // another policy
	refused               // the platform refuses the credentials
	noLine                // no line is certain to help
)

// methods are those of records, but for the word that stands for all others.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// keyOf returns what a record counts as.
func keyOf(rec *records.Record) subject {
	key := subject{site: cut(rec.Site), method: cut(rec.Method), route: cut(rec.Route)}
	if key.method == "HEAD" {
		key.method = "GET" // as in rules
	}
	switch key.kind = kindOf(rec, key.method); key.kind {
	case anonymous, formed, unknown, unindexed, noLine:
	case elsewhere, unread:
		key.rule = cut(rec.Policy)
	case refused:
		key.rule = cut(rec.Code)
	case loggedIn, guarded, denied, owned:
		key.rule = cut(rec.Rule)
	}
	return key
}

func kindOf(rec *records.Record, method string) kind {
	from := rec.RuleOrigin()
	switch {
	case rec.Code == "platform":
		return refused
	case rec.Form == "" || rec.Policy == "call":
		return unread
	case rec.Policy != "access":
		return elsewhere
	case from == policy.OriginBuiltIn:
		return guarded
	case from == policy.OriginPlugin:
		return denied
	case rec.Route == index.Unknown:
		return unknown
	case !strings.HasPrefix(rec.Route, "/"):
		return unindexed
	case len(rec.Route) > maxText || !slices.Contains(methods, method):
		return noLine
	case (rec.Caller == "user" || rec.Caller == "key") && !strings.HasPrefix(rec.Rule, "deny ") && rec.Remedy == openings.LineFor(openings.Seeker{Kind: caller.User}, method, rec.Route):
		return loggedIn
	case from != policy.OriginDefault:
		return owned
	case rec.Caller != "anonymous" || rec.Code != "rest_not_logged_in":
		return noLine
	case rec.Remedy == openings.LineFor(openings.Seeker{}, method, rec.Route):
		return anonymous
	case strings.ContainsAny(rec.Route, "[(|"):
		return formed
	}
	return noLine
}
