package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// listedLines is a site in a list.
type listedLines struct {
	Site  string          `json:"site"`
	Lines []adminapi.Line `json:"lines"`
}

// show prints the lines that are switched on.
func (s *lineSwitcher) show(cmd *cobra.Command, c *adminapi.Client) error {
	var list adminapi.Sites[adminapi.Site, json.RawMessage]
	if err := asked(c.Ask(cmd.Context(), "GET", adminapi.SitesPath, nil, &list)); err != nil {
		return err
	}
	names, err := among(&s.choice.Choice, list.Sites)
	if err != nil {
		return err
	}
	found, seen := []listedLines{}, map[string]bool{}
	for i := range list.Sites {
		site := &list.Sites[i]
		lines := site.Opens
		if s.word == switches.KindClose {
			lines = site.Closes
		}
		if slices.Contains(names, site.Site) && len(lines) > 0 && !seen[site.Site] {
			seen[site.Site] = true
			found = append(found, listedLines{site.Site, lines})
		}
	}
	switch s.format {
	case "json":
		return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
	case "caddyfile":
		return lasting(cmd.OutOrStdout(), found)
	}
	w := newLineTable(cmd.OutOrStdout())
	for _, site := range found {
		w.add(site.Site, s.word, site.Lines)
	}
	return w.Flush()
}

// lineTable has a line for each line that is switched on.
type lineTable struct{ *tabwriter.Writer }

func newLineTable(out io.Writer) lineTable {
	w := lineTable{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	writeCells(w.Writer, "SITE", "LINE", "SINCE", "UNTIL", "BY")
	return w
}

func (w lineTable) add(site, word string, lines []adminapi.Line) {
	for i := range lines {
		l := &lines[i]
		writeCells(w.Writer, site, word+" "+l.Line, moment(l.Since), untilOf(l), l.Who())
	}
}

func untilOf(l *adminapi.Line) string {
	if l.Until == nil {
		return "no end"
	}
	return moment(*l.Until)
}

// lasting prints the lines of a Caddyfile that open the same calls for good.
func lasting(out io.Writer, found []listedLines) error {
	for _, site := range found {
		if _, err := fmt.Fprintf(out, "# %s\n", escapedText(site.Site)); err != nil {
			return err
		}
		for _, l := range site.Lines {
			if _, err := fmt.Fprintf(out, "# switched on until %s; this line has no end\n", untilOf(&l)); err != nil {
				return err
			}
			on := l.Switch()
			line := (&policy.Rule{Allow: "anyone", Methods: on.Methods, Routes: []string{on.Route}}).Line()
			if on.Plugin != "" {
				line = plugins.AllowText(on.Plugin)
			}
			if _, err := fmt.Fprintf(out, "%s\n", escapedText(line)); err != nil {
				return err
			}
		}
	}
	return nil
}
