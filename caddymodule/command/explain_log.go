package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/explanation"
	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/replay"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
)

// runLog explains the record of a request.
func (e *explainer) runLog(cmd *cobra.Command, o dryrun.Options, args []string) (status int, err error) {
	if len(args) != 1 {
		return exitUsage, errors.New("--log needs one request id: X-Request-Id of the answer, request_id in the log")
	}
	log := cmd.InOrStdin()
	if e.log != "-" {
		f, err := os.Open(e.log)
		if err != nil {
			return exitUsage, fmt.Errorf("--log: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		log = f
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Step("reading the log")
	found, counts, err := records.Find(log, args[0])
	switch {
	case err != nil:
		return exitUsage, fmt.Errorf("--log: %w", err)
	case len(found) == 0:
		return exitUsage, fmt.Errorf("--log: %w", counts.NotFound(args[0]))
	}
	progress.Step("running the request through the configuration")
	l, err := replay.Record(cmd.Context(), o, found)
	progress.End()
	if err != nil {
		return exitUsage, err
	}
	if counts.NoJSON > 0 {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "lines of the log that are no JSON, skipped: %d\n", counts.NoJSON)
	}
	out := cmd.OutOrStdout()
	err = show(out, e.format, l, func(l *replay.Logged) string { return loggedText{l, terminal.PaletteOf(out), e.verbose}.text() })
	if err != nil {
		return exitUsage, err
	}
	return statusOf(l.Answer), nil
}

// loggedText writes what --log says for people.
type loggedText struct {
	*replay.Logged
	palette terminal.Palette
	verbose bool
}

func (l loggedText) text() string {
	var b strings.Builder
	rec := &l.Records[0]
	e := explanation.Explanation{Result: l.Result, Palette: l.palette, Verbose: l.verbose}
	if e.Result == nil {
		e.Result = &dryrun.Result{Answer: dryrun.Unknown}
	}
	b.WriteString(l.headline(e) + "\n")
	if why := cmp.Or(policy.WordFor(rec.Rule), rec.Why); why != "" {
		b.WriteString("Then: " + why + "\n")
	}
	if l.Missing != "" {
		b.WriteString("Now: what the record does not hold decides: " + l.Missing + ".\n")
	}
	for i := range l.Records {
		e.Section(&b, heading(i, len(l.Records)), recordRows(&l.Records[i], l.palette))
	}
	if rec.Remedy != "" && l.Result == nil {
		e.List(&b, "The line of the record that would have let it pass, before the rule", []string{rec.Remedy})
	}
	e.List(&b, "Taken from the record", l.Taken)
	if l.Result != nil {
		b.WriteString("\n" + l.palette.Strong("Run again, under the configuration as it is") + "\n" + e.Text())
	}
	return b.String()
}

func heading(i, n int) string {
	if n == 1 {
		return "The record"
	}
	return fmt.Sprintf("Record %d of %d", i+1, n)
}

// headline says what became of the request, and what would become of it now.
func (l loggedText) headline(e explanation.Explanation) string {
	rec := &l.Records[0]
	then := "refused"
	if rec.Outcome == string(dryrun.WouldRefuse) {
		then = "would have been refused"
	}
	then += " then: " + rec.Code
	switch {
	case l.Answer == dryrun.Unknown:
		return then + "; now: " + l.palette.Odd("it depends")
	case l.Same:
		return then + "; now: the same"
	case rec.Origin == policy.OriginSwitch:
		return then + ", by the line " + rec.Rule + ", which was switched on; now, without it: " + e.Headline()
	case rec.Policy == access.LockdownName:
		return then + ", by a lockdown; now, without one: " + e.Headline()
	}
	return then + "; now: " + e.Headline()
}

// recordRows are the fields of a record that help support staff.
func recordRows(rec *records.Record, p terminal.Palette) (rows [][]string) {
	add := func(name, text, more string) {
		if text != "" {
			rows = append(rows, []string{p.Faint(name), text, p.Faint(more)})
		}
	}
	add("policy", rec.Policy, rec.Code)
	add("rule", rec.Rule, routing.Place(rec.At, rec.Imported))
	add("error", rec.Error, "")
	add("site", rec.Site, "")
	add("host", rec.Host, "")
	add("call", strings.TrimSpace(rec.Method+" "+rec.Route), strings.TrimSpace(explanation.OnlyForm(rec.Form)+" "+rec.Scheme))
	add("caller", strings.TrimSpace(rec.Caller+" "+strings.Join(rec.Roles, ", ")), rec.ClientIP)
	add("credential", rec.Credential.String(), "")
	add("ids", strings.Trim(fmt.Sprint(rec.IDs), "[]"), "")
	add("sent by", map[string]string{
		"page": "a page of the site, as the browser says", "other": "something else than a page of the site, as the browser says",
	}[rec.From], "")
	return rows
}
