package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// several makes the reports of sites of a configuration, one after the other.
type several struct {
	*auditor
	config   *dryrun.Config
	targets  []target
	earlier  earlier
	overview audit.Overview
}

// runAll makes the reports of the sites that are meant. It returns the exit status.
func (a *auditor) runAll(cmd *cobra.Command) (status int, err error) {
	switch {
	case len(a.header) > 0:
		return exitUsage, errors.New("--header is for one site: name its URL")
	case a.all && !a.choice.All():
		return exitUsage, errors.New("--all is all sites: leave it out to name some")
	case cmd.Flags().Changed("html") && a.html == "":
		return exitUsage, errors.New("--html names nothing: is a variable empty?")
	case strings.HasSuffix(a.html, ".html"):
		return exitUsage, fmt.Errorf("--html: for several sites it names a directory, such as %s", strings.TrimSuffix(a.html, ".html"))
	}
	if a.diff != "" && len(a.failOn) == 0 {
		return exitUsage, errors.New("--diff: of several sites it is for --fail-on: name what fails")
	}
	earlier, err := readEarlier(a.diff)
	if err != nil {
		return exitUsage, fmt.Errorf("--diff: %w", err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM) // so that nothing is left behind
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once, also in the middle of a large root
	var progress *terminal.Progress
	if a.format == "text" { // else lines come meanwhile
		progress = terminal.NewProgress(cmd.ErrOrStderr())
		defer progress.End()
	}
	progress.Step("reading the configuration")
	s := &several{auditor: a, earlier: earlier}
	if s.config, err = dryrun.Load(dryrun.Options{File: a.config, Adapter: a.adapter, Behind: true}); err != nil {
		return unread(err), err
	}
	defer func() { err = errors.Join(err, s.config.Close()) }()
	if err := s.find(ctx); err != nil {
		return unread(err), err
	}
	s.overview.Made = time.Now()
	if err := s.reports(ctx, cmd, progress); err != nil {
		return exitUsage, err
	}
	progress.End()
	return s.tell(cmd)
}

// target is a site that is meant.
type target struct {
	dryrun.Home        // without a ServedSite where nobody knows the address
	name        string // with the address, or the place of the directive, where several have the name of the site
	at          string // one of both
	why         string // why nobody knows the address
}

// find finds the sites that are meant.
func (s *several) find(ctx context.Context) error {
	homes, err := s.config.Addressed(ctx)
	if err != nil {
		return err
	}
	unreached, err := s.config.Unreached(ctx)
	if err != nil {
		return err
	}
	var all []target
	for _, home := range homes {
		all = append(all, target{Home: home, name: home.Name, at: home.Address})
	}
	for _, u := range unreached {
		all = append(all, target{name: u.Name, at: routing.Place(u.At, u.Imported), why: u.Why()})
	}
	known := sitename.Known(homes, unreached)
	if err := s.choice.Check(known); err != nil {
		return err
	}
	for i, one := range all {
		if slices.ContainsFunc(all, func(t target) bool { return t.name == one.name && t.at != one.at }) {
			one.name += " at " + one.at
		}
		if s.choice.Wants(known[i]) {
			s.targets = append(s.targets, one)
		}
	}
	if len(s.targets) == 0 {
		return errors.New("the configuration guards no site")
	}
	return nil
}

// reports makes the reports, and the pages.
func (s *several) reports(ctx context.Context, cmd *cobra.Command, progress *terminal.Progress) error {
	if s.html != "" {
		if err := os.MkdirAll(s.html, 0o755); err != nil { //nolint:gosec // pages for others to read
			return err
		}
	}
	next, end := s.readAhead(ctx)
	defer end()
	files := fileNames{"index.html": true}
	for i, one := range s.targets {
		progress.Step("%d of %d: %s", i+1, len(s.targets), one.name)
		report, err := s.reportAt(ctx, &one, next())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.add(cmd, &one, files.of(cmp.Or(one.site(), one.name)), report, err); err != nil {
			return err
		}
	}
	return nil
}

// add adds a site to the overview, with its page and its line of JSON. Without a report, failed says why.
func (s *several) add(cmd *cobra.Command, t *target, file string, report *audit.Report, failed error) error {
	row, line := audit.Row{}, any(report)
	if failed != nil {
		row = audit.Row{Site: t.name, Address: t.Address, Error: failed.Error()}
		line = unreadLine{1, cmp.Or(t.site(), t.name), t.Address, failed.Error()}
	} else {
		diff, err := s.earlier.since(report)
		if err != nil {
			return fmt.Errorf("--diff: %w", err)
		}
		report.Failed, report.Undecided = report.FailOn(s.failOn, diff)
		row = report.Row(t.name, t.Address)
	}
	if s.html != "" {
		row.Page = file
		if err := s.page(filepath.Join(s.html, file), report, &row); err != nil {
			return err
		}
	}
	s.overview.Rows = append(s.overview.Rows, row)
	if s.format != "json" {
		return nil
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(line)
}

func (t *target) site() string {
	if t.ServedSite == nil {
		return ""
	}
	return t.Name
}

// unreadLine is the line of a site without a report, in JSON.
type unreadLine struct {
	Version int    `json:"v"` // 1
	Site    string `json:"site"`
	Address string `json:"address"`
	Error   string `json:"error"`
}

// page writes the page of a site; report is nil where it could not be read.
func (s *several) page(file string, report *audit.Report, row *audit.Row) error {
	if report != nil {
		return page(file, report)
	}
	shown, err := printable(row)
	if err != nil {
		return err
	}
	return writePage(file, shown.HTML)
}

// reportAt makes the report of a site from its REST root.
func (s *several) reportAt(ctx context.Context, t *target, read rootRead) (*audit.Report, error) {
	if read.err != nil {
		return nil, read.err
	}
	g := newGuardedSite(ctx, t.Called)
	if err := g.take(s.config, t.ServedSite); err != nil {
		return nil, err
	}
	return g.report(read.root, t.Address)
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
