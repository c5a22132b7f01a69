package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/typo"
)

// suggester suggests rules from the records of observe mode.
type suggester struct {
	host, since, platform, format string
	minClients                    int
}

var textOrJSON = []string{"text", "json"}

func suggestCommand() *cobra.Command {
	s := &suggester{}
	cmd := &cobra.Command{
		Use:   "suggest [--host NAME] [--since TIME|DURATION] [--min-clients N] [--format text|json] LOG...",
		Short: "Suggests rules from the records of observe mode",
		Long: `Reads the records of calls that would have been refused from Caddy's logs in JSON, also
rotated and compressed ones, "-" for standard input, and prints for each site the
lines that let the good traffic through, with how often, by how many clients and
when; then what is left out, and why. docs/commands/suggest.md says how it decides.

Nothing is applied. The same logs give the same text, in whatever order.

Exit status: 0 fine, 2 usage, 3 the logs have no record of observe mode, or too many
different calls, or a log cannot be read to its end; then what was read counts.`,
		Example: `  caddy restwarden suggest /var/log/caddy/restwarden*.log*
  caddy restwarden suggest --host shop.example.com --since 7d /var/log/caddy/restwarden.log
  zcat old.log.gz | caddy restwarden suggest --min-clients 10 -`,
		SilenceUsage: true,
	}
	f := cmd.Flags()
	f.StringVar(&s.host, "host", "", "only this site or host (default all)")
	f.StringVar(&s.since, "since", "", "only records since a time (2026-01-31, or as RFC 3339 has it), or since a while before the last record (7d)")
	f.IntVar(&s.minClients, "min-clients", suggest.DefaultMinClients, "how many clients must have called a route")
	f.StringVar(&s.platform, "platform", "wordpress", "names: "+platforms.List("or"))
	f.StringVar(&s.format, "format", "text", strings.Join(textOrJSON, " or ")+": how to print")
	complete(cmd, "platform", platforms.Names()...)
	complete(cmd, "format", textOrJSON...)
	withAnswer(cmd, s.run)
	return cmd
}

// run returns the exit status.
func (s *suggester) run(cmd *cobra.Command, names []string) (int, error) {
	o, err := s.options(names)
	if err != nil {
		return exitUsage, err
	}
	logs, done, status, err := openedLogs(cmd, names)
	defer done()
	if err != nil {
		return status, err
	}
	if o.Since, err = sinceTime(cmd, s.since, func() time.Time { return lastOf(&o, logs) }); err != nil {
		return exitUsage, err
	}
	collector, err := suggest.New(o)
	if err != nil {
		return exitUsage, fmt.Errorf("--min-clients: %w", err)
	}
	n, err := s.read(cmd, collector, logs)
	if err != nil {
		return exitUnknown, err
	}
	return s.print(cmd, collector.Report(), n, logs)
}

// read reads the logs twice: who scans must be known before clients are counted.
func (s *suggester) read(cmd *cobra.Command, collector *suggest.Collector, logs []*sourceLog) (n records.Counts, err error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	for _, log := range logs {
		progress.Step("looking for scanners in %s", escapedText(log.name))
		counts, err := log.each(records.Visit{Record: collector.Learn})
		if err != nil {
			return n, err
		}
		log.lines = counts.Records
	}
	for _, log := range logs {
		progress.Step("reading %s", escapedText(log.name))
		counts, err := log.each(records.Visit{Record: collector.Add})
		if n = n.Plus(counts); err != nil {
			return n, err
		}
	}
	return n, nil
}

// options reads the flags, but for --since.
func (s *suggester) options(names []string) (o suggest.Options, err error) {
	if err := typo.Check(s.format, textOrJSON...); err != nil {
		return o, fmt.Errorf("--format: %w", err)
	}
	platform, known := platforms.ByName(s.platform)
	switch {
	case !known:
		return o, fmt.Errorf("--platform %q is not %s", s.platform, platforms.List("or"))
	case len(names) == 0:
		return o, errors.New("suggest needs a log, or - for standard input")
	case s.minClients < 1:
		return o, errors.New("--min-clients is at least 1")
	}
	return suggest.Options{Platform: platform, Host: s.host, MinClients: s.minClients}, nil
}

// lastOf returns the time of the last record in question.
func lastOf(o *suggest.Options, logs []*sourceLog) (last time.Time) {
	for _, log := range logs {
		_, _ = log.each(records.Visit{Record: func(rec *records.Record) error { // what goes wrong is told when the log is read again
			if t, ok := o.LastOf(rec); ok && t.After(last) {
				last = t
			}
			return nil
		}})
	}
	return last
}

func (s *suggester) print(cmd *cobra.Command, report *suggest.Report, n records.Counts, logs []*sourceLog) (int, error) {
	cmd.PrintErrln(readText(n, report))
	var err error
	if s.format == "json" {
		err = printIndented(cmd.OutOrStdout(), report)
	} else if report, err = printable(report); err == nil {
		err = report.Text(cmd.OutOrStdout())
	}
	if err != nil {
		return exitUsage, err
	}
	lost := lostLogs(cmd, logs)
	switch {
	case report.Read.Observed == 0:
		return exitUnknown, s.nothing(report)
	case lost != nil:
		return exitUnknown, lost
	}
	return 0, nil
}

// nothing says why no record counts.
func (s *suggester) nothing(report *suggest.Report) error {
	others := report.OtherSites
	switch {
	case report.Read.Earlier > 0:
		return fmt.Errorf("no record of a call that would have been refused is in question: %d are before --since", report.Read.Earlier)
	case report.Read.Records == 0 && len(others) > 0:
		text := fmt.Sprintf("the logs have no record of %q, but of other sites", s.host)
		if hint := typo.Hint(s.host, others...); hint != "" {
			return errors.New(escapedText(text + ": " + hint))
		}
		const most = 5
		if len(others) > most {
			others = append(slices.Clone(others[:most]), "…")
		}
		return errors.New(escapedText(text + ": " + strings.Join(others, ", ")))
	}
	return errors.New("the logs have no record of a call that would have been refused: is the site in observe mode, and does the log have level INFO?")
}

// readText says what was read.
func readText(n records.Counts, report *suggest.Report) string {
	return linesRead(n, fmt.Sprintf("records: %d; of observe mode, and in question: %d", n.Records, report.Read.Observed),
		readCount{"of calls that were refused, which count for nothing", report.Read.Refused},
		readCount{"before --since", report.Read.Earlier},
		readCount{"without a time that can be read", report.Read.NoTime})
}
