//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// attack sends requests of a grammar of its own to every target. Nothing judges them
// but what WordPress has dispatched: each is aimed at a route that is closed to its
// caller and that no other request names.
type attack struct {
	s      *stack
	t      *Report
	log    dispatchLog
	known  []*shot
	found  int
	mu     sync.Mutex
	counts map[string]int
}

// Numbers of requests. The attack ends with the first that is reached, time or number.
const (
	usualShots   = 20_000
	bareShots    = 600 // without the gateway: do they run anything at all?
	wholeShots   = 60  // do pages that end early end as they would?
	shotsAtATime = 500 // between two looks at what was dispatched
	maxFinds     = 300 // then the attack is over
)

// checkAttack is that nothing of a grammar that knows nothing of the gateway runs.
func (s *stack) checkAttack(ctx context.Context, c *checks) {
	a := &attack{s: s, t: t, log: dispatchLog{path: filepath.Join(s.reports, "early")}, counts: map[string]int{}}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"ready", a.ready}, {"embedded", a.embedded}, {"bare", a.bare}, {"corpus", a.corpus}, {"grammar", a.generated},
	} {
		if err := step.run(ctx); err != nil {
			t.failf("attack", step.name, "%v", err)
			return
		}
	}
}

// ready is that every target serves its site, and refuses a plain call.
func (a *attack) ready(ctx context.Context) error {
	for _, target := range a.s.targets {
		for _, version := range versions {
			for route, runs := range map[string]bool{"/canary/v1/open/t0": true, "/canary/v1/t0": false} {
				err := a.plainCall(ctx, target, version, route, runs)
				if err != nil && os.Getenv(gatewayVariable) != "" { // an older one may lack what today's can
					a.t.progress("   %v", err)
					continue
				}
				if err != nil {
					return err
				}
				a.t.passed(1)
			}
		}
	}
	return nil
}

// embedded is that what WordPress loads for _embed is judged, too: posts are open there,
// and their authors are not.
func (a *attack) embedded(ctx context.Context) error {
	for _, target := range a.s.targets {
		url := "http://" + target.host(http1) + target.at[0] + "/?rest_route=/wp/v2/posts&_embed=author"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := httpClient.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it has been read
		text := string(body)
		if err == nil && (resp.StatusCode != http.StatusOK || !strings.Contains(text, `"author":[{"code":"rest_forbidden"`) || strings.Contains(text, `"avatar_urls"`)) {
			err = fmt.Errorf("%s", tail(text))
		}
		a.t.check("attack", target.name+": embedded authors", err)
	}
	return nil
}

// tail is the end of a long text.
func tail(text string) string { return text[max(0, len(text)-2000):] }

func (a *attack) plainCall(ctx context.Context, to *target, v version, route string, runs bool) error {
	r := &grammar.Request{Method: http.MethodGet, Target: to.at[0] + "/?rest_route=" + route}
	seen, err := a.dispatches(ctx, &shot{target: to, version: v, request: r})
	if err == nil && len(seen) > 0 != runs {
		err = fmt.Errorf("dispatched %v, want %t", seen, runs)
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %s: %w", to.name, v, route, err)
	}
	return nil
}

// generated goes on until enough requests have been sent.
func (a *attack) generated(ctx context.Context) error {
	start := time.Now()
	n := 0
	for round := uint64(0); a.found < maxFinds; round++ {
		if a.t.For == 0 && n >= a.t.Shots || a.t.For > 0 && time.Since(start) > a.t.For {
			break
		}
		shots := a.draw(round, n)
		if err := a.volley(ctx, shots); err != nil {
			return err
		}
		n += len(shots)
	}
	a.t.progress("   %d requests to %d targets, %d finds (%s): %s", n, len(a.s.targets), a.found, time.Since(start).Round(time.Second), a.tally())
	if answered := a.counts["2xx"] + a.counts["4xx"]; answered < n/2 {
		return fmt.Errorf("only %d of %d requests were answered", answered, n)
	}
	return nil
}

// draw makes the shots of one round.
func (a *attack) draw(round uint64, first int) []*shot {
	g := grammar.New(a.t.Seed, round)
	shots := make([]*shot, shotsAtATime)
	for i := range shots {
		target := a.s.targets[g.IntN(len(a.s.targets))]
		shots[i] = a.aim(g, target, first+i+1)
	}
	return shots
}

// volley fires shots, a few at a time, and looks at what came of them.
func (a *attack) volley(ctx context.Context, shots []*shot) error {
	a.known = shots
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, shot := range shots {
		group.Go(func() error {
			if err := a.fire(groupCtx, shot); err != nil {
				return err
			}
			return groupCtx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	found, err := a.judge()
	if err == nil {
		err = a.converted(ctx)
	}
	a.t.passed(len(shots) - min(found, len(shots)))
	return err
}

// converted reports subscriptions that are orders now, with the shots that were aimed
// at them.
func (a *attack) converted(ctx context.Context) error {
	for _, site := range a.s.sites {
		rows, err := a.s.sql(ctx, site, fmt.Sprintf("SELECT id FROM {prefix}standin_records WHERE id BETWEEN %d AND %d AND type <> '%s'",
			site.Subscriptions[0], site.Subscriptions[len(site.Subscriptions)-1], typeSubscription))
		if err != nil {
			return err
		}
		for _, id := range rows {
			if id == "" {
				continue
			}
			a.found++
			var aimed strings.Builder
			for _, s := range a.known {
				if s.object == id && s.target.site == site.Name {
					fmt.Fprintf(&aimed, "%s over %s: %s\nkept in %s\n", s.target.name, s.version, s.request, s.keep())
				}
			}
			a.t.failf("attack", "subscription "+id, "is an order now, on %s, after one of\n%s", site.Name, aimed.String())
			if _, err := a.s.sql(ctx, site, fmt.Sprintf("UPDATE {prefix}standin_records SET type = '%s' WHERE id = %s", typeSubscription, id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge looks through the dispatches since the last time and reports those that
// nobody may have made.
func (a *attack) judge() (found int, err error) {
	seen, err := a.log.next()
	if err != nil {
		return 0, err
	}
	hit := map[int]bool{}
	for i := range seen {
		d := &seen[i]
		number, open := d.canary()
		shot := a.shot(number)
		if number == 0 || open || hit[number] || shot != nil && shot.asksMethods(d) {
			continue
		}
		hit[number] = true
		a.found++
		if shot == nil {
			a.t.failf("attack", fmt.Sprintf("request %d", number), "ran %s %q of a request that is not under way", d.Method, d.Route)
			continue
		}
		a.t.failf("attack", fmt.Sprintf("request %d", number), "%s over %s ran %s %q\n%s\nkept in %s",
			shot.target.name, shot.version, d.Method, d.Route, shot.request, shot.keep())
	}
	return len(hit), nil
}

// shot returns the shot with a number, nil where it was none of the last ones.
func (a *attack) shot(number int) *shot {
	for _, s := range a.known {
		if s.number == number {
			return s
		}
	}
	return nil
}
