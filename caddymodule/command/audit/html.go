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

// reached counts the endpoints that are not certainly closed.
func (c *Count) reached() int { return c.All + c.Some + c.Unknown }

// Open counts the endpoints that callers without a login reach, if only in part, or as far
// as is known; OpenThen counts them with the proposal.
func (r *Report) Open() int { return r.Totals.Anonymous.reached() }

// OpenThen is Open with the proposal.
func (r *Report) OpenThen() int { return r.Proposed.Anonymous.reached() }

// Open counts the endpoints of the namespace that callers without a login reach.
func (n *Namespace) Open() int { return n.Totals.Anonymous.reached() }

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
	var parts []string
	if needed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d that it needs are open", open, needed))
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
