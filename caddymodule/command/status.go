package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/typo"
)

// nameOf is the site, with its addresses where another line has the same site on others.
func nameOf(s *adminapi.Site) string {
	if len(s.Listen) == 0 {
		return s.Site
	}
	return s.Site + " on " + strings.Join(s.Listen, ", ")
}

// statusFlags say what "caddy restwarden status" shows, and how.
type statusFlags struct {
	admin              adminFlags
	format             string
	choice             sitename.Choice
	web                bool
	listen, secretFile string
}

func statusCommand() *cobra.Command {
	var flags statusFlags
	cmd := &cobra.Command{
		Use:   "status [--site SITE | --tag TAG]... [--format text|json] [--web [--listen ADDRESS] [--secret-file FILE]] [--address ADDRESS]",
		Short: "Shows the sites that a running Caddy guards",
		Long: `Shows each site that a running Caddy guards: its mode, whether a lockdown is in
force, the release of the shop, how many questions were asked, how many refusals
are kept, what does not fit the site, the last change of its REST routes, and
whether Redis is lost. With --site or --tag, those sites; of a single one its last
refusals follow.

With --web, prints the address of a page that shows the same, with refusals as they
happen and buttons for the switches, and serves it until interrupted. With --site as
well, the page shows that site alone and switches nothing.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
	}
	flags.admin.add(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.format, "format", "text", "text or json")
	addChoice(cmd, &flags.choice, " (default all)")
	f.BoolVar(&flags.web, "web", false, "serve a page for a browser until interrupted")
	f.StringVar(&flags.listen, "listen", "127.0.0.1:0", "with --web: address of the page; with port 0 a free one")
	f.StringVar(&flags.secretFile, "secret-file", "", "with --web: file with the secret that makes the page's address, made if missing (default: another address each time)")
	withStatus(cmd, func(cmd *cobra.Command, _ []string) error {
		if err := typo.Check(flags.format, "text", "json"); err != nil {
			return usage(fmt.Errorf("--format: %w", err))
		}
		c, err := flags.admin.client()
		if err != nil {
			return err
		}
		if flags.web {
			return flags.serve(cmd, c)
		}
		for _, name := range []string{"listen", "secret-file"} {
			if cmd.Flags().Changed(name) {
				return usage(fmt.Errorf("--%s: only with --web", name))
			}
		}
		return flags.print(cmd, c)
	})
	return cmd
}

// print prints the sites that are meant, and of a single one its last refusals.
func (f *statusFlags) print(cmd *cobra.Command, c *adminapi.Client) error {
	var list adminapi.Sites[json.RawMessage, json.RawMessage]
	if err := asked(c.Ask(cmd.Context(), "GET", adminapi.SitesPath, nil, &list)); err != nil {
		return err
	}
	all := make([]adminapi.Site, len(list.Sites))
	for i, text := range list.Sites {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return err
		}
	}
	names, err := among(&f.choice, all)
	if err != nil {
		return err
	}
	if len(names) == 1 && !f.choice.All() {
		var last adminapi.Refusals[json.RawMessage]
		if err := asked(c.Ask(cmd.Context(), "GET", adminapi.Named(adminapi.RefusalsPath, names[0]), nil, &last)); err != nil {
			return err
		}
		list.Refusals = last.Refusals
	}
	var sites []adminapi.Site
	kept := list.Sites[:0]
	for i, text := range list.Sites {
		if slices.Contains(names, all[i].Site) {
			kept, sites = append(kept, text), append(sites, all[i])
		}
	}
	if list.Sites = kept; f.format == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
	}
	if err := table(cmd.OutOrStdout(), sites); err != nil {
		return err
	}
	if err := scopeTable(cmd.OutOrStdout(), sites); err != nil {
		return err
	}
	if err := switchedTable(cmd.OutOrStdout(), sites); err != nil {
		return err
	}
	if err := storeLine(cmd.OutOrStdout(), list.Store); err != nil {
		return err
	}
	return refusalTable(cmd.OutOrStdout(), list.Refusals)
}

// switchedTable prints the lines of the sites that are switched on.
func switchedTable(out io.Writer, sites []adminapi.Site) error {
	if !slices.ContainsFunc(sites, func(s adminapi.Site) bool { return len(s.Opens)+len(s.Closes) > 0 }) {
		return nil
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	w := newLineTable(out)
	told := map[string]bool{} // a site stands in the list once for each mode
	for i := range sites {
		if s := &sites[i]; !told[s.Site] {
			told[s.Site] = true
			w.add(s.Site, switches.KindOpen, s.Opens)
			w.add(s.Site, switches.KindClose, s.Closes)
		}
	}
	return w.Flush()
}

// storeLine prints since when the Redis of the gateways is lost, if it is.
func storeLine(out io.Writer, text *json.RawMessage) error {
	if text == nil {
		return nil
	}
	var s adminapi.Store
	if err := json.Unmarshal(*text, &s); err != nil || s.Reachable || s.Since == nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Redis cannot be reached since %s: %s\n", moment(*s.Since), escapedText(s.Error))
	return err
}

// refusalTable prints a line for each record, the newest first.
func refusalTable(out io.Writer, records []json.RawMessage) error {
	if len(records) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nTIME\tOUTCOME\tCODE\tCALL\tRULE\tCLIENT\tREQUEST ID") // Flush returns the error
	for _, text := range records {
		var r adminapi.Refusal
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		rule := cmp.Or(r.Rule, r.Policy)
		if r.At != "" {
			rule += " (" + r.At + ")"
		}
		writeCells(w, moment(r.Time), r.Outcome, r.Code, r.Method+" "+r.Route, rule, r.ClientIP, r.RequestID)
	}
	return w.Flush()
}

// writeCells writes a line of a table. Routes, releases and problems hold words of the site,
// which must not move the terminal's cursor.
func writeCells(w *tabwriter.Writer, cells ...string) {
	for i, cell := range cells {
		cells[i] = escapedText(cell)
	}
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // Flush returns the error
}

// table prints a line for each site, then what does not fit it.
func table(out io.Writer, sites []adminapi.Site) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	heads := []string{"SITE", "MODE", "LOCKDOWN", "RELEASE", "QUESTIONS", "REFUSALS", "SPOOL", "PROBLEMS"}
	tagged := slices.ContainsFunc(sites, func(s adminapi.Site) bool { return len(s.Tags) > 0 })
	if tagged {
		heads = append(heads, "TAGS")
	}
	writeCells(w, heads...)
	for i := range sites {
		s := &sites[i]
		mode, lockdown := s.Mode, "no"
		if s.ModeUntil != nil {
			mode += " until " + moment(*s.ModeUntil)
		}
		if s.Lockdown != nil {
			lockdown = "until " + moment(s.Lockdown.Until)
			if s.Lockdown.Hard {
				lockdown = "hard, " + lockdown
			}
		}
		cells := []string{nameOf(s), mode, lockdown, s.Release, questions(s), fmt.Sprint(s.Refusals), fmt.Sprintf("%d B", s.Spool.Bytes), fmt.Sprint(len(s.Problems))}
		if tagged {
			cells = append(cells, strings.Join(s.Tags, ", "))
		}
		writeCells(w, cells...)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range sites {
		for _, remark := range remarks(&sites[i]) {
			if _, err := fmt.Fprintf(out, "%s: %s\n", escapedText(nameOf(&sites[i])), escapedText(remark)); err != nil {
				return err
			}
		}
	}
	return nil
}

// remarks are the last questions without a usable answer, the problems, the pages that were
// misread, and the last change of the routes.
func remarks(s *adminapi.Site) (all []string) {
	for _, kind := range slices.Sorted(maps.Keys(s.Questions)) {
		if why := s.Questions[kind].Error; why != "" {
			all = append(all, fmt.Sprintf("the last %s question: %s", kind, why))
		}
	}
	for _, p := range s.Problems {
		all = append(all, p.Code+": "+p.Problem)
	}
	if m := &s.Misread; m.Count > 0 {
		all = append(all, fmt.Sprintf("misread: the REST interface answered %d pages, the last at %s; the log names the requests", m.Count, moment(*cmp.Or(m.Last, new(time.Time)))))
	}
	if headers := s.Misread.Unguarded; len(headers) > 0 {
		all = append(all, "misread: pages of the site have "+strings.Join(headers, " and ")+", which then does not tell when a page is misread")
	}
	if r := s.Routes; r != nil && r.Changed != nil {
		all = append(all, fmt.Sprintf("routes changed at %s: %d came, %d went", moment(*r.Changed), r.Added, r.Removed))
	}
	return all
}

// questions is "caller 3, index 1 (1 failed)".
func questions(s *adminapi.Site) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Questions)) {
		q := s.Questions[kind]
		if q.Asked == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d", kind, q.Asked)
		if q.Failed > 0 {
			text += fmt.Sprintf(" (%d failed)", q.Failed)
		}
		kinds = append(kinds, text)
	}
	if kinds == nil {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

func moment(t time.Time) string { return t.Local().Format(time.DateTime) }
