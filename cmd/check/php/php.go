// Package php holds the project's reader of PHP's variables against PHP itself:
// queries, forms and multipart bodies go to php-fpm over FastCGI, and the whole
// arrays that it makes of them must be those of phpvars.
package php

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Options say how long PHP is asked.
type Options struct {
	Seed   uint64        // 0 takes the clock
	Inputs int           // for each release of PHP, with and without arg_separator.input=";&"
	For    time.Duration // in place of Inputs, where it is set: with other Debian releases' PHP, too
}

// Report takes what comes of it.
type Report struct {
	Progress func(format string, args ...any)
	Pass     func(n int)
	Fail     func(name, output string)
}

// packages are what PHP comes with.
var packages = []machine.Package{{Name: "php-fpm", File: fpmPattern}}

// fpmPattern is where Debian has php-fpm, by release.
const fpmPattern = "/usr/sbin/php-fpm[0-9]*"

// Run asks every release of PHP that there is.
func Run(ctx context.Context, o Options, t *Report) {
	o.Seed = cmp.Or(o.Seed, uint64(time.Now().UnixNano()))
	if out, err := machine.Install(ctx, packages); err != nil {
		t.Fail("packages", fmt.Sprintf("%s\n%v", out, err))
		return
	}
	dir, err := os.MkdirTemp("", "restwarden-php-")
	if err != nil {
		t.Fail("set-up", err.Error())
		return
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fail("set-up", err.Error())
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // PHP-FPM runs as another user
		t.Fail("set-up", err.Error())
		return
	}
	releases, err := installed()
	if err == nil && o.For > 0 {
		var others []release
		others, err = otherReleases(ctx, dir)
		releases = append(releases, others...)
	}
	if err != nil {
		t.Fail("releases of PHP", err.Error())
	}
	t.Progress("   seed %d makes the same inputs again", o.Seed)
	for _, r := range releases {
		releases = append(releases, r.splitting())
	}
	for _, r := range releases {
		start := time.Now()
		count, err := ask(ctx, o, t, dir, r)
		if err != nil {
			t.Fail(r.name, err.Error())
			continue
		}
		t.Progress("   %s: %s (%s)", r.name, count, time.Since(start).Round(100*time.Millisecond))
	}
}

// workers is how many connections to PHP there are.
const workers = 2

// ask sends inputs to one release and compares.
func ask(ctx context.Context, o Options, t *Report, dir string, r release) (*count, error) {
	server, err := startFPM(ctx, dir, r)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	all := newCount()
	again, err := readCorpus()
	if err != nil {
		return nil, err
	}
	for _, in := range again {
		if err := compare(ctx, server, in, all, t); err != nil {
			return nil, err
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	end := time.Now().Add(o.For)
	for w := range workers {
		group.Go(func() error {
			g := grammar.New(o.Seed, uint64(w))
			for i := w; o.For == 0 && i < o.Inputs || o.For > 0 && time.Now().Before(end); i += workers {
				if err := compare(groupCtx, server, next(g), all, t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return all, all.enough()
}

// compare asks PHP about one input and counts what comes of it.
func compare(ctx context.Context, s *server, in *input, all *count, t *Report) error {
	answer, err := s.ask(ctx, in)
	if err != nil {
		return fmt.Errorf("%w\n%s\nkept in %s", err, in, in.keep())
	}
	found, err := parse(answer)
	if err != nil {
		return fmt.Errorf("%w: %.300q\n%s", err, answer, in)
	}
	verdict, err := judge(in, found, s.splits)
	if err != nil {
		if all.fail() {
			t.Fail(verdict, fmt.Sprintf("%v\n%s\nkept in %s", err, in, in.keep()))
		}
		return nil
	}
	all.add(in.kind + " " + verdict)
	t.Pass(1)
	return nil
}

// String shows the input; a long one only in part.
func (in *input) String() string {
	return fmt.Sprintf("%s, query %.400q\ncontent type %.400q\nbody %.600q", in.method, in.query, in.contentType, in.body)
}

var errFewCompared = errors.New("hardly anything was compared")

// enough fails where the inputs of some kind were refused or broken so often that
// nothing would be proven.
func (c *count) enough() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range kinds {
		same, total := 0, 0
		for what, n := range c.counts {
			if strings.HasPrefix(what, kind+" ") {
				total += n
				if what == kind+" "+verdictSame {
					same = n
				}
			}
		}
		if same < total/3 || total == 0 {
			return fmt.Errorf("%w: %s: %d of %d", errFewCompared, kind, same, total)
		}
	}
	return nil
}
