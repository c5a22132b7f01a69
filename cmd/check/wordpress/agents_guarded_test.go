//go:build wordpress

package wordpress

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// guardedAgents is one address with rules.
type guardedAgents struct {
	*agents

	gate  *standinGate
	rules *agentRules
	// sessions are by role. They are made before anything runs side by side.
	sessions map[string]string
	tally    tally
}

// testGuarded generates messages for an address with rules.
func (a *agents) testGuarded(t *testing.T, gate, bare *standinGate, rules *agentRules) {
	t.Helper()
	c := count(t)
	g := &guardedAgents{agents: a, gate: gate, rules: rules, sessions: map[string]string{}, tally: tally{counts: map[string]int{}}}
	for _, role := range []string{"administrator", "subscriber"} {
		id, err := a.initialize(t.Context(), bare, role)
		if err != nil {
			t.Fatal(err)
		}
		g.sessions[role] = id
	}
	t.Logf("RESTWARDEN_SEED=%d makes the same requests again", options.seed)
	rounds(t, (options.requests+5)/6, 0, func(t *testing.T, n int) {
		t.Helper()
		property(t, options.seed, n, func(r *rapid.T) { g.compare(t.Context(), c, r) })
	})
	g.report(c)
	a.checkRecordsKept(t.Context(), c, gate.Site)
}

func (g *guardedAgents) compare(ctx context.Context, c *checks, r *rapid.T) {
	m := rapid.Custom(func(t *rapid.T) *agentMessage {
		return newAgentGenerator(drawn{t}, g.gate.Site, func(role string) string { return g.sessions[role] }).next()
	}).Draw(r, "request")
	tag := g.tag()
	raw := m.render(&g.gate.gate, tag)
	a, err := send(ctx, &g.gate.gate, raw)
	var seen trace
	if err == nil {
		seen, err = g.readTrace(tag)
	}
	if err == nil {
		err = g.judge(m, &seen, a)
	}
	if err != nil {
		r.Logf("%v\nWordPress ran: %q, %s\nthe answer: %v\nrequest: %q\nbase64: %s",
			err, ranBy(&seen, roleOf(g.gate.Site)), seen.describe(), a, raw, base64.StdEncoding.EncodeToString(raw))
		r.Fatalf("the rules do not hold") // the same words each time, for rapid
	}
	c.pass(1)
}

// judge returns what is wrong with the outcome of a request.
func (g *guardedAgents) judge(m *agentMessage, seen *trace, a *answer) error {
	if err := g.rules.check(m.message, seen); err != nil {
		return err
	}
	if m.plain && strings.Contains(a.decision, "rest_policy_unavailable") {
		return errors.New("the gateway could not decide")
	}
	if len(seen.agents) == 0 && a.status == 200 && !a.refused() {
		for _, name := range g.rules.hidden {
			if strings.Contains(string(a.body), name) {
				return fmt.Errorf("the answer shows %s", name)
			}
		}
	}
	allowed := m.runs == "" && m.lists() || m.runs != "" && g.rules.may(m.runs, m.as)
	if m.plain && allowed && a.refused() {
		return errors.New("what a real client sends is refused")
	}
	g.tally.add(m.outcome(seen, a))
	return nil
}

// lists tells whether a message asks for what a server has, and runs nothing.
func (m *agentMessage) lists() bool {
	return !strings.Contains(m.body, "tools/call") || strings.Contains(m.body, "discover-abilities")
}

// outcome is the line of the table that a request counts in.
func (m *agentMessage) outcome(seen *trace, a *answer) string {
	form := "odd, "
	if m.plain {
		form = "plain, "
	}
	switch {
	case len(seen.agents) > 0:
		return form + "ran"
	case a.refused():
		return form + "refused: " + a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	}
	return form + "passed, ran nothing"
}

// report writes the table, and fails where hardly anything passed.
func (g *guardedAgents) report(c *checks) {
	for _, what := range slices.Sorted(maps.Keys(g.tally.counts)) {
		c.t.Logf("%6d %s", g.tally.counts[what], what)
	}
	if n := g.tally.counts["plain, ran"]; n < 10 {
		c.failf("tally", "%d plain messages ran anything: %v", n, g.tally.counts)
		return
	}
	c.pass(1)
}
