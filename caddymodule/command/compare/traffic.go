package compare

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/review"
)

// The bounds of what is kept of logs.
const (
	maxKinds   = 100_000 // of calls
	maxCounted = 100_000 // clients, and credentials
	maxGrouped = 500_000 // clients of all groups
	maxGroups  = 10      // of a report
)

// somebody has made a call of which the log tells that it carries a credential, and not which one.
const somebody = "somebody"

// Counter counts the calls of logs that two configurations decide otherwise.
type Counter struct {
	comparer    *comparer
	traffic     Traffic
	kinds       map[kind][]diff.Effect
	groups      map[Group]*clients
	clients     clients
	credentials clients
	grouped     int // clients of groups that are kept
}

// kind is all that decides on a call of a log.
type kind struct {
	site, method, route string
	who                 string // see whoOf
	access              bool   // the route is an address
}

// clients is a bounded set.
type clients struct {
	seen  map[string]bool
	calls int
	more  bool
}

func (c *clients) add(name string) {
	c.calls++
	switch {
	case name == "" || c.seen[name]:
	case len(c.seen) >= maxCounted:
		c.more = true
	default:
		if c.seen == nil {
			c.seen = map[string]bool{}
		}
		c.seen[name] = true
	}
}

// Record counts a call that was refused, or would have been.
func (c *Counter) Record(r *records.Record) error {
	c.traffic.records = true
	return c.count(kind{site: r.Site, method: r.Method, route: r.Route, who: whoOf(r.Caller, r.Roles, &r.Credential)}, holdersOf(r.Caller, r.Roles, &r.Credential), r.ClientIP, &r.Credential)
}

// Passed counts a call of the journal.
func (c *Counter) Passed(p *records.Call) error {
	c.traffic.records = true
	return c.count(kind{site: p.Site, method: p.Method, route: p.Route, who: whoOf(p.Caller, nil, &p.Credential)}, holdersOf(p.Caller, nil, &p.Credential), p.ClientIP, &p.Credential)
}

// Access counts a request of an access log.
func (c *Counter) Access(a *records.Access) error {
	home := c.comparer.before.homeOf(a.Host, a.URI)
	if home == nil {
		c.traffic.Others++
		return nil
	}
	c.traffic.requests = true
	r, err := dryrun.Build(a.Method, home.Address+a.URI, a.Overrides, nil)
	if err != nil {
		c.traffic.Unread++
		return nil
	}
	read := rawrequest.Read(home.Reader, r.Raw)
	defer read.Close()
	if read.Kind != call.Single {
		return nil // no call, or one of which the log does not tell
	}
	who, holders := "anonymous", []review.Holder{{}}
	if u, err := url.ParseRequestURI(a.URI); a.SaysWho || err != nil || home.Policies.SaysWho(&http.Request{Header: http.Header{}, URL: u}) {
		who, holders = somebody, slices.Concat(holders, holdersOf(caller.User.String(), nil, &record.Credential{}), holdersOf(caller.KeyHolder.String(), nil, &record.Credential{}))
	}
	return c.count(kind{site: home.Name, method: read.Method, route: routes.Masked(read.Key), who: who, access: true}, holders, a.ClientIP, &record.Credential{})
}

// count counts a call of one of some holders.
func (c *Counter) count(k kind, holders []review.Holder, client string, credential *record.Credential) error {
	old, now := c.comparer.before.home(k.site), c.comparer.after.home(k.site)
	if old == nil || now == nil || !c.comparer.wanted(k.site) || incomparable(old, now) != "" {
		c.traffic.Others++
		return nil
	}
	if len(k.keys()) == 0 {
		c.traffic.Unread++
		return nil
	}
	effects, known := c.kinds[k]
	if !known {
		var err error
		if effects, err = c.effects(&k, c.comparer.pair(old.Chain, now.Chain), holders); err != nil {
			return err
		}
		if len(c.kinds) < maxKinds {
			c.kinds[k] = effects
		}
	}
	c.traffic.Calls++
	for _, effect := range effects {
		*c.traffic.of(effect)++
		c.clients.add(client)
		c.credentials.add(credential.String())
		g := Group{Effect: effect, Site: k.site, Method: k.method, Route: k.route, Who: k.who}
		if c.groups[g] == nil {
			if len(c.groups) >= maxKinds {
				c.traffic.More = true
				continue
			}
			c.groups[g] = new(clients)
		}
		if of := c.groups[g]; c.grouped < maxGrouped || of.seen[client] {
			kept := len(of.seen)
			of.add(client)
			c.grouped += len(of.seen) - kept
		} else {
			of.calls, of.more = of.calls+1, true
			c.traffic.More = true
		}
	}
	return nil
}

func (t *Traffic) of(e diff.Effect) *int {
	return map[diff.Effect]*int{diff.Opened: &t.Opened, diff.Closed: &t.Closed, diff.MayOpen: &t.MayOpen, diff.MayClose: &t.MayClose}[e]
}

