package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/policies/nearest"
)

// siteState is what "caddy restwarden status" shows of a site in a table.
type siteState struct {
	Site      string     `json:"site"`
	Mode      string     `json:"mode"`
	ModeUntil *time.Time `json:"mode_until"`
	Lockdown  *lockdown  `json:"lockdown"`
	Release   string     `json:"release"`
	Problems  []struct {
		Code    string `json:"code"`
		Problem string `json:"problem"`
	} `json:"problems"`
	Questions map[string]struct {
		Asked  uint64 `json:"asked"`
		Failed uint64 `json:"failed"`
		Error  string `json:"error"`
	} `json:"questions"`
	Spool struct {
		Bytes int64 `json:"bytes"`
	} `json:"spool"`
	Refusals int `json:"refusals"`
}

func statusCommand() *cobra.Command {
	var admin adminFlags
	var format string
	cmd := &cobra.Command{
		Use:   "status [--address ADDRESS] [--format text|json]",
		Short: "Shows the sites that a running Caddy guards",
		Long: `Shows each site that a running Caddy guards: its mode, whether a lockdown is in
force, the release of the shop, how many questions were asked, how many refusals
are kept, and what does not fit the site.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
	}
	admin.add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	withStatus(cmd, func(cmd *cobra.Command, _ []string) error {
		if err := nearest.Check(format, "text", "json"); err != nil {
			return usage(fmt.Errorf("--format: %w", err))
		}
		var answer json.RawMessage
		if err := admin.ask("GET", "sites", nil, &answer); err != nil {
			return err
		}
		if format == "json" {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), string(bytes.TrimSpace(answer)))
			return err
		}
		var list struct{ Sites []siteState }
		if err := json.Unmarshal(answer, &list); err != nil {
			return err
		}
		return table(cmd.OutOrStdout(), list.Sites)
	})
	return cmd
}

// table prints a line for each site, then what does not fit it.
func table(out io.Writer, sites []siteState) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // Flush returns the error
	line("SITE", "MODE", "LOCKDOWN", "RELEASE", "QUESTIONS", "REFUSALS", "SPOOL", "PROBLEMS")
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
		line(s.Site, mode, lockdown, s.Release, s.questions(), fmt.Sprint(s.Refusals), fmt.Sprintf("%d B", s.Spool.Bytes), fmt.Sprint(len(s.Problems)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range sites {
		for _, remark := range sites[i].remarks() {
			if _, err := fmt.Fprintf(out, "%s: %s\n", sites[i].Site, remark); err != nil {
				return err
			}
		}
	}
	return nil
}

// remarks are the last questions without a usable answer, then the problems.
func (s *siteState) remarks() (all []string) {
	for _, kind := range slices.Sorted(maps.Keys(s.Questions)) {
		if why := s.Questions[kind].Error; why != "" {
			all = append(all, fmt.Sprintf("the last %s question: %s", kind, why))
		}
	}
	for _, p := range s.Problems {
		all = append(all, p.Code+": "+p.Problem)
	}
	return all
}

// questions is "caller 3, index 1 (1 failed)".
func (s *siteState) questions() string {
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
