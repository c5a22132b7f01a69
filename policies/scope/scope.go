// Package scope is the policy scope: what a credential of its own may do. A scope names shop keys, application passwords
// or users, and the calls that these are for. It only takes away, and it binds a request wherever it carries the
// credential, whether or not the platform would take it there.
package scope

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/condition"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/redact"
	"github.com/restwarden/restwarden/policies/store"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:  "scope",
	Words: []string{"scope"},
	New:   func() policy.Policy { return new(Scopes) },
	Codes: []policy.Code{policy.CodeCredentialScope, policy.CodeTooMany, policy.CodePlatform},
}

// Scopes are the scopes of a site.
type Scopes struct {
	Scopes []*Scope `json:"scopes,omitempty"`

	keys, passwords, users members
	wideners               []routes.Pattern // of the platform, see widening
	now                    func() time.Time
}

// Scope is one block `scope <name> { … }`.
type Scope struct {
	Name string `json:"name"`
	// Keys are the last seven characters of shop keys, Passwords the uuids of application passwords, and Users login
	// names. "*" is every one that no scope names.
	Keys      []string `json:"key,omitempty"`
	Passwords []string `json:"password,omitempty"`
	Users     []string `json:"user,omitempty"`
	// Allow are the calls that the scope is for, in order; none without any. The first one whose route and method match
	// decides.
	Allow []Allow `json:"allow,omitempty"`
	// Hide are the fields that answers do not show, as redact has them.
	Hide []redact.Redaction `json:"hide,omitempty"`
	// From and Between are conditions for all calls.
	From    []string `json:"from,omitempty"`
	Between string   `json:"between,omitempty"`
	// Until is the last day, "2027-01-31", to its end in the zone of the machine. After it the scope allows nothing.
	Until string `json:"until,omitempty"`
	// Rate is how many calls the credentials of the scope may make together, "5000/1d". It counts what the platform has
	// verified.
	Rate string `json:"rate,omitempty"`
	// Mode "observe" refuses nothing, and hides nothing.
	Mode policy.Mode `json:"mode,omitempty"`
	// OtherDoors "open" leaves xmlrpc.php open, see Scopes.CheckPage.
	OtherDoors string `json:"other_doors,omitempty"`
	// At is where the block stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	around condition.Conditions
	end    time.Time // the first moment after Until; zero without one
	rate   store.Rate
	name   *policy.Rule
}

// Allow is one line `allow [<methods>] <route>...` of a scope, with or without a block of conditions.
type Allow struct {
	Methods    []string              `json:"methods,omitempty"`
	Routes     []string              `json:"routes"`
	Conditions *condition.Conditions `json:"conditions,omitempty"`
	At         string                `json:"at,omitempty"`

	rule policy.Rule // for anyone whom the scope binds
}

// compile checks the line.
func (a *Allow) compile() error {
	a.rule = policy.Rule{Allow: "anyone", Methods: a.Methods, Routes: a.Routes, Conditions: a.Conditions, At: a.At}
	return a.rule.Compile()
}

// members are the scopes that name each of a kind of credentials.
type members struct {
	named  map[string][]*Scope
	others []*Scope // of "*"
	any    bool
}

// add adds a scope for the credentials that it names, spelled by fold.
func (m *members) add(s *Scope, names []string, fold func(string) string) {
	m.any = m.any || len(names) > 0
	for _, name := range names {
		if name == every {
			m.others = append(m.others, s)
			continue
		}
		if m.named == nil {
			m.named = map[string][]*Scope{}
		}
		m.named[fold(name)] = append(m.named[fold(name)], s)
	}
}

// of returns the scopes of one credential, spelled as they were added.
func (m *members) of(name string) []*Scope {
	if scopes, named := m.named[name]; named {
		return scopes
	}
	return m.others
}

// every names all credentials of a kind that no scope names.
const every = "*"

// Provision checks the scopes.
func (p *Scopes) Provision(site *policy.Site, _ policy.Settings) error {
	p.wideners, p.now = widenersOf(site.Platform), site.Now
	p.keys, p.passwords, p.users = members{}, members{}, members{}
	for i, s := range p.Scopes {
		if err := s.compile(); err != nil {
			return policy.Option{Pos: s.At}.Errorf("scope %s: %w", s.Name, err)
		}
		if slices.ContainsFunc(p.Scopes[:i], func(o *Scope) bool { return o.Name == s.Name }) {
			return policy.Option{Pos: s.At}.Errorf("scope %s: %w", s.Name, policy.ErrRepeated)
		}
		p.keys.add(s, s.Keys, func(key string) string { return key })
		p.passwords.add(s, s.Passwords, strings.ToLower)
		p.users.add(s, s.Users, strings.ToLower)
	}
	return nil
}

// compile checks the scope.
func (s *Scope) compile() error {
	if err := s.checkNames(); err != nil {
		return err
	}
	for i := range s.Allow {
		if err := s.Allow[i].compile(); err != nil {
			return policy.Option{Pos: s.Allow[i].At}.Errorf("allow: %w", err)
		}
	}
	for i := range s.Hide {
		if err := s.Hide[i].Compile(); err != nil {
			return policy.Option{Pos: s.Hide[i].At}.Errorf("hide: %w", err)
		}
	}
	s.around = condition.Conditions{From: s.From, Between: s.Between}
	if err := s.around.Compile(false); err != nil {
		return err
	}
	if err := s.Mode.Validate(); err != nil {
		return err
	}
	s.name = policy.RuleNamed("scope "+s.Name, s.At)
	var err error
	if s.end, err = endOf(s.Until); err != nil || s.Rate == "" {
		return err
	}
	s.rate, err = policy.ParseRate(s.Rate)
	return err
}

// endOf returns the first moment after a day, "2027-01-31", in the zone of the machine.
func endOf(day string) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	last, err := time.ParseInLocation(time.DateOnly, day, time.Local)
	if err != nil {
		return last, fmt.Errorf("until %s: not a day such as 2027-01-31", day)
	}
	return last.AddDate(0, 0, 1), nil
}

// ended tells whether the last day of the scope is over.
func (s *Scope) ended(now time.Time) bool { return !s.end.IsZero() && !now.Before(s.end) }

// String is the name of the scope in logs.
func (s *Scope) String() string { return s.name.String() }

// observes tells whether the scope refuses nothing by itself.
func (s *Scope) observes() bool { return s.Mode == policy.Observe }

// EachRoute implements [policy.Router].
func (p *Scopes) EachRoute(do func(policy.RouteLine)) {
	for _, s := range p.Scopes {
		for i := range s.Allow {
			a := &s.Allow[i]
			do(policy.RouteLine{At: cmp.Or(a.At, s.At), Text: "scope " + s.Name, Routes: a.rule.Target().Routes(), Own: true})
		}
		for i := range s.Hide {
			h := &s.Hide[i]
			do(policy.RouteLine{At: cmp.Or(h.At, s.At), Text: "scope " + s.Name + ": hide", Routes: []routes.Pattern{h.Pattern()}, Own: true})
		}
	}
}

// Why implements [policy.Explainer].
func (p *Scopes) Why(v policy.Verdict) string {
	if v.Code == policy.CodeCredentialScope {
		return "The request carries a credential whose scope does not allow this call."
	}
	return ""
}
