package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/credentials"
	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/scope"
	"github.com/restwarden/restwarden/policies/typo"
)

// accepter lists the credentials that a platform accepts.
type accepter struct {
	configFlags
	site, since, platform, format string
	scopes                        bool
	minDays                       int
	live                          string
	header                        []string
}

func credentialsCommand() *cobra.Command {
	l := &accepter{}
	cmd := &cobra.Command{
		Use:   "credentials [--site NAME] [--since TIME|DURATION] [--config FILE] [--scopes [--min-days N]] [--format text|json] LOG... | --live URL -H HEADER",
		Short: "Lists the credentials that the platform accepts, and what they are used for",
		Long: `Reads the journal, and the records of refusals, from Caddy's logs in JSON, also rotated
and compressed ones, "-" for standard input. For each shop key, application password
and login that the platform has accepted it prints when it was used, for which calls,
from where, its scope, and with a configuration what the scopes allow that was never
used. What nobody has verified is counted and left out.

With --scopes it prints the smallest scopes under which the same calls pass, as lines
for the Caddyfile. Nothing is applied. docs/commands/credentials.md says what counts.

With --live it reads no log: it asks the site for the application passwords of the
login in HEADER, with one GET for the REST root and one for the list, and prints their
uuids.

Exit status: 0 fine, 2 usage, 3 nothing was found, or too many different calls, or a
log cannot be read to its end; then what was read counts.`,
		Example: `  caddy restwarden credentials /var/log/caddy/journal*.log*
  caddy restwarden credentials --scopes --min-days 2 /var/log/caddy/journal.log
  caddy restwarden credentials --live https://shop.example.com -H "Authorization: Basic …"`,
		SilenceUsage: true,
	}
	l.add(cmd, configUsage)
	f := cmd.Flags()
	f.StringVar(&l.site, "site", "", "only this site or host (default all)")
	f.StringVar(&l.since, "since", "", "only calls since a time (2026-01-31, or as RFC 3339 has it), or since a while before the last one (7d)")
	f.BoolVar(&l.scopes, "scopes", false, "print scopes for the Caddyfile")
	f.IntVar(&l.minDays, "min-days", 0, "with --scopes: leave out credentials that were seen on fewer days")
	f.StringVar(&l.platform, "platform", "wordpress", "names: "+platforms.List("or"))
	f.StringVar(&l.format, "format", "text", strings.Join(textOrJSON, " or ")+": how to print")
	f.StringVar(&l.live, "live", "", "list the application passwords of the login in HEADER, at the site with this address")
	f.StringArrayVarP(&l.header, "header", "H", nil, `with --live: a header, "Name: value", or @FILE with headers; may be repeated`)
	complete(cmd, "platform", platforms.Names()...)
	complete(cmd, "format", textOrJSON...)
	withAnswer(cmd, l.run)
	return cmd
}

// run returns the exit status.
func (l *accepter) run(cmd *cobra.Command, names []string) (int, error) {
	platform, known := platforms.ByName(l.platform)
	if err := typo.Check(l.format, textOrJSON...); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	switch {
	case !known:
		return exitUsage, fmt.Errorf("--platform %q is not %s", l.platform, platforms.List("or"))
	case l.live != "" && (len(names) > 0 || l.scopes):
		return exitUsage, errors.New("--live reads no log: leave the logs and --scopes out")
	case l.live != "":
		return l.runLive(cmd, &platform)
	case len(l.header) > 0:
		return exitUsage, errors.New("-H goes with --live")
	case len(names) == 0:
		return exitUsage, errors.New("credentials needs a log, or - for standard input")
	case l.minDays < 0 || l.minDays > 0 && !l.scopes:
		return exitUsage, errors.New("--min-days is a number of days, and goes with --scopes")
	case l.scopes && l.format == "json":
		return exitUsage, errors.New("--scopes prints lines for a Caddyfile, and no JSON")
	}
	configured, err := l.configured(cmd.Context())
	if err != nil {
		return exitUsage, err
	}
	logs, done, status, err := openedLogs(cmd, names)
	defer done()
	if err != nil {
		return status, err
	}
	o := credentials.Options{Site: l.site}
	if o.Since, err = sinceTime(cmd, l.since, func() time.Time { return lastCall(&o, logs) }); err != nil {
		return exitUsage, err
	}
	collector := credentials.New(o)
	n, err := readCredentials(cmd, collector, logs)
	if err != nil {
		return exitUnknown, err
	}
	return l.print(cmd, collector.Report(configured), n, logs)
}

