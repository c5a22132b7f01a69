package audit

import (
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	_ "embed"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// Overview is what audits of several sites have found, in a line each.
type Overview struct {
	Rows []Row
}

// Row is a site of an Overview.
type Row struct {
	Site, Address string
	Page          string // the file of its page; "" for none
	Error         string // why there is no report; all that follows is then empty
	Rules         string // "login_only", "open" without it, or "not enforced"
	Endpoints     int
	Open          string // how many of them callers without a login reach, with "~" where it is more, or not known
	Writes        int    // of those
	Holes         int    // published ones in reach
	Lacking       int    // rows that plugins need and that are closed
	Lines         int    // to add
	Failed        []Failure
	Undecided     []Failure
}

// Row returns what an Overview has of the report. The site is called at an address.
func (r *Report) Row(address string) Row {
	row := Row{Site: r.Name(), Address: address, Error: r.Error, Failed: r.Failed, Undecided: r.Undecided}
	if r.Error != "" {
		return row
	}
	row.Rules = "open"
	switch {
	case r.NotEnforced != "":
		row.Rules = "not enforced"
	case r.LoginOnly:
		row.Rules = "login_only"
	}
	now := r.Now()
	row.Open = fmt.Sprint(now.All)
	if !r.Certain || now.Some+now.Unknown > 0 {
		row.Open += "~"
	}
	row.Endpoints, row.Writes, row.Holes, row.Lacking, row.Lines = r.Totals.Endpoints, len(r.Writes), len(r.OpenHoles()), r.Lacking(), len(r.Propose)
	if !r.LoginOnly {
		row.Lines++
	}
	return row
}

// Text writes the overview for a terminal, a line for each site.
func (o *Overview) Text(p terminal.Palette) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SITE\tRULES\tENDPOINTS\tOPEN\tFOR WRITING\tHOLES\tNEEDED, CLOSED\tLINES TO ADD") // to a Builder
	for i := range o.Rows {
		r := &o.Rows[i]
		if r.Error != "" {
			_, _ = fmt.Fprintf(w, "%s\tcannot be known, see below\n", r.Site)
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\n", r.Site, r.Rules, r.Endpoints, r.Open, r.Writes, r.Holes, r.Lacking, r.Lines)
	}
	_ = w.Flush()
	for i := range o.Rows {
		if r := &o.Rows[i]; r.Error != "" {
			fmt.Fprintf(&b, "%s: %s\n", r.Site, p.Bad(r.Error))
		}
	}
	return b.String()
}

//go:embed overview.html
var overviewText string

var overviewPage = template.Must(template.Must(page.Clone()).New("overview").Parse(overviewText))

// HTML writes the overview as a page that loads nothing, with links to the pages of the sites beside it.
func (o *Overview) HTML(w io.Writer) error { return overviewPage.Execute(w, o) }

// Unread counts the sites without a report.
func (o *Overview) Unread() (count int) {
	for i := range o.Rows {
		if o.Rows[i].Error != "" {
			count++
		}
	}
	return count
}
