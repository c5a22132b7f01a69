package caller

import (
	"crypto/sha256"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
)

// TestCache_Refused: a refusal is kept for as long as it counts, and only a small one.
func TestCache_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, of := newIdentityCache(), lifetime{time.Minute, rejectedTTL}
		refusal := func(size int) identityEntry {
			return identityEntry{identity: identity{answer: &ask.Answer{Status: 401, Body: make([]byte, size)}}}
		}
		for i := range 100 {
			c.put(named(strconv.Itoa(i)), 0, refusal(300), of)
		}
		if n := c.entries.Len(); n != 100 {
			t.Errorf("%d refusals are kept, want 100", n)
		}
		time.Sleep(rejectedTTL + time.Millisecond)
		c.put(named("next"), 0, refusal(300), of)
		if items := c.entries.Metrics(); c.entries.Len() != 1 || items.Evictions != 100 {
			t.Errorf("%d refusals are kept after their time, %d have gone", c.entries.Len(), items.Evictions)
		}
		c.put(named("large"), 0, refusal(maxRefusal+1), of)
		if _, is, _ := c.get(named("large"), time.Minute); is != unknown {
			t.Error("a refusal of any size is kept")
		}
	})
}

// TestCache_Drops: an answer whose question was under way during drops is kept unless one of them
// covers it, or may have done so.
func TestCache_Drops(t *testing.T) {
	c, of := newIdentityCache(), lifetime{time.Minute, rejectedTTL}
	h := c.hasher.Load()
	user := func(id uint64) identityEntry {
		return identityEntry{identity: identity{caller: Caller{Kind: User, ID: id}}}
	}
	drop := func(d dropping) { c.drop(func(e identityEntry) bool { return d.covers(e, h) }) }
	for name, test := range map[string]struct {
		drops []dropping
		times int
		entry identityEntry
		kept  bool
	}{
		"none":                  {nil, 0, user(1), true},
		"of another":            {[]dropping{{whom: dropUser, user: 2}}, 1, user(1), true},
		"of another, for long":  {[]dropping{{whom: dropUser, user: 2}}, keptDrops, user(1), true},
		"of too many":           {[]dropping{{whom: dropUser, user: 2}}, keptDrops + 1, user(1), false},
		"the user's, the first": {[]dropping{{whom: dropUser, user: 1}, {whom: dropUser, user: 2}}, 1, user(1), false},
		"the user's, the last":  {[]dropping{{whom: dropUser, user: 2}, {whom: dropLogin, user: 1}}, 100, user(1), false},
		"all":                   {[]dropping{{whom: dropAll}}, 1, user(1), false},
		"all, about the site":   {[]dropping{{whom: dropAll}}, 1, identityEntry{identity: identity{caller: Caller{Kind: Unverified}}}, true},
		"a login":               {[]dropping{{whom: dropLogin, user: 2}}, 1, identityEntry{identity: identity{caller: Caller{Kind: KeyHolder}}}, true},
		"a user":                {[]dropping{{whom: dropUser, user: 2}}, 1, identityEntry{identity: identity{caller: Caller{Kind: KeyHolder}}}, false},
		"somebody unknown":      {[]dropping{{whom: dropLogin, user: 2}}, 1, identityEntry{identity: identity{caller: Caller{Kind: User}}}, false},
		"a session":             {[]dropping{{whom: dropSession, session: "a", hasher: h.id}}, 1, identityEntry{identity: user(1).identity, session: "b"}, true},
	} {
		epoch := c.epoch()
		for range test.times {
			for _, d := range test.drops {
				drop(d)
			}
		}
		c.put(named(name), epoch, test.entry, of)
		c.judged(named(name), epoch, test.entry)
		if _, is, _ := c.get(named(name), time.Minute); (is != unknown) != test.kept || c.wasAccepted(named(name)) != (test.kept && test.entry.proven()) {
			t.Errorf("%s: kept: %t, accepted: %t", name, is != unknown, c.wasAccepted(named(name)))
		}
	}
}

// named is a key that other names do not have.
func named(name string) cacheKey { return sha256.Sum256([]byte(name)) }