// readCredentials reads the logs twice: which credentials are accepted must be known before calls count.
func readCredentials(cmd *cobra.Command, collector *credentials.Collector, logs []*sourceLog) (n records.Counts, err error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	for _, log := range logs {
		progress.Step("looking for credentials in %s", escapedText(log.name))
		counts, _ := log.each(records.Visit{Call: func(c *records.Call) error {
			collector.Learn(c)
			return nil
		}})
		log.lines = counts.Records + counts.Calls
	}
	for _, log := range logs {
		progress.Step("reading %s", escapedText(log.name))
		counts, err := log.each(records.Visit{Record: collector.AddRecord, Call: collector.Add})
		if n = n.Plus(counts); err != nil {
			return n, err
		}
	}
	return n, nil
}

// lastCall returns the time of the last call in question.
func lastCall(o *credentials.Options, logs []*sourceLog) (last time.Time) {
	for _, log := range logs {
		_, _ = log.each(records.Visit{Call: func(c *records.Call) error { // what goes wrong is told when the log is read again
			if t, ok := o.LastOf(c); ok && t.After(last) {
				last = t
			}
			return nil
		}})
	}
	return last
}

// configured returns the scopes of the configuration by site; nil without one.
func (l *accepter) configured(ctx context.Context) (all map[string]*scope.Scopes, err error) {
	if _, err := os.Stat("Caddyfile"); l.config == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	config, err := dryrun.Load(dryrun.Options{File: l.config, Adapter: l.adapter})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, config.Close()) }()
	sites, err := config.Sites(ctx)
	all = map[string]*scope.Scopes{}
	for _, s := range sites {
		for _, m := range s.Chain.Policies() {
			if scopes, is := m.Policy.(*scope.Scopes); is {
				all[s.Name] = scopes
			}
		}
	}
	return all, err
}

func (l *accepter) print(cmd *cobra.Command, report *credentials.Report, n records.Counts, logs []*sourceLog) (int, error) {
	r := &report.Read
	cmd.PrintErrln(linesRead(n, fmt.Sprintf("calls of the journal: %d; in question: %d", n.Calls, r.Calls), readCount{"records of refusals, in question", r.Refused},
		readCount{"before --since", r.Earlier}, readCount{"without a time that can be read", r.NoTime}, readCount{"whose credential has no name in the log", r.Unnamed},
		readCount{"of credentials beyond the most that are listed", r.Beyond}))
	out := cmd.OutOrStdout()
	var err error
	if l.format == "json" {
		err = printIndented(out, report)
	} else if shown, failed := printable(report); failed != nil {
		err = failed
	} else if l.scopes {
		platform, _ := platforms.ByName(l.platform)
		err = shown.Scopes(out, platform, l.minDays)
	} else {
		err = shown.Text(out)
	}
	if err != nil {
		return exitUsage, err
	}
	lost, found := lostLogs(cmd, logs), 0
	for i := range report.Sites {
		found += len(report.Sites[i].Credentials)
	}
	switch {
	case found == 0:
		return exitUnknown, nothingAccepted(report)
	case lost != nil:
		return exitUnknown, lost
	}
	return 0, nil
}

// nothingAccepted says why no credential is listed.
func nothingAccepted(report *credentials.Report) error {
	claimed := int64(0)
	for i := range report.Sites {
		claimed += report.Sites[i].Claimed.Calls
	}
	switch r := &report.Read; {
	case claimed > 0:
		return fmt.Errorf("no credential in question was verified, of %d calls that claim one: a rule for users, or login_only, has them verified", claimed)
	case r.Earlier > 0:
		return fmt.Errorf("no call is in question: %d lines are before --since", r.Earlier)
	}
	return cmp.Or(errNoJournal, nil)
}

var errNoJournal = errors.New("the logs have no call of the journal in question: is journal writes or journal all on, and does the log have its logger at level INFO?")
