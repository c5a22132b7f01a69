//go:build wordpress

package wordpress

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// TestConditions sends random requests to routes behind rules with conditions. Whatever reaches a
// handler keeps to them, wherever the handler may look.
func TestConditions(t *testing.T) {
	s := setUps(t)
	for _, g := range s.gatesOf(modeKept) {
		t.Run(g.setUp(), func(t *testing.T) {
			t.Parallel()
			d := &conditioned{s: s, gate: g, tally: tally{counts: map[string]int{}}}
			n := options.requests * 2 / 3 // each that passes goes the whole way
			if g.Site.Name != fpm {
				n = (n + 4) / 5
			}
			c := count(t)
			t.Logf("RESTWARDEN_SEED=%d makes the same %d requests again", options.seed, n)
			rounds(t, n, 0, func(t *testing.T, n int) {
				t.Helper()
				property(t, options.seed, n, func(r *rapid.T) { d.try(t.Context(), c, r) })
			})
			d.report(c)
		})
	}
}

// conditioned tries the conditions of one gate.
type conditioned struct {
	s     *stack
	gate  *gate
	tally tally
	sent  atomic.Int64
}

func (d *conditioned) try(ctx context.Context, c *checks, r *rapid.T) {
	m := rapid.Custom(func(t *rapid.T) *message { return newGenerator(drawn{t}, d.gate.Site).conditioned() }).Draw(r, "request")
	tag := fmt.Sprintf("%s-kept-%06d", d.gate.Site.Name, d.sent.Add(1))
	raw := m.render(d.gate, tag)
	a, err := send(ctx, d.gate, raw)
	if err != nil {
		r.Fatalf("%v: %q", err, raw)
	}
	seen, err := d.s.readTrace(tag)
	if err != nil {
		r.Fatalf("%v: %q", err, raw)
	}
	d.tally.add(conditionedOutcome(&seen, a))
	how := ""
	// A script that runs no REST calls answers with a page, which cannot be rewritten: the gateway refuses it.
	page := strings.Contains(a.decision, "rest_policy_unavailable") && !answersQuestions(d.gate.Site, m.target)
	if a.refused() && seen.loaded && !page {
		how = "a refused request reached WordPress"
	}
	for i := range seen.carried {
		if how == "" {
			how = seen.carried[i].broken()
		}
	}
	if how != "" {
		r.Logf("%s\nthe handler saw: %v\nthe answer: %v\nrequest: %q\nbase64: %s", how, seen.carried, a, raw, base64.StdEncoding.EncodeToString(raw))
		r.Fatalf("what ran breaks a condition")
	}
	c.pass(1)
}

func conditionedOutcome(seen *trace, a *answer) string {
	switch {
	case a.refused():
		return "refused: " + a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	case len(seen.carried) == 0:
		return "passed, and nothing ran"
	case seen.carried[0].Part:
		return "ran, parts of a batch"
	case len(seen.carried[0].Places["get_params"].Members) <= 1:
		return "ran, without parameters"
	}
	return "ran, with parameters"
}

// report writes the table, and fails where hardly anything ran.
func (d *conditioned) report(c *checks) {
	for _, what := range slices.Sorted(maps.Keys(d.tally.counts)) {
		c.t.Logf("%6d %s", d.tally.counts[what], what)
	}
	if d.tally.counts["ran, with parameters"] < 20 || d.tally.counts["ran, parts of a batch"] < 5 {
		c.failf("tally", "hardly anything ran: %v", d.tally.counts)
	}
}
