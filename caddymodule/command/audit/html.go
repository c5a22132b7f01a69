package audit

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"by": by, "closed": Reach.closed, "opened": Reach.opened, "percent": percent,
	"join": func(methods []string) string { return strings.Join(methods, ", ") },
	"word": func(r Reach) string { return map[Reach]string{All: "yes", Some: "part", None: "no", Unknown: "?"}[r] },
}).Parse(pageText))

// HTML writes the report as a page for people who run no Caddy themselves. The page loads
// nothing.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }

// Name is the name of the site.
func (r *Report) Name() string { return cmp.Or(r.Site, "the site") }

// Reached counts the endpoints that are not certainly closed.
func (c *Count) Reached() int { return c.All + c.Some + c.Unknown }

// Now is what callers without a login reach; Then is that with the proposal.
func (r *Report) Now() *Count { return &r.Totals.Anonymous }

// Then is what callers without a login reach with the proposal.
func (r *Report) Then() *Count { return &r.Proposed.Anonymous }

// Now is what callers without a login reach of the namespace.
func (n *Namespace) Now() *Count { return &n.Totals.Anonymous }

// Lacking counts the rows that plugins need and that are closed.
func (r *Report) Lacking() (count int) {
	for i := range r.Plugins {
		needed, open := r.Plugins[i].Opened()
		count += needed - open
	}
	return count
}

// Summary says in a few words what is open of the plugin.
func (p *Plugin) Summary() string {
	needed, open := p.Opened()
	risky, reached := p.Exposed()
	if p.Absent {
		return "none of the addresses that it needs is listed"
	}
	var parts []string
	if needed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d that it needs are open", open, needed)+map[bool]string{true: " (optional)"}[p.Optional])
	}
	if risky > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d risky ones are open", reached, risky))
	}
	return strings.Join(parts, ", ")
}

func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}
