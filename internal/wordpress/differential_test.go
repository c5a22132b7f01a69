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

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/policies/call"
)

// workers is how many requests are under way at once: php-fpm and Apache have
// four workers each, and the gateway's questions need some of them.
const workers = 6

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

// checkDifferential generates requests and sends each through the gateway of
// several set-ups: whatever reached WordPress must be what the gateway's reader
// said it was. What is refused is counted by reason.
func (s *stack) checkDifferential(ctx context.Context, c *checks) {
	t.progress("   %d requests; --seed %d makes the same ones again", t.Requests, t.Seed)
	generator := newGenerator(t.Seed, s.site(fpm))
	counts := map[string]*tally{}
	readers := map[string]*call.Reader{}
	for _, site := range s.sites {
		counts[site.Name] = &tally{counts: map[string]int{}}
		platform, _ := call.PlatformByName("wordpress")
		readers[site.Name] = call.NewReader(call.Site{
			Platform: platform, Base: site.Base, Scripts: site.Core == "", // the live gateway finds out by itself
		})
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range t.Requests {
		m := generator.next()
		targets := []string{fpm, apache}
		if i%5 == 0 {
			targets = append(targets, subFolder, plain)
		}
		for _, name := range targets {
			group.Go(func() error {
				s.compare(groupCtx, t, s.gate(name, modeDefault), readers[name], m, fmt.Sprintf("%s-%d", name, i), counts[name])
				return groupCtx.Err()
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.failf("differential", "run", "%v", err)
		return
	}
	for _, site := range s.sites {
		reportTally(t, site.Name, counts[site.Name])
	}
	s.checkRecordsKept(ctx, t)
}

// compare sends one request and counts it as passed if WordPress ran nothing but
// what the reader said.
func (s *stack) compare(ctx context.Context, c *checks, g *gate, reader *call.Reader, m *message, tag string, counts *tally) {
	raw := m.render(g, tag)
	said := reader.ReadRaw(raw)
	defer said.Close()
	a, err := send(ctx, g, raw)
	var seen trace
	if err == nil {
		seen, err = s.readTrace(tag)
	}
	if err == nil && strings.Contains(a.decision, "rest_policy_unavailable") && answersQuestions(g.Site, m.target) {
		err = errors.New("the gateway could not decide")
	}
	if err == nil {
		err = s.judge(said, &seen, a, strings.Contains(m.target, call.AjaxScript))
		counts.add(outcome(said, &seen, a))
	}
	if err != nil && ctx.Err() == nil {
		t.failf("differential", tag, "%v\nthe gateway said: %s\nWordPress ran: %s\nthe answer: %v\nrequest: %q\nbase64: %s",
			err, describe(said), seen.describe(), a, raw, base64.StdEncoding.EncodeToString(raw))
		return
	}
	t.passed(1)
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

func reportTally(c *checks, name string, y *tally) {
	t.progress("   %s:", name)
	for _, what := range slices.Sorted(maps.Keys(y.counts)) {
		t.progress("   %6d %s", y.counts[what], what)
	}
	// A comparison of nothing would pass, too.
	if got := y.counts["call, dispatched"]; name != plain && got < 20 || y.counts["page"] == 0 {
		t.failf("differential", name, "hardly anything reached WordPress: %v", y.counts)
		return
	}
	t.passed(1)
}

// checkRecordsKept is that no generated request has turned a subscription into
// an order.
func (s *stack) checkRecordsKept(ctx context.Context, c *checks) {
	for _, site := range s.sites {
		first, last := site.Subscriptions[0], site.Subscriptions[len(site.Subscriptions)-1]
		rows, err := s.sql(ctx, site, fmt.Sprintf(
			"SELECT COUNT(*) FROM {prefix}standin_records WHERE id BETWEEN %d AND %d AND type <> '%s'", first, last, typeSubscription))
		if err == nil && rows[0] != "0" {
			err = fmt.Errorf("%s subscriptions are orders now", rows[0])
		}
		t.check("differential", site.Name+": records keep their type", err)
	}
}
