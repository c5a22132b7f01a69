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
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// tally counts what became of the generated requests.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (y *tally) add(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.counts[what]++
}

// differential compares what the gateway's reader says with what WordPress runs, at one
// gate.
type differential struct {
	s        *stack
	gate     *gate
	platform platforms.Platform
	reader   *call.Reader
	tally    tally
	sent     atomic.Int64
}

// testDifferential generates requests for one site: all of them where the set-up is the
// usual one, and a fifth elsewhere.
func (s *stack) testDifferential(t *testing.T, site *site) {
	t.Helper()
	c := count(t)
	platform, ok := platforms.ByName("wordpress")
	if !ok {
		t.Fatal("there is no platform wordpress")
	}
	d := &differential{s: s, gate: s.gate(site.Name, modeDefault), platform: platform, tally: tally{counts: map[string]int{}}}
	d.reader = policies.NewReader(call.Config{Platform: platform, Base: site.Base})
	n := options.requests
	if site.Name != fpm && site.Name != apache {
		n = (n + 4) / 5
	}
	t.Logf("RESTWARDEN_SEED=%d makes the same %d requests again", options.seed, n)
	rounds(t, n, 0, func(t *testing.T, n int) {
		t.Helper()
		property(t, options.seed, n, func(r *rapid.T) { d.compare(t.Context(), c, r) })
	})
	d.report(c)
	s.checkRecordsKept(t.Context(), c, site)
}

// compare sends one request. It fails where WordPress ran anything but what the reader
// said.
func (d *differential) compare(ctx context.Context, c *checks, r *rapid.T) {
	m := messages(d.gate.Site).Draw(r, "request")
	tag := fmt.Sprintf("%s-%06d", d.gate.Site.Name, d.sent.Add(1))
	raw := m.render(d.gate, tag)
	said := rawrequest.Read(d.reader, raw)
	defer said.Close()
	a, err := send(ctx, d.gate, raw)
	var seen trace
	if err == nil {
		seen, err = d.s.readTrace(tag)
	}
	if err == nil && strings.Contains(a.decision, "rest_policy_unavailable") && answersQuestions(d.gate.Site, m.target) {
		err = errors.New("the gateway could not decide")
	}
	if other := said.WithoutOverride(); other != nil && err == nil && a.refused() && !strings.HasPrefix(a.decision, said.Kind.String()+" ") {
		other.Open()
		said = other // which must be allowed as well
	}
	if err == nil {
		err = d.s.judge(said, &seen, a)
		d.tally.add(outcome(said, &seen, a))
	}
	if err != nil {
		r.Logf("%v\nthe gateway said: %s\nWordPress ran: %s\nthe answer: %v\nrequest: %q\nbase64: %s",
			err, describe(said), seen.describe(), a, raw, base64.StdEncoding.EncodeToString(raw))
		r.Fatalf("the gateway and WordPress differ") // the same words each time, for rapid
	}
	c.pass(1)
}

// answersQuestions tells whether the platform answers REST calls at the target's
// path: the gateway asks its questions where the client calls.
func answersQuestions(site *site, target string) bool {
	path, _, _ := strings.Cut(target, "?")
	return path == "/" || path == "/index.php" || site.Permalinks != "" && strings.HasPrefix(path, "/wp-json/")
}

// outcome is the line of the table that a request counts in.
func outcome(said *call.Call, seen *trace, a *answer) string {
	switch {
	case said.Kind == call.Refused:
		return "refused by the reader: " + said.Refusal.Reason
	case a.refused():
		return "refused by a policy: " + a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	case len(seen.dispatches) == 0 && said.Kind == call.Page:
		return "page"
	case len(seen.dispatches) == 0:
		return "call, stopped before dispatch"
	case seen.dispatches[0].Pattern == nil:
		return "call, no such route"
	case said.Kind == call.Batch:
		return "batch, dispatched"
	}
	return "call, dispatched"
}

// report writes the table, and fails where hardly anything was compared.
func (d *differential) report(c *checks) {
	y, name := &d.tally, d.gate.Site.Name
	for _, what := range slices.Sorted(maps.Keys(y.counts)) {
		c.t.Logf("%6d %s", y.counts[what], what)
	}
	if got := y.counts["call, dispatched"]; name != plain && got < 20 || y.counts["page"] == 0 {
		c.failf("tally", "hardly anything reached WordPress: %v", y.counts)
		return
	}
	c.pass(1)
}

// checkRecordsKept is that no generated request has turned a subscription into
// an order.
func (s *stack) checkRecordsKept(ctx context.Context, c *checks, site *site) {
	converted, err := s.converted(ctx, site)
	if err == nil && len(converted) > 0 {
		err = fmt.Errorf("these subscriptions are orders now: %v", converted)
	}
	c.check("records keep their type", err)
}

// converted returns the subscriptions of a site that are orders now.
func (s *stack) converted(ctx context.Context, site *site) ([]string, error) {
	rows, err := s.sql(ctx, site, fmt.Sprintf("SELECT id FROM {prefix}standin_records WHERE id BETWEEN %d AND %d AND type <> '%s'",
		site.Subscriptions[0], site.Subscriptions[len(site.Subscriptions)-1], typeSubscription))
	return slices.DeleteFunc(rows, func(id string) bool { return id == "" }), err
}
