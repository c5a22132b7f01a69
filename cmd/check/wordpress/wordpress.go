// Package wordpress proves the gateway in front of the real platform: WordPress
// itself from Debian's packages, behind php-fpm and Apache, in a sub-folder and
// with plain permalinks, and in a browser.
package wordpress

import (
	"context"
	"fmt"
	"time"

	"github.com/restwarden/restwarden/internal/testkit/machine"
)

// Run sets everything up, runs all checks, reports each to t, and leaves nothing
// running behind. It returns an error where it could not begin; that is reported
// as a failure, too.
func Run(ctx context.Context, t *Report) error {
	started := time.Now()
	if err := t.fromEnvironment(); err != nil {
		t.failf("set-up", "environment", "%v", err)
		return err
	}
	if out, err := machine.Install(ctx, debianPackages); err != nil {
		t.failf("packages", "install", "%s\n%v", out, err)
		return err
	}
	t.passed(1)
	s, err := startStack(ctx, t.Root)
	if s != nil {
		defer func() { t.check("set-up", "removed", s.stop()) }()
	}
	if err != nil {
		t.failf("set-up", "start", "%v", err)
		return err
	}
	t.progress("   WordPress %s is up (%s)", s.sites[0].Release, time.Since(started).Round(100*time.Millisecond))
	for _, part := range parts {
		if ctx.Err() != nil {
			t.failf(part.name, "run", "interrupted")
			continue
		}
		t.timed(part.name, func() { part.run(s, ctx, t) })
	}
	return nil
}

// parts are the checks, in their order: what changes records comes late.
var parts = []struct {
	name string
	run  func(*stack, context.Context, *Report)
}{
	{"answers", (*stack).checkAnswers},
	{"sweep", (*stack).checkSweep},
	{"accounts", (*stack).checkAccounts},
	{"browser", (*stack).checkBrowser},
	{"checkout", (*stack).checkCheckout},
	{"conversions", (*stack).checkConversions},
	{"holes", (*stack).checkHoles},
	{"attack", (*stack).checkAttack},
	{"differential", (*stack).checkDifferential},
}

// checkAnswers is that every set-up answers at all, so that no later check
// passes for want of a site.
func (s *stack) checkAnswers(ctx context.Context, t *Report) {
	for _, g := range s.gates {
		a, err := fetch(ctx, g, request{path: "/?rest_route=/"})
		if err == nil && (g.Mode == modeDefault || g.Mode == modeBare || g.Mode == modeObserve) && a.status != 200 {
			err = fmt.Errorf("%s", a)
		}
		t.check("answers", g.Name, err)
	}
}
