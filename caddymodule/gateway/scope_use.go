package gateway

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/scope"
)

// scopeUses is how the scopes of a site were used since it was first configured in this process, by their names. The zero value has
// no use.
type scopeUses struct{ of sync.Map }

// scopeUse is how one scope was used.
type scopeUse struct {
	last                 atomic.Int64 // in nanoseconds since 1970; 0 for never
	refused, wouldRefuse atomic.Uint64
}

// use returns how a scope was used. The name is one of the configuration.
func (u *scopeUses) use(name string) *scopeUse {
	known, ok := u.of.Load(name)
	if !ok {
		known, _ = u.of.LoadOrStore(name, new(scopeUse))
	}
	return known.(*scopeUse)
}

// refusal notes a refusal of a scope.
func (u *scopeUses) refusal(rec *Record) {
	name, ok := strings.CutPrefix(rec.Rule, "scope ")
	switch {
	case !ok || rec.Policy != scope.Entry.Name:
	case rec.Outcome == string(policy.Refuse):
		u.use(name).refused.Add(1)
	default:
		u.use(name).wouldRefuse.Add(1)
	}
}

// used notes that a verified credential has used its scopes, whose names stand with commas between them.
func (u *scopeUses) used(names string, now time.Time) {
	for name := range strings.SplitSeq(names, ",") {
		u.use(name).last.Store(now.UnixNano())
	}
}

// status returns the scopes of the site, in their order.
func (u *scopeUses) status(scopes policy.Scopes, now time.Time) (all []adminapi.Scope) {
	if scopes == nil {
		return nil
	}
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
		use := u.use(name)
		one.Refusals, one.WouldRefuse = use.refused.Load(), use.wouldRefuse.Load()
		if last := use.last.Load(); last != 0 {
			at := time.Unix(0, last).UTC()
			one.LastUse = &at
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
