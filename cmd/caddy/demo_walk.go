package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// tried is a trial with what came of it.
type tried struct {
	trial
	attack        bool
	bare, guarded result
	login         string // who tried at the gateway; "" for anybody
	refused       bool   // by the gateway
	decided       string // by what, at the gateway
	odd           bool   // not as expected
}

// printWalk tries all rows and prints the table. The error names the rows that are not as
// expected.
func (d *demo) printWalk(ctx context.Context, out io.Writer) error {
	rows, err := d.walk(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, tableOf(rows, terminal.PaletteOf(out))); err != nil {
		return err
	}
	var odd []string
	for _, t := range rows {
		if t.odd {
			odd = append(odd, fmt.Sprintf("%q", t.what))
		}
	}
	if odd != nil {
		return fmt.Errorf("not as expected: %s", strings.Join(odd, ", "))
	}
	return nil
}

// walk tries all rows on platforms of its own, so that it leaves nothing behind.
func (d *demo) walk(ctx context.Context) ([]*tried, error) {
	own := *d
	own.listen, own.options.SMTP = "127.0.0.1:0", ""
	bare, err := startPlatform(ctx, own.options, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	guarded, err := startPlatform(ctx, own.options, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer guarded.stop()
	running, err := own.startGateway(ctx, guarded.address.dial(), guarded.Info())
	if err != nil {
		return nil, err
	}
	defer caddy.Stop() //nolint:errcheck // it has done its work
	return running.compare(ctx, bare, guarded)
}

// compare tries all rows on the bare platform, and on the guarded one through the gateway.
func (d *runningDemo) compare(ctx context.Context, bare, guarded *platform) ([]*tried, error) {
	direct := newVisitor(ctx, bare.Site, "http://"+bare.address.dial())
	defer direct.leave()
	through := newVisitor(ctx, guarded.Site, d.Gateway)
	defer through.leave()
	if err := d.learn(through); err != nil {
		return nil, err
	}
	var rows []*tried
	for _, next := range slices.Concat(attackTrials, honestTrials) {
		t := &tried{trial: next, attack: len(rows) < len(attackTrials), bare: direct.do(next), guarded: through.do(next)}
		t.login = through.login
		rows = append(rows, t)
	}
	root := direct.send("GET {rest}/", "").body
	if err := errors.Join(direct.err, through.err); err != nil {
		return nil, err
	}
	err := d.explain(ctx, rows, root)
	for _, t := range rows {
		t.odd = !t.expected(bare.Options())
	}
	return rows, err
}

// expected tells whether a row went as it has to: on the bare platform as its releases
// say, and behind the gateway no attack, but every honest call.
func (t *tried) expected(o site.Options) bool {
	if !t.attack {
		return t.bare.done && t.guarded.done && !t.refused
	}
	fixed := slices.Contains(t.fixed, o.Release) || slices.Contains(t.fixed, o.CookiePlugin)
	return t.bare.done != fixed && !t.guarded.done && (t.refused || fixed)
}
