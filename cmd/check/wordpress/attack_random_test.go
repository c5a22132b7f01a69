//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// generated sends requests of the grammar, as many to each target.
func (a *attack) generated(t *testing.T) {
	t.Logf("RESTWARDEN_SEED=%d makes the same requests again", options.seed)
	start, before := time.Now(), a.last.Load()
	n := (options.shots + len(a.s.targets) - 1) / len(a.s.targets)
	limit := options.nightly * workers / time.Duration(len(a.s.targets)) // so many targets are attacked at a time
	t.Run("targets", func(t *testing.T) {
		for _, target := range a.s.targets {
			t.Run(target.name, func(t *testing.T) {
				t.Parallel()
				c := count(t)
				rounds(t, n, limit, func(t *testing.T, n int) {
					t.Helper()
					a.round(t, c, target, n)
				})
			})
		}
	})
	c := count(t)
	for _, site := range a.s.sites {
		a.s.checkRecordsKept(t.Context(), c, site)
	}
	c.check("dispatches", a.log.stray())
	sent := int(a.last.Load() - before)
	t.Logf("%d requests to %d targets (%s): %s", sent, len(a.s.targets), time.Since(start).Round(time.Second), a.tally())
	if answered := a.counts["2xx"] + a.counts["4xx"]; answered < sent/2 {
		t.Errorf("only %d of %d requests were answered", answered, sent)
	}
}

// triesAgain is how often a find goes out again, and what it is shrunk to: of two headers
// Caddy's FastCGI client takes either.
const triesAgain = 6

// round sends n random requests to one target. The first that does what nobody may do is
// shrunk, and kept as it was found and as it is then.
func (a *attack) round(t *testing.T, c *checks, to *target, n int) {
	t.Helper()
	var fired []*shot
	var first, smallest *shot
	tries, finds := 1, 0
	defer func() {
		if smallest != nil {
			t.Logf("kept in %s, and as it was found in %s", smallest.keep(), first.keep())
		}
		a.checkLate(t, fired)
	}()
	shots := rapid.Custom(func(t *rapid.T) *shot {
		return a.aim(grammar.From(drawn{t}), to, int(a.last.Add(1)))
	})
	property(t, options.seed, n, func(r *rapid.T) {
		s := shots.Draw(r, "request")
		fired = append(fired, s)
		rule, how, tried := a.tryTimes(t, tries, s)
		if rule == "" {
			c.pass(1)
			return
		}
		smallest = s
		switch finds++; {
		case finds == 1:
			first, tries = s, triesAgain
		case finds == 2 && tried == 1: // the same request again, which always does it
			tries = 1
		}
		r.Logf("%s", how)
		r.Fatalf("%s", rule)
	})
}

// tryTimes fires a shot until it breaks a rule. An error on this side ends the test.
func (a *attack) tryTimes(t *testing.T, times int, s *shot) (rule, how string, tried int) {
	t.Helper()
	for tried = 1; tried <= times; tried++ {
		rule, how, err := a.broken(t.Context(), s)
		if err != nil {
			t.Fatalf("%v\n%#v", err, s)
		}
		if rule != "" {
			return rule, how, tried
		}
	}
	return "", "", times
}

// checkLate looks for what shots made WordPress dispatch after they had been judged.
func (a *attack) checkLate(t *testing.T, fired []*shot) {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	for _, s := range fired {
		seen, err := a.log.take(s.number)
		if err != nil {
			t.Fatal(err)
		}
		if how := s.closed(seen); how != "" {
			t.Errorf("late: %s\n%#v\nkept in %s", how, s, s.keep())
		}
	}
}

// corpus sends what was found before.
func (a *attack) corpus(t *testing.T) {
	list, err := readFinds()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, each to %d targets, over %d versions of HTTP", len(list), len(a.s.targets), len(versions))
	a.eachTarget(t, func(ctx context.Context, c *checks, target *target) {
		var fired []*shot
		for i, request := range list {
			for _, version := range versions {
				moved := *request
				moved.Target = target.at[0] + request.Target
				s := &shot{number: canaryIn(request), target: target, version: version, request: &moved}
				fired = append(fired, s)
				rule, how, err := a.broken(ctx, s)
				if err == nil && rule == "" {
					err = a.log.stray()
				}
				if err == nil && rule != "" {
					err = fmt.Errorf("%s: %s", rule, how)
				}
				if err != nil {
					err = fmt.Errorf("%w\n%#v\nkept in %s", err, s, s.keep())
				}
				c.check(fmt.Sprintf("%d over %s", i, version), err)
			}
		}
		a.checkLate(c.t, fired)
	})
}
