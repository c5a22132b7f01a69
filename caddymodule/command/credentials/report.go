package credentials

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/scope"
)

// Report is what a log tells.
type Report struct {
	Version int    `json:"v"` // 1
	Read    Read   `json:"read"`
	Sites   []Site `json:"sites"` // by name
}

// Site is one site of the log.
type Site struct {
	Name        string       `json:"site"`
	Credentials []Credential `json:"credentials"` // keys, passwords, then users
	Claimed     Claimed      `json:"claimed"`
	// Unused are lines of the configuration that no call of the log matched, and UnusedScopes scopes that no credential of
	// the log has.
	Unused       []Unused `json:"unused,omitempty"`
	UnusedScopes []string `json:"unused_scopes,omitempty"`
}

// Claimed counts what is left out, since nobody has verified it.
type Claimed struct {
	Credentials int   `json:"credentials"`
	More        bool  `json:"more,omitempty"` // there may be more than Credentials
	Calls       int64 `json:"calls"`
}

// Credential is one that the platform has accepted. It holds nothing of a secret.
type Credential struct {
	Kind      caller.CredentialKind `json:"kind"`
	Key       string                `json:"key,omitempty"`
	UUID      string                `json:"uuid,omitempty"`
	Login     string                `json:"login,omitempty"`
	Scope     string                `json:"scope,omitempty"` // as the last line has it, with commas
	First     string                `json:"first,omitempty"` // as RFC 3339 has it
	Last      string                `json:"last,omitempty"`
	Days      int                   `json:"days"` // different ones, in UTC
	Calls     int64                 `json:"calls"`
	Routes    []Route               `json:"routes"`
	Addresses Addresses             `json:"addresses"`
	Refusals  []Refusal             `json:"refusals,omitempty"`
	// Strange is how many calls only name it, from addresses at which the platform has not accepted it. They are not in Calls.
	Strange int64 `json:"strange,omitempty"`
}

// Route is a method of a route that was called.
type Route struct {
	Method string `json:"method"`
	Route  string `json:"route"`
	Calls  int64  `json:"calls"`
	Denied int64  `json:"denied,omitempty"` // of them by the platform, with 401 or 403
	Last   string `json:"last,omitempty"`
	// Batch tells that it is the route of a batch. Calls are then its parts, which stand in rows of their own as well.
	Batch bool `json:"batch,omitempty"`
}

// Addresses are those at which the platform has accepted a credential.
type Addresses struct {
	Count int       `json:"count"`
	More  bool      `json:"more,omitempty"` // there are more than Count
	Most  []Address `json:"most,omitempty"` // those with the most calls
}

// Address is an address with its calls.
type Address struct {
	Address string `json:"address"`
	Calls   int64  `json:"calls"`
}

// Refusal counts refusals with one code.
type Refusal struct {
	Code    string `json:"code"`
	Outcome string `json:"outcome"` // "refused" or "would_refuse"
	Calls   int64  `json:"calls"`
}

// mostAddresses is how many addresses are named.
const mostAddresses = 3

// Report returns what the lines tell. configured are the scopes of the configuration by site; nil without one. The Collector
// takes no lines afterwards.
func (c *Collector) Report(configured map[string]*scope.Scopes) *Report {
	c.claimed.drop()
	report := &Report{Version: 1, Read: c.read, Sites: []Site{}}
	sites := map[string]*Site{}
	at := func(name string) *Site {
		if sites[name] == nil {
			sites[name] = &Site{Name: name, Credentials: []Credential{}}
		}
		return sites[name]
	}
	for n, known := range c.accepted.of {
		if known.about.calls > 0 {
			s := at(n.site)
			s.Credentials = append(s.Credentials, known.about.report(n))
		}
	}
	for name, claimed := range c.sites {
		at(name).Claimed = Claimed{More: c.claimed.more, Calls: claimed.claimed}
	}
	for n := range c.claimed.of {
		at(n.site).Claimed.Credentials++
	}
	calls := c.byCredential()
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		s := sites[name]
		slices.SortFunc(s.Credentials, compare)
		for i := range s.Credentials {
			of := &s.Credentials[i]
			of.Routes, of.Refusals = calls[of.in(name)].routes, calls[of.in(name)].refusals
		}
		if scopes := configured[name]; scopes != nil {
			s.hold(scopes)
		}
		report.Sites = append(report.Sites, *s)
	}
	return report
}

// made is what was done with a credential.
type made struct {
	routes   []Route
	refusals []Refusal
}

func (c *Collector) byCredential() map[name]made {
	all := map[name]made{}
	for s, r := range c.rows {
		m := all[s.of]
		m.routes = append(m.routes, Route{s.method, s.route, r.calls, r.denied, timeText(r.last), s.door})
		all[s.of] = m
	}
	for r, calls := range c.refusals {
		m := all[r.of]
		m.refusals = append(m.refusals, Refusal{r.code, r.outcome, calls})
		all[r.of] = m
	}
	for _, m := range all {
		slices.SortFunc(m.routes, func(a, b Route) int {
			return cmp.Or(strings.Compare(a.Route, b.Route), strings.Compare(a.Method, b.Method), strings.Compare(a.note(), b.note()))
		})
		slices.SortFunc(m.refusals, func(a, b Refusal) int {
			return cmp.Or(strings.Compare(a.Code, b.Code), strings.Compare(a.Outcome, b.Outcome))
		})
	}
	return all
}

func (k *credential) report(n name) Credential {
	of := Credential{
		Kind: n.kind, Login: k.login.text, Scope: k.scope.text, First: timeText(k.first), Last: timeText(k.last), Days: len(k.days), Calls: k.calls,
		Routes: []Route{}, Strange: k.strange,
	}
	switch {
	case n.kind == caller.CredentialKey:
		of.Key, of.Login = n.text, ""
	case strings.EqualFold(n.text, of.Login):
		of.Login = n.text
	default:
		of.UUID = n.text
	}
	if k.addresses == nil {
		return of
	}
	of.Addresses = Addresses{Count: len(k.addresses.of), More: k.addresses.more}
	for address, calls := range k.addresses.of {
		of.Addresses.Most = append(of.Addresses.Most, Address{address, calls.about})
	}
	slices.SortFunc(of.Addresses.Most, func(a, b Address) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Address, b.Address))
	})
	of.Addresses.Most = of.Addresses.Most[:min(len(of.Addresses.Most), mostAddresses)]
	return of
}

// in returns what the credential is called at a site.
func (of *Credential) in(site string) name {
	return name{site, of.Kind, cmp.Or(of.Key, of.UUID, of.Login)}
}

// compare orders credentials by their kind, then by name.
func compare(a, b Credential) int {
	x, y := a.in(""), b.in("")
	return cmp.Or(strings.Compare(string(x.kind), string(y.kind)), strings.Compare(x.text, y.text)) // "key", "password", "user"
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}
