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
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// attack sends requests of a grammar of its own to every target. Nothing judges them
// but what WordPress has dispatched: each is aimed at a route that is closed to its
// caller and that no other request names.
type attack struct {
	s      *stack
	log    dispatchLog
	last   atomic.Int64 // number of a shot
	locks  sync.Map     // of the records that shots are aimed at
	mu     sync.Mutex
	counts map[string]int
}

// Numbers of requests.
const (
	firstShot  = 100_000 // all have as many digits: a shot that is made again is as long as it was
	bareShots  = 600     // without the gateway: do they run anything at all?
	wholeShots = 60      // do pages that end early end as they would?
)

func (s *stack) testAttack(t *testing.T) {
	t.Helper()
	a := &attack{s: s, log: dispatchLog{path: filepath.Join(s.reports, "early")}, counts: map[string]int{}}
	a.last.Store(firstShot)
	ready := t.Run("ready", func(t *testing.T) { a.eachTarget(t, a.ready) })
	ready = t.Run("bare", func(t *testing.T) { a.bare(t.Context(), count(t)) }) && ready
	if !ready { // the rest would prove nothing, or say the same a thousand times
		return
	}
	t.Run("embedded", func(t *testing.T) { a.eachTarget(t, a.embedded) })
	t.Run("corpus", a.corpus)
	t.Run("grammar", a.generated)
}

// eachTarget runs a test for each of the targets.
func (a *attack) eachTarget(t *testing.T, run func(context.Context, *checks, *target)) {
	t.Helper()
	for _, target := range a.s.targets {
		t.Run(target.name, func(t *testing.T) { run(t.Context(), count(t), target) })
	}
}

// ready is that a target serves its site, and refuses a plain call.
func (a *attack) ready(ctx context.Context, c *checks, target *target) {
	for _, version := range versions {
		for route, runs := range map[string]bool{"/canary/v1/open/t0": true, "/canary/v1/t0": false} {
			err := a.plainCall(ctx, target, version, route, runs)
			if err != nil && os.Getenv(gatewayVariable) != "" { // an older one may lack what today's can
				c.t.Log(err)
				err = nil
			}
			c.check(string(version)+" "+route, err)
		}
	}
}

// embedded is that what WordPress loads for _embed is judged, too: posts are open there,
// and their authors are not.
func (a *attack) embedded(ctx context.Context, c *checks, target *target) {
	c.check("embedded authors", func() error {
		url := "http://" + target.host(http1) + target.at[0] + "/?rest_route=/wp/v2/posts&_embed=author"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := httpClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }() // it has been read
		body, err := io.ReadAll(resp.Body)
		text := string(body)
		if err == nil && (resp.StatusCode != http.StatusOK || !strings.Contains(text, `"author":[{"code":"rest_forbidden"`) || strings.Contains(text, `"avatar_urls"`)) {
			err = fmt.Errorf("%s", tail(text))
		}
		return err
	}())
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

// dispatches fires one shot and returns what it made WordPress dispatch.
func (a *attack) dispatches(ctx context.Context, s *shot) ([]dispatched, error) {
	if err := a.fire(ctx, s); err != nil {
		return nil, err
	}
	if s.request.Short || s.open {
		time.Sleep(10 * time.Millisecond) // the server may still be at it
	}
	return a.log.take(s.number)
}

// broken tells what a shot did that nobody may do: the rule that it broke, in the same
// words for every shot, and how. The rule is "" where it did nothing.
func (a *attack) broken(ctx context.Context, s *shot) (rule, how string, err error) {
	if s.object != "" {
		lock, _ := a.locks.LoadOrStore(s.target.site+s.object, new(sync.Mutex))
		lock.(*sync.Mutex).Lock()
		defer lock.(*sync.Mutex).Unlock()
	}
	const ran = "what is closed to the caller ran"
	strays := a.log.strays()
	seen, err := a.dispatches(ctx, s)
	if err != nil {
		return "", "", err
	}
	if how := s.closed(seen); how != "" {
		return ran, how, nil
	}
	if again := a.log.strays(); again > strays { // of this shot, or of another one that is under way
		if _, err := a.dispatches(ctx, s); err != nil || a.log.strays() > again {
			return ran, "its number was changed on the way", err
		}
	}
	if s.object == "" {
		return "", "", nil
	}
	converted, err := a.unconvert(ctx, s)
	if err != nil || !converted {
		return "", "", err
	}
	return "a subscription is an order now", s.object + " on " + s.target.site, nil
}

// unconvert tells whether the record that a shot is aimed at is an order now, and makes
// it a subscription again.
func (a *attack) unconvert(ctx context.Context, s *shot) (converted bool, err error) {
	site := a.s.site(s.target.site)
	rows, err := a.s.sql(ctx, site, fmt.Sprintf("SELECT type FROM {prefix}standin_records WHERE id = %s", s.object))
	if err != nil || rows[0] == typeSubscription {
		return false, err
	}
	_, err = a.s.sql(ctx, site, fmt.Sprintf("UPDATE {prefix}standin_records SET type = '%s' WHERE id = %s", typeSubscription, s.object))
	return true, err
}
