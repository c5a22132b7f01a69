package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/compare"
	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/typo"
)

// differ says what a change of a configuration opens and closes.
type differ struct {
	runningFlags
	adapter     string
	choice      sitename.Choice
	headers     []string
	logs        []string
	index, live string
	format      string
	failOn      []string
}

var (
	diffFormats = []string{"text", "json", "markdown"}
	diffKinds   = []string{"opened", "closed", "any"}
)

func diffCommand() *cobra.Command {
	d := &differ{}
	cmd := &cobra.Command{
		Use:   "diff [--running] [--site NAME | --tag TAG]... [--index FILE | --for URL] [--log FILE]... [--fail-on opened|closed|any] [--format text|json|markdown] [OLD] NEW",
		Short: "Says which calls a change of your configuration opens and closes",
		Long: `Compares two configurations, for every call and every caller that either side names,
by the reasoning of proofs, and says which calls pass that were refused, and which are
refused that passed. Each change has a request that shows it, asked of both sides by a
dry run. Then follows what changes beside: limits, guards, modes, scopes, sites.

Nothing is started, sent or written. With --running the configuration of the Caddy that
runs here is the old one.

Exit status: 0, also with changes; 1 for what --fail-on names; 2 usage, or one of the
configurations does not load; 3 a site could not be compared.`,
		Example: `  caddy restwarden diff Caddyfile.old Caddyfile
  caddy restwarden diff --running --fail-on opened Caddyfile`,
		SilenceUsage: true,
		Args:         cobra.ArbitraryArgs, // run says what is missing, with the right exit status
	}
	f := cmd.Flags()
	f.StringVarP(&d.adapter, "adapter", "a", "", "name of the config adapter of both (default by the name of each file)")
	d.add(cmd, "compare with the configuration of the running Caddy, in place of OLD")
	addChoice(cmd, &d.choice, " (default all)")
	f.StringVar(&d.index, "index", "", "file with a saved REST root: only its routes count")
	f.StringVar(&d.live, "for", "", "URL of the site whose REST root is read, by one GET: only its routes count")
	f.StringArrayVarP(&d.headers, "header", "H", nil, "header line of that GET, \"Name: value\"")
	f.StringArrayVar(&d.logs, "log", nil, "log with records, a journal or requests, whose calls are counted that would be decided otherwise; may be repeated")
	f.StringSliceVar(&d.failOn, "fail-on", nil, "exit with 1 for any of these: "+strings.Join(diffKinds, ", "))
	f.StringVar(&d.format, "format", "text", strings.Join(diffFormats, ", "))
	complete(cmd, "format", diffFormats...)
	complete(cmd, "fail-on", diffKinds...)
	complete(cmd, "adapter", "caddyfile", "json")
	withAnswer(cmd, d.run)
	return cmd
}

// run returns the exit status.
func (d *differ) run(cmd *cobra.Command, args []string) (int, error) {
	if err := d.check(cmd, args); err != nil {
		return exitUsage, err
	}
	report, err := d.report(cmd, args)
	if err != nil {
		return exitUsage, err
	}
	for _, kind := range d.failOn {
		if map[string]bool{"opened": report.Opens(), "closed": report.Closes(), "any": report.Any()}[kind] {
			report.Failed = append(report.Failed, kind)
		}
	}
	if err := d.print(cmd.OutOrStdout(), report); err != nil {
		return exitUsage, err
	}
	switch {
	case len(report.Failed) > 0:
		return exitNo, nil
	case len(report.Sites.NotCompared) > 0:
		return exitUnknown, nil
	}
	return 0, nil
}

// check checks the flags.
func (d *differ) check(cmd *cobra.Command, args []string) error {
	if err := typo.Check(d.format, diffFormats...); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	if cmd.Flags().Changed("fail-on") && len(d.failOn) == 0 {
		return errors.New("--fail-on names nothing: is a variable empty?")
	}
	for _, kind := range d.failOn {
		if err := typo.Check(kind, diffKinds...); err != nil {
			return fmt.Errorf("--fail-on: %w", err)
		}
	}
	switch {
	case d.running && len(args) != 1:
		return errors.New("--running takes the place of OLD: name one configuration, the new one")
	case !d.running && len(args) != 2:
		return errors.New("name two configurations, the old one and the new one, or one with --running")
	case d.address != "" && !d.running:
		return errAddress
	case len(d.headers) > 0 && d.live == "":
		return errors.New("--header: only with --for")
	case d.index != "" && d.live != "":
		return errors.New("name the REST root once, by --index or by --for")
	}
	return nil
}

