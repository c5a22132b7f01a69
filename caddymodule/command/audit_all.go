package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// several makes the reports of sites of a configuration, one after the other.
type several struct {
	*auditor
	config   *dryrun.Config
	homes    []dryrun.Home
	overview audit.Overview
}

// runAll makes the reports of the sites that are meant. It returns the exit status.
func (a *auditor) runAll(cmd *cobra.Command) (status int, err error) {
	for _, name := range []string{"diff", "header"} {
		if cmd.Flags().Changed(name) {
			return exitUsage, fmt.Errorf("--%s is for one site: name its URL", name)
		}
	}
	var progress *terminal.Progress
	if a.format == "text" { // else lines come meanwhile
		progress = terminal.NewProgress(cmd.ErrOrStderr())
		defer progress.End()
	}
	progress.Step("reading the configuration")
	s := &several{auditor: a}
	if s.config, err = dryrun.Load(dryrun.Options{File: a.config, Adapter: a.adapter, Behind: true}); err != nil {
		return unread(err), err
	}
	defer func() { err = errors.Join(err, s.config.Close()) }()
	if err := s.find(cmd.Context()); err != nil {
		return unread(err), err
	}
	if err := s.reports(cmd, progress); err != nil {
		return exitUsage, err
	}
	progress.End()
	return s.tell(cmd)
}

// find finds the sites that are meant.
func (s *several) find(ctx context.Context) error {
	homes, err := s.config.Homes(ctx)
	if err != nil {
		return err
	}
	var known []sitename.Site
	for _, home := range homes {
		known = append(known, sitename.Site{Names: []string{home.Name}, Tags: home.Tags})
	}
	if err := s.choice.Check(known); err != nil {
		return err
	}
	for i, home := range homes {
		if s.all || s.choice.Wants(known[i]) {
			s.homes = append(s.homes, home)
		}
	}
	if len(s.homes) == 0 {
		return errors.New("the configuration guards no site")
	}
	return nil
}

// reports makes the reports, and the pages.
func (s *several) reports(cmd *cobra.Command, progress *terminal.Progress) error {
	if s.html != "" {
		if err := os.MkdirAll(s.html, 0o755); err != nil { //nolint:gosec // pages for others to read
			return err
		}
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	next, files := s.readAhead(ctx), fileNames{"index.html": true}
	for i, home := range s.homes {
		progress.Step("%d of %d: %s", i+1, len(s.homes), home.Name)
		report, err := s.reportAt(ctx, home, next())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			report = &audit.Report{Version: 1, Site: home.Name, Address: home.Address, Error: err.Error()}
		} else {
			report.Failed, report.Undecided = report.FailOn(s.failOn, nil)
		}
		row := report.Row(home.Address)
		if s.html != "" && err == nil {
			row.Page = files.of(home.Name)
			if err := page(filepath.Join(s.html, row.Page), report); err != nil {
				return err
			}
		}
		s.overview.Rows = append(s.overview.Rows, row)
		if s.format == "json" {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(report); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportAt makes the report of a site from its REST root.
func (s *several) reportAt(ctx context.Context, home dryrun.Home, read rootRead) (_ *audit.Report, err error) {
	if read.err != nil {
		return nil, read.err
	}
	g := newGuardedSite(ctx, home.Address)
	if err := g.take(s.config, home.ServedSite); err != nil {
		return nil, err
	}
	return g.report(read.root, home.Address)
}

// rootRead is a REST root, or why there is none.
type rootRead struct {
	root *siteroot.Root
	err  error
}

// maxAhead is how many REST roots are read and kept ahead of their reports.
const maxAhead = 4

// readAhead reads the roots of the sites, each once and in their order, until ctx ends. The function that it returns waits for the next
// one.
func (s *several) readAhead(ctx context.Context) func() rootRead {
	queue := make(chan chan rootRead, maxAhead-1)
	go func() {
		defer close(queue)
		for _, home := range s.homes {
			one := make(chan rootRead, 1)
			select {
			case queue <- one:
			case <-ctx.Done():
				return
			}
			go func() { one <- s.readRoot(ctx, home) }()
		}
	}()
	return func() rootRead {
		one, ok := <-queue
		if !ok {
			return rootRead{err: ctx.Err()}
		}
		return <-one
	}
}

// readRoot reads the root of a site where the gateway itself asks for it, behind the directive; and at the site's own address where the
// configuration has nothing there that can be asked.
func (s *several) readRoot(ctx context.Context, home dryrun.Home) (r rootRead) {
	prefix := cmp.Or(s.prefix, home.Prefix)
	r.root, r.err = siteroot.FetchThrough(ctx, s.config, home.Address, prefix, nil)
	if errors.Is(r.err, dryrun.ErrNothingBehind) {
		r.root, r.err = siteroot.Fetch(ctx, home.Address, prefix, nil)
	}
	return r
}

// tell prints the overview and what --fail-on has found. It returns the exit status.
func (s *several) tell(cmd *cobra.Command) (status int, err error) {
	shown, err := printable(&s.overview)
	if err != nil {
		return exitUsage, err
	}
	if s.format == "text" {
		if _, err := cmd.OutOrStdout().Write([]byte(shown.Text(terminal.PaletteOf(cmd.OutOrStdout())))); err != nil {
			return exitUsage, err
		}
	}
	if s.html != "" {
		if err := writePage(filepath.Join(s.html, "index.html"), shown.HTML); err != nil {
			return exitUsage, err
		}
	}
	for i := range s.overview.Rows {
		row := &s.overview.Rows[i]
		one := tellFailures(cmd, row.Site, row.Failed, row.Undecided)
		if row.Error != "" {
			one = exitUnknown
		}
		if one == exitNo || status == 0 {
			status = one
		}
	}
	return status, nil
}

// fileNames are those of pages that were given.
type fileNames map[string]bool

// of returns a name for the page of a site: "shop.example.com_blog.html". No two sites have one, also where a disk takes letters for
// equal.
func (n fileNames) of(site string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, strings.ToLower(site))
	name = strings.TrimLeft(name[:min(len(name), 200)], ".")
	file := name + ".html"
	for i := 2; n[file]; i++ {
		file = fmt.Sprintf("%s-%d.html", name, i)
	}
	n[file] = true
	return file
}
