package audit

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/policy"
)

// maxListed is how many endpoints the text lists one by one; more are folded.
const maxListed = 20

// Text writes the report for a terminal. all writes each route, else each namespace.
func (r *Report) Text(p terminal.Palette, all bool) string {
	t := &text{Report: r, palette: p, all: all}
	t.head()
	t.routes()
	t.writes()
	t.holes()
	t.plugins()
	t.proposal()
	t.failed(r.Failed, r.Undecided)
	return t.String()
}

// text is a report that is being written.
type text struct {
	strings.Builder
	*Report
	palette terminal.Palette
	all     bool
}

func (t *text) line(format string, args ...any) { t.WriteString(fmt.Sprintf(format, args...) + "\n") }

func (t *text) title(format string, args ...any) {
	t.line("\n%s", t.palette.Strong(fmt.Sprintf(format, args...)))
}

// table writes rows in columns.
func (t *text) table(rows [][]string) {
	w := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, "  "+strings.Join(row, "\t")) // to a Builder
	}
	_ = w.Flush()
}

func (t *text) head() {
	name := cmp.Or(t.Site, "the site")
	switch {
	case !t.Gateway && !t.Configured:
		t.line("%s, no configuration given: as if no gateway were there. What stands in front of the address is not known.", t.palette.Strong(name))
	case !t.Gateway:
		t.line("%s: the configuration has no directive restwarden, the platform alone decides about every call.", t.palette.Strong(name))
	case t.NotEnforced != "":
		t.line("%s behind the gateway, %s: nothing is refused.", t.palette.Strong(name), t.palette.Bad(t.NotEnforced))
	case t.LoginOnly:
		t.line("%s behind the gateway, with login_only.", t.palette.Strong(name))
	default:
		t.line("%s behind the gateway, without login_only.", t.palette.Strong(name))
	}
	t.line("%d routes, %d endpoints (a route with one of its methods). A call that passes reaches WordPress itself, which then decides.", t.Totals.Routes, t.Totals.Endpoints)
	if !t.Certain {
		t.line("%s Calls may pass the rules: what the report counts is the least that gets through, and nothing is closed for certain.", t.palette.Bad("not certain"))
	}
	for _, limit := range t.Limits {
		t.line("%s %s", t.palette.Odd("note"), limit)
	}
}

// least is put before the numbers of what is reached, byRules behind those of what is not.
func (t *text) least() string {
	if t.Certain {
		return ""
	}
	return "at least "
}

func (t *text) byRules() string {
	if t.Certain {
		return ""
	}
	return " by the rules, which is not certain"
}

// columns are the callers of the table.
var columns = []struct {
	name  string
	count func(*Totals) *Count
}{
	{"anonymous", func(t *Totals) *Count { return &t.Anonymous }},
	{"subscriber", func(t *Totals) *Count { return &t.Subscriber }},
	{"editor", func(t *Totals) *Count { return &t.Editor }},
	{"administrator", func(t *Totals) *Count { return &t.Administrator }},
}

// routes writes who reaches what.
func (t *text) routes() {
	t.title("What reaches the platform")
	rows := [][]string{{"", "endpoints"}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.name)
	}
	for _, name := range t.ScopeNames() {
		rows[0] = append(rows[0], "scope "+name)
	}
	rows[0] = append(rows[0], "anonymous, as proposed below")
	for _, ns := range t.Namespaces() {
		rows = append(rows, t.folded(cmp.Or(ns.Name, "/"), &ns.Totals, &ns.Proposed))
		if t.all {
			rows = append(rows, t.endpointRows(ns.Routes)...)
		}
	}
	t.table(append(rows, t.folded("together", &t.Totals, &t.Proposed.Anonymous)))
	t.line("  12/30: so many of the endpoints. ~: more of them in part, or it cannot be known.")
	if !t.all {
		t.line("  --all prints each route.")
	}
}

func (t *text) folded(name string, totals *Totals, proposed *Count) []string {
	row := []string{name, fmt.Sprint(totals.Endpoints)}
	for _, c := range columns {
		row = append(row, c.count(totals).String())
	}
	for _, name := range t.ScopeNames() {
		count := totals.Scopes[name]
		row = append(row, count.String())
	}
	return append(row, proposed.String())
}

