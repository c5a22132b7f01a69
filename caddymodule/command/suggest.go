package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/nearest"
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
when; then what is left out, and why. docs/suggest.md says how it decides.

Nothing is applied. The same logs give the same text, in whatever order.

Exit status: 0 fine, 2 usage, or a log cannot be read, 3 the logs have no record of
observe mode, or too many different calls.`,
		Example: `  caddy restwarden suggest /var/log/caddy/restwarden*.log*
  caddy restwarden suggest --host shop.example.com --since 7d /var/log/caddy/restwarden.log
  zcat old.log.gz | caddy restwarden suggest --min-clients 10 -`,
		SilenceUsage: true,
	}
	f := cmd.Flags()
	f.StringVar(&s.host, "host", "", "only this site or host (default all)")
	f.StringVar(&s.since, "since", "", "only records since a time (2026-01-31, or as RFC 3339 has it), or since a while before the last record (7d)")
	f.IntVar(&s.minClients, "min-clients", suggest.DefaultMinClients, "how many clients must have called a route")
	f.StringVar(&s.platform, "platform", "wordpress", "names: "+call.ListPlatforms("or"))
	f.StringVar(&s.format, "format", "text", strings.Join(textOrJSON, " or ")+": how to print")
	complete(cmd, "platform", call.PlatformNames()...)
	complete(cmd, "format", textOrJSON...)
	withAnswer(cmd, s.run)
	return cmd
}

// run returns the exit status.
func (s *suggester) run(cmd *cobra.Command, logs []string) (int, error) {
	collector, logs, err := s.collector(logs)
	if err != nil {
		return exitUsage, err
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	var n records.Counts
	for _, log := range logs {
		progress.Step("reading %s", escapedText(log))
		counts, err := eachOf(cmd, log, collector.Scan)
		n = n.Plus(counts)
		switch {
		case errors.Is(err, suggest.ErrTooMany):
			return exitUnknown, err
		case err != nil:
			return exitUsage, err
		}
	}
	progress.End()
	return s.print(cmd, collector.Report(), n)
}

// collector reads the flags. It also returns the logs, each once.
func (s *suggester) collector(logs []string) (*suggest.Collector, []string, error) {
	if err := nearest.Check(s.format, textOrJSON...); err != nil {
		return nil, nil, fmt.Errorf("--format: %w", err)
	}
	platform, known := call.PlatformByName(s.platform)
	if !known {
		return nil, nil, fmt.Errorf("--platform %q is not %s", s.platform, call.ListPlatforms("or"))
	}
	if len(logs) == 0 {
		return nil, nil, errors.New("suggest needs a log, or - for standard input")
	}
	if s.minClients < 1 {
		return nil, nil, errors.New("--min-clients is at least 1")
	}
	logs, err := distinct(logs)
	if err != nil {
		return nil, nil, err
	}
	o := suggest.Options{Platform: platform, Host: s.host, MinClients: s.minClients}
	if o.Since, err = s.sinceTime(logs); err != nil {
		return nil, nil, fmt.Errorf("--since: %w", err)
	}
	collector, err := suggest.New(o)
	if err != nil {
		return nil, nil, fmt.Errorf("--min-clients: %w", err)
	}
	return collector, logs, nil
}

// distinct returns each file once, though it may have several names.
func distinct(logs []string) (list []string, err error) {
	var files []os.FileInfo
	for _, log := range logs {
		if log == "-" {
			if !slices.Contains(list, log) {
				list = append(list, log)
			}
			continue
		}
		info, err := os.Stat(log)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
			files, list = append(files, info), append(list, log)
		}
	}
	return list, nil
}

var errStdinTwice = errors.New("a duration counts from the last record, so that the logs are read twice: name files, or write a time")

// sinceTime reads --since. A duration counts back from the last record of the logs, not from now:
// the same logs give the same answer.
func (s *suggester) sinceTime(logs []string) (at time.Time, err error) {
	if s.since == "" {
		return at, nil
	}
	if at, ok := suggest.ParseTime(s.since); ok {
		return at, nil
	}
	d, err := caddy.ParseDuration(s.since)
	switch {
	case err != nil || d <= 0:
		return at, fmt.Errorf("%q is neither a time (2026-01-31) nor a duration (7d)", s.since)
	case slices.Contains(logs, "-"):
		return at, errStdinTwice
	}
	for _, log := range logs {
		_, err := eachOf(nil, log, func(in io.Reader) (records.Counts, error) {
			return records.Each(in, func(rec *records.Record) {
				if t, ok := suggest.TimeOf(rec.Time); ok && t.After(at) {
					at = t
				}
			})
		})
		if err != nil {
			return at, err
		}
	}
	return at.Add(-d), nil
}

// eachOf opens a log and hands it to read. cmd has the standard input.
func eachOf(cmd *cobra.Command, log string, read func(io.Reader) (records.Counts, error)) (n records.Counts, err error) {
	var in io.ReadCloser
	if log == "-" {
		in, err = records.Plain(cmd.InOrStdin())
	} else {
		in, err = records.Open(log)
	}
	if err == nil {
		n, err = read(in)
		err = errors.Join(err, in.Close())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", log, err)
	}
	return n, err
}

func (s *suggester) print(cmd *cobra.Command, report *suggest.Report, n records.Counts) (int, error) {
	cmd.PrintErrln(readText(n, report))
	var err error
	if s.format == "json" {
		err = printIndented(cmd.OutOrStdout(), report)
	} else if report, err = printable(report); err == nil {
		err = report.Text(cmd.OutOrStdout())
	}
	switch {
	case err != nil:
		return exitUsage, err
	case report.Read.Observed == 0:
		return exitUnknown, errors.New("the logs have no record of a call that would have been refused: is the site in observe mode, and does the log have level INFO?")
	}
	return 0, nil
}

// readText says what was read.
func readText(n records.Counts, report *suggest.Report) string {
	text := fmt.Sprintf("lines read: %d; records: %d; of observe mode, and in question: %d", n.Lines, n.Records, report.Read.Observed)
	for _, more := range []struct {
		what string
		n    int64
	}{
		{"of calls that were refused, which count for nothing", report.Read.Refused},
		{"without a time that can be read", report.Read.NoTime},
		{"no JSON, skipped", int64(n.NoJSON)},
		{"of another version, skipped", int64(n.Newer)},
		{"longer than any record, skipped", int64(n.TooLong)},
	} {
		if more.n > 0 {
			text += fmt.Sprintf("; %s: %d", more.what, more.n)
		}
	}
	return text
}