// report compares.
func (d *differ) report(cmd *cobra.Command, args []string) (_ *compare.Report, err error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	o := compare.Options{Choice: d.choice, Step: func(site string) { progress.Step("comparing %s", site) }}
	if o.Index, err = d.routes(cmd.Context()); err != nil {
		return nil, err
	}
	var sides []compare.Side
	defer func() {
		for _, s := range sides {
			err = errors.Join(err, s.Config.Close())
		}
	}()
	add := func(name string, options dryrun.Options) error {
		progress.Step("loading %s", name)
		config, err := dryrun.Load(options)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		sides = append(sides, compare.Side{Name: name, Config: config})
		return nil
	}
	if d.running {
		running, sites, err := d.ask(cmd.Context())
		if err != nil {
			return nil, err
		}
		o.Switches = inForce(sites)
		if err := add("the running configuration", dryrun.Options{JSON: running}); err != nil {
			return nil, err
		}
	}
	for _, file := range args {
		if err := add(file, dryrun.Options{File: file, Adapter: d.adapter}); err != nil {
			return nil, err
		}
	}
	report, counter, err := compare.New(cmd.Context(), sides[0], sides[1], o)
	if err != nil || len(d.logs) == 0 {
		return report, err
	}
	report.Log, err = d.count(cmd, counter, progress)
	return report, err
}

// count reads the logs.
func (d *differ) count(cmd *cobra.Command, counter *compare.Counter, progress *terminal.Progress) (*compare.Traffic, error) {
	logs, done, _, err := openedLogs(cmd, d.logs)
	defer done()
	if err != nil {
		return nil, err
	}
	var n records.Counts
	for _, log := range logs {
		progress.Step("reading %s", escapedText(log.name))
		counts, err := log.each(records.Visit{Record: counter.Record, Call: counter.Passed, Access: counter.Access})
		if n = n.Plus(counts); err != nil {
			return nil, err
		}
	}
	progress.End()
	cmd.PrintErrln(linesRead(n, fmt.Sprintf("records: %d; calls of the journal: %d; requests of an access log: %d", n.Records, n.Calls, n.Requests)))
	return counter.Report(), lostLogs(cmd, logs)
}

// inForce returns the switches that are in force at sites of a running Caddy.
func inForce(sites []adminapi.Site) (found []compare.Switch) {
	add := func(s compare.Switch, until *time.Time) {
		s.Until = *cmp.Or(until, new(time.Time))
		if !slices.Contains(found, s) { // a site stands in the list once for each mode
			found = append(found, s)
		}
	}
	for i := range sites {
		s := &sites[i]
		if s.ModeUntil != nil {
			add(compare.Switch{Site: s.Site, Switch: s.Mode}, s.ModeUntil)
		}
		if s.Lockdown != nil {
			add(compare.Switch{Site: map[bool]string{false: s.Site}[s.Lockdown.All], Switch: "lockdown"}, &s.Lockdown.Until)
		}
		for _, l := range s.Opens {
			add(compare.Switch{Site: s.Site, Switch: switches.KindOpen, Line: l.Line}, l.Until)
		}
		for _, l := range s.Closes {
			add(compare.Switch{Site: s.Site, Switch: switches.KindClose, Line: l.Line}, l.Until)
		}
	}
	return found
}

// routes returns the routes that count; nil for all.
func (d *differ) routes(ctx context.Context) (*index.Index, error) {
	var root *siteroot.Root
	var err error
	switch {
	case d.index != "":
		root, err = siteroot.Open(d.index)
	case d.live != "":
		root, err = siteroot.Fetch(ctx, d.live, "wp-json", d.headers)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return index.New(root.Patterns(), root.Namespaces), nil
}

// print prints the report.
func (d *differ) print(out io.Writer, report *compare.Report) error {
	if d.format == "markdown" {
		shown, err := printable(report)
		if err == nil {
			_, err = io.WriteString(out, shown.Markdown())
		}
		return err
	}
	return show(out, d.format, report, (*compare.Report).Text)
}
