package audit

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// Overview is what audits of several sites have found, in a line each.
type Overview struct {
	Made time.Time
	Rows []Row
}

// Row is a site of an Overview.
type Row struct {
	Site, Address string
	Page          string // the file of its page; "" for none
	Error         string // why there is no report; all that follows is then empty
	Rules         string // "login_only", "open" without it, or "not enforced"
	Endpoints     int
	Open          string // how many of them callers without a login reach: "12~" and more in part, "12+" where calls may pass the rules
	Writes        string // of those
	Holes         string // published ones in reach
	Lacking       int    // rows that plugins need and that are closed
	Lines         int    // to add
	Notes         []string
	Failed        []Failure
	Undecided     []Failure
}

// Row returns what an Overview has of the report of a site, by a name and at an address.
func (r *Report) Row(name, address string) Row {
	row := Row{
		Site: name, Address: address, Rules: "open", Endpoints: r.Totals.Endpoints, Lacking: r.Lacking(), Lines: len(r.Propose),
		Notes: r.past, Failed: r.Failed, Undecided: r.Undecided,
	}
	switch {
	case r.NotEnforced != "":
		row.Rules, row.Notes = "not enforced", append([]string{"Nothing is refused: " + r.NotEnforced + "."}, r.past...)
	case r.LoginOnly:
		row.Rules = "login_only"
	}
	if !r.LoginOnly {
		row.Lines++
	}
	part, least := "", ""
	if r.Now().Some+r.Now().Unknown > 0 {
		part = "~"
	}
	if !r.Certain {
		part, least = "+", "+"
	}
	row.Open, row.Writes, row.Holes = fmt.Sprint(r.Now().All)+part, fmt.Sprint(len(r.Writes))+least, fmt.Sprint(len(r.OpenHoles()))+least
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
			_, _ = fmt.Fprintf(w, "%s\tunknown\t-\t-\t-\t-\t-\t-\n", r.Site)
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\n", r.Site, r.Rules, r.Endpoints, r.Open, r.Writes, r.Holes, r.Lacking, r.Lines)
	}
	_ = w.Flush()
	for i := range o.Rows {
		r := &o.Rows[i]
		if r.Error != "" {
			fmt.Fprintf(&b, "%s: %s\n", r.Site, p.Bad(r.Error))
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "%s: %s\n", r.Site, p.Odd(note))
		}
	}
	return b.String()
}

//go:embed overview.html
var overviewText string

var overviewPage = template.Must(template.Must(page.Clone()).New("overview").Parse(overviewText))

// HTML writes the page of a site without a report, so that no older one stays in its place.
func (r *Row) HTML(w io.Writer) error { return overviewPage.ExecuteTemplate(w, "unread", r) }

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