// effects returns what becomes of a call: certainly only where that is so for each route and holder that it may be of.
func (c *Counter) effects(k *kind, of *compared, holders []review.Holder) (common []diff.Effect, err error) {
	if of.err != nil {
		return nil, nil //nolint:nilerr // the report has it
	}
	if k.who == somebody {
		for i := range of.holders {
			holders = append(holders, of.holders[i].Holder)
		}
	}
	var found [][]diff.Effect
	for _, key := range k.keys() {
		for i := range holders {
			effects, err := of.Of(&holders[i], k.method, key)
			if err != nil {
				return nil, err
			}
			found = append(found, effects)
		}
	}
	for _, effects := range found {
		if !slices.Equal(effects, found[0]) {
			return perhapsOf(found), nil
		}
	}
	return found[0], nil
}

// perhapsOf returns what may become of a call that is one of several.
func perhapsOf(found [][]diff.Effect) (all []diff.Effect) {
	for _, effects := range found {
		for _, e := range effects {
			if e = (map[diff.Effect]diff.Effect{diff.Opened: diff.MayOpen, diff.Closed: diff.MayClose, diff.MayOpen: diff.MayOpen, diff.MayClose: diff.MayClose})[e]; !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	slices.Sort(all)
	return all
}

// keys returns an example of each form of a route as logs have it, and nothing for one that no index has told.
func (k *kind) keys() (keys []string) {
	if k.access {
		return []string{k.route}
	}
	for _, form := range index.Forms(k.route) {
		segments, _ := form.Segments()
		made := slices.Clone(segments)
		for i, s := range made {
			if routes.IsWildcard(s) {
				made[i] = "1"
			}
		}
		keys = append(keys, "/"+strings.Join(made, "/"))
	}
	return keys
}

// holdersOf returns who may have made a call of a log. Of a user the log need not tell the rights, and a credential that nobody has
// verified may be nobody's.
func holdersOf(who string, roles []string, c *record.Credential) (all []review.Holder) {
	credential := caller.Credential{Kind: caller.CredentialKind(c.Kind), Key: c.Key, Login: c.Login, UUID: c.UUID}
	user := caller.Caller{Kind: caller.User, Roles: roles, NoRoles: roles == nil, NoCapabilities: true}
	add := func(of caller.Caller, usual caller.CredentialKind) {
		h := review.Holder{Caller: of, Credential: credential}
		h.Credential.Kind = cmp.Or(h.Credential.Kind, usual)
		all = append(all, h)
	}
	isKey := credential.Kind == caller.CredentialKey
	switch {
	case who == caller.KeyHolder.String(), who == "" && isKey:
		add(caller.Caller{Kind: caller.KeyHolder}, caller.CredentialKey)
	case who == caller.User.String(), who == "" && credential.Kind != "":
		add(user, caller.CredentialUser)
	default:
		return []review.Holder{{Credential: credential}}
	}
	if who == "" && c.Claimed {
		all = append(all, review.Holder{Credential: credential})
	}
	return all
}

// whoOf names who has made a call of a log.
func whoOf(who string, roles []string, c *record.Credential) string {
	if c.Kind != "" {
		return c.String()
	}
	return strings.TrimSpace(cmp.Or(who, "anonymous") + " " + strings.Join(roles, ","))
}

// homeOf returns the site that a request of an access log has reached, or nil.
func (s *side) homeOf(host, uri string) *dryrun.Home {
	i := slices.IndexFunc(s.homes, func(h dryrun.Home) bool {
		fits := len(h.Policies.Hosts) == 0 || slices.ContainsFunc(h.Policies.Hosts, func(p string) bool { return hosts.Fits(p, hosts.Name(host)) })
		return fits && (h.Base == "" || strings.HasPrefix(uri, h.Base+"/"))
	})
	if i < 0 {
		return nil
	}
	return &s.homes[i]
}

// Report returns what was counted.
func (c *Counter) Report() *Traffic {
	t := c.traffic
	t.Twice = t.requests && t.records
	t.Clients, t.Credentials, t.More = len(c.clients.seen), len(c.credentials.seen), t.More || c.clients.more || c.credentials.more
	t.Groups = []Group{}
	for g, who := range c.groups {
		g.Calls, g.Clients = who.calls, len(who.seen)
		t.Groups = append(t.Groups, g)
	}
	slices.SortFunc(t.Groups, func(a, b Group) int {
		return cmp.Or(-cmp.Compare(a.Calls, b.Calls), cmp.Compare(diff.Rank(a.Effect), diff.Rank(b.Effect)), strings.Compare(a.Site+a.Method+a.Route+a.Who, b.Site+b.Method+b.Route+b.Who))
	})
	t.Groups = t.Groups[:min(len(t.Groups), maxGroups)]
	return &t
}