func (t *text) endpointRows(routes []Route) (rows [][]string) {
	for i := range routes {
		for _, m := range routes[i].Methods {
			row := []string{
				"  " + m.Method + " " + routes[i].Name, "", string(m.Anonymous), string(m.Subscriber), string(m.Editor), string(m.Administrator),
			}
			for _, name := range t.ScopeNames() {
				row = append(row, string(m.Scopes[name]))
			}
			row = append(row, string(m.Proposed))
			if m.Rule != "" {
				row = append(row, by(m.Rule, m.At))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// by names a rule with its place.
func by(rule, at string) string { return rule + policy.Prefixed(" at ", at) }

// writes lists what callers without a login may write to.
func (t *text) writes() {
	t.title("Endpoints for writing that let callers without a login through: %d", len(t.Writes))
	if len(t.Writes) == 0 {
		return
	}
	more := ""
	if n := t.WritesShut(); n > 0 {
		more = fmt.Sprintf("; with what is proposed below, calls to %d of these do not get that far", n)
	}
	t.line("  Their calls reach WordPress itself, which then decides%s.", more)
	if t.all || len(t.Writes) <= maxListed {
		for _, e := range t.Writes {
			t.line("  %s%s", e, partly(e.Anonymous))
		}
		return
	}
	var names []string
	for _, ns := range t.Namespaces() {
		if n := ns.Writes(); n > 0 {
			names = append(names, fmt.Sprintf("%s %d", cmp.Or(ns.Name, "/"), n))
		}
	}
	t.list(names)
}

// list writes words in lines.
func (t *text) list(words []string) {
	line := " "
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if len(line)+len(word) > 100 {
			t.line("%s", line)
			line = " "
		}
		line += " " + word
	}
	t.line("%s", line)
}

func partly(r Reach) string { return map[Reach]string{Some: " (in part)", Unknown: " (unknown)"}[r] }

func (t *text) holes() {
	open := t.OpenHoles()
	t.title("Published holes of routes that the site has: %s%d open, %d closed%s", t.least(), len(open), len(t.Holes)-len(open), t.byRules())
	for _, h := range open {
		t.line("  %s %s %s of %s, versions %s%s", t.palette.Bad(h.CVE), strings.Join(h.Methods, ","), h.Route, h.Plugin, h.Versions, partly(h.Now))
	}
	if len(open) > 0 {
		t.line("  The REST root does not tell versions: look yours up.")
	}
}

func (t *text) plugin(p *Plugin) {
	needed, open := p.Opened()
	risky, reached := p.Exposed()
	t.line("  %s: %d of %d needed routes open, %d of %d risky ones open", t.palette.Strong(p.Slug), open, needed, reached, risky)
	var rows []string
	for i := range p.Needed {
		switch n := &p.Needed[i]; {
		case n.Signed:
			rows = append(rows, fmt.Sprintf("open for signed calls by %s: %s %s, for the %s", by(n.Rule, n.At), strings.Join(n.Methods, ","), n.Route, n.Caller))
		case n.Now != All && (t.all || p.lacks(n)):
			rows = append(rows, fmt.Sprintf("%s by %s: %s %s, for the %s", t.palette.Odd(n.Now.closed()), by(n.Rule, n.At), strings.Join(n.Methods, ","), n.Route, n.Caller))
		}
	}
	for i := range p.Risky {
		if r := &p.Risky[i]; r.Now != None && (t.all || t.Gateway || !r.Listed) {
			rows = append(rows, t.palette.Odd(r.Now.opened())+", "+r.words())
		}
	}
	for i, row := range rows {
		if more := len(rows) - i; !t.all && i == maxRows && more > 1 {
			t.line("    and %d more", more)
			break
		}
		t.line("    %s", row)
	}
	for _, line := range p.Lines {
		t.line("    %s", t.palette.Good(line))
	}
	if len(p.Keyed) > 0 {
		t.line("    or, so that only calls that the provider has signed pass:")
		for _, line := range p.Keyed {
			t.line("      %s", t.palette.Good(line))
		}
	}
	if p.Optional {
		t.line("    optional, few sites use what it needs; not proposed: allow plugin %s", p.Slug)
	}
}

func (t *text) failed(all, undecided []Failure) {
	for _, f := range undecided {
		t.line("\n%s", t.palette.Odd(f.String()))
	}
	for _, f := range all {
		t.line("\n%s %s: %d", t.palette.Bad("fails"), f.Kind, len(f.Has))
		for _, has := range f.Has {
			t.line("  %s", has)
		}
	}
}

// Text writes what has changed for a terminal.
func (d *Diff) Text(p terminal.Palette) string {
	t := &text{palette: p}
	for _, e := range d.Added {
		t.line("%s %s  %s", p.Odd("+"), e, e.Anonymous)
	}
	for _, e := range d.Removed {
		t.line("%s %s", p.Odd("-"), e)
	}
	for _, c := range d.Changed {
		was := "was " + string(c.Before)
		switch {
		case c.Before != Some || c.Anonymous != Some:
		case len(d.Limits) > 0:
			was = "perhaps otherwise than before"
		default:
			was = "otherwise than before"
		}
		t.line("%s %s  %s, %s", p.Odd("~"), c.Endpoint, c.Anonymous, was)
	}
	for _, limit := range d.Limits {
		t.line("%s %s", p.Odd("note"), limit)
	}
	if len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Limits) == 0 {
		t.line("nothing has changed")
	}
	t.failed(d.Failed, d.Undecided)
	return t.String()
}
