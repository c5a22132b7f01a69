package gateway

import (
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// scopeUses is how the scopes of a site were used since it was first configured in this process. The zero value has no use.
type scopeUses struct {
	mu sync.Mutex
	of map[string]*scopeUse // by the names of scopes
}

type scopeUse struct {
	last                 time.Time
	refused, wouldRefuse uint64
}

// note changes what is known of some scopes.
func (u *scopeUses) note(names []string, change func(*scopeUse)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, name := range names {
		if u.of == nil {
			u.of = map[string]*scopeUse{}
		}
		if u.of[name] == nil {
			u.of[name] = new(scopeUse)
		}
		change(u.of[name])
	}
}

// refusal notes a refusal of a scope.
func (u *scopeUses) refusal(rec *Record) {
	name, ok := strings.CutPrefix(rec.Rule, "scope ")
	if !ok || rec.Policy != "scope" {
		return
	}
	u.note([]string{name}, func(use *scopeUse) {
		if rec.Outcome == string(policy.Refuse) {
			use.refused++
		} else {
			use.wouldRefuse++
		}
	})
}

// used notes that a verified credential has used its scopes.
func (u *scopeUses) used(names []string, now time.Time) {
	u.note(names, func(use *scopeUse) { use.last = now })
}

// status returns the scopes of the site, in their order.
func (u *scopeUses) status(scopes policy.Scopes, now time.Time) (all []adminapi.Scope) {
	if scopes == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, name := range scopes.Names() {
		one := adminapi.Scope{Scope: name, Mode: string(policy.Enforce)}
		end, observes := scopes.Terms(name)
		if observes {
			one.Mode = string(policy.Observe)
		}
		if !end.IsZero() {
			last := end.AddDate(0, 0, -1)
			days := daysBetween(now, last)
			one.Until, one.DaysLeft = last.Format(time.DateOnly), &days
		}
		if use := u.of[name]; use != nil {
			one.Refusals, one.WouldRefuse = use.refused, use.wouldRefuse
			if !use.last.IsZero() {
				at := use.last.UTC()
				one.LastUse = &at
			}
		}
		all = append(all, one)
	}
	return all
}

// daysBetween counts the days from that of now to another one, in its zone: 0 on that day, and negative after it.
func daysBetween(now, day time.Time) int {
	y, m, d := now.In(day.Location()).Date()
	const hours = 24
	return int(time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Sub(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)).Hours()) / hours
}

// scopeUser is a request that uses scopes.
type scopeUser struct {
	s     *site
	names []string
	heard heard
}

// usesScopes returns what notes the use of scopes by a request that passes, or nil. It asks nothing. A request without a
// credential takes no memory. It prepares x for listening to the platform's answer where only that verifies the
// credential.
func (s *site) usesScopes(x *exchange, d policy.Decision) *scopeUser {
	if s.Scopes == nil || d.Outcome == policy.Refuse || s.g.app.dry != nil {
		return nil
	}
	c := credentialOf(&x.req)
	if c.Scope == "" {
		return nil
	}
	u := &scopeUser{s: s, names: strings.Split(c.Scope, ",")}
	switch {
	case !c.Claimed:
		s.state.scopes.used(u.names, time.Now())
		return nil
	case !provenByAnswer(&x.req, c):
		return nil
	}
	x.next = &listener{next: x.next, heard: &u.heard}
	return u
}

// end notes the use, once the platform has answered.
func (u *scopeUser) end() {
	if u.heard.verifies() {
		u.s.state.scopes.used(u.names, time.Now())
	}
}
