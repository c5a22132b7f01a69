package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/plugins"
)

func (l *lister) print(cmd *cobra.Command, result *pluginList) error {
	out := cmd.OutOrStdout()
	return show(out, l.format, result, func(shown *pluginList) string {
		t := pluginText{pluginList: shown, palette: terminal.PaletteOf(out)}
		if shown.Plugin != nil {
			t.entry(shown.Plugin)
		} else {
			t.table()
		}
		return t.String()
	})
}

// pluginText writes a list for people.
type pluginText struct {
	*pluginList
	strings.Builder
	palette terminal.Palette
}

func (t *pluginText) line(format string, args ...any) {
	_, _ = fmt.Fprintf(t, format+"\n", args...)
}

func (t *pluginText) table() {
	if t.Site != nil {
		t.line("%s lists %d routes. These plugins are there:", t.siteName(), t.Site.Routes)
	}
	rows := [][]string{{"PLUGIN", "NAME", "NEEDS OPEN", "RISKY", "RECOGNISED BY"}}
	for _, p := range t.Plugins {
		rows = append(rows, []string{p.Slug, p.Name, p.needs(), p.risks(), cmp.Or(strings.Join(p.By, ", "), "-")})
	}
	t.WriteString(terminal.Aligned("", rows))
	if t.Site == nil {
		return
	}
	if len(t.Unknown) > 0 {
		t.line("\nNamespaces that are of none of them:")
		for _, ns := range t.Unknown {
			t.line("  %s", ns)
		}
	}
	t.line("\nA plugin without a namespace or routes of its own is not recognised: that is %d of the catalogue's %d.", t.Unseen, len(plugins.All()))
	t.line("Nothing is opened because it is there: write allow plugin NAME for what your visitors need.")
}

func (t *pluginText) siteName() string {
	return cmp.Or(t.Site.Home, t.Site.Address, t.Site.Name, "The site")
}

func (p *pluginRow) needs() string {
	var groups []string
	for _, n := range p.Needs {
		groups = append(groups, fmt.Sprintf("%s %d", n.Group, n.Rows))
	}
	return cmp.Or(strings.Join(groups, ", "), "nothing")
}

func (p *pluginRow) risks() string {
	text := "-"
	if p.Risky > 0 {
		text = fmt.Sprint(p.Risky)
	}
	if p.CVEs > 0 {
		text += fmt.Sprintf(" (%d CVE)", p.CVEs)
	}
	return text
}

func (t *pluginText) heading(text string) { t.line("\n%s", t.palette.Strong(text)) }

// entry writes one plugin.
func (t *pluginText) entry(p *pluginEntry) {
	also := ""
	if len(p.Aliases) > 0 {
		also = ", also " + strings.Join(p.Aliases, ", ")
	}
	t.line("%s (%s%s)", t.palette.Strong(p.Name), p.Slug, also)
	measured := "not started"
	if p.Measured {
		measured = "also started and asked"
	}
	t.line("Read in %s; %s.", strings.Join(p.Versions, ", "), measured)
	if p.Notes != "" {
		t.line("%s", p.Notes)
	}
	t.recognised(p)
	t.heading("What it needs open to callers without a login")
	if len(p.Needed) == 0 {
		t.line("  nothing")
	}
	for i := range p.Needed {
		t.need(&p.Needed[i])
	}
	if len(p.Rewrites) > 0 {
		t.heading("Rewrite rules that a line of the plugin brings, as aliases")
	}
	for _, r := range p.Rewrites {
		t.line("  %s", call.Alias(r))
	}
	if len(p.Risky) > 0 {
		t.heading("What is risky")
	}
	for i := range p.Risky {
		t.risk(&p.Risky[i])
	}
	if len(p.Lines) > 0 {
		t.heading("Lines to write")
	}
	for _, l := range p.Lines {
		t.line("  %s", blockBreaks.Replace(l.Text))
		t.line("    %s", t.palette.Faint(l.Does))
	}
	t.heading("Sources")
	for _, s := range p.Sources {
		t.line("  %s %s at %s", s.Repo, s.Path, s.Commit)
	}
}

// blockBreaks undoes what printable does to a line with a block. The line is the program's own.
var blockBreaks = strings.NewReplacer(`\n`, "\n  ", `\t`, "\t")

func (t *pluginText) recognised(p *pluginEntry) {
	if len(p.By) == 0 {
		t.line("No REST root shows it: it has no namespace and no routes of its own.")
	} else {
		t.line("Recognised by %s.", strings.Join(p.By, ", "))
	}
	switch {
	case t.Site == nil:
	case p.Recognised:
		t.line("%s has it.", t.siteName())
	default:
		t.line("It is not recognised on %s, which does not say that it is not there.", t.siteName())
	}
}

func (t *pluginText) need(n *plugins.Need) {
	t.line("  %s: %s %s", n.Caller.Group(), strings.Join(n.Methods, ","), n.Route)
	t.line("    %s", n.Why)
	facts := []string{"caller: " + string(n.Caller), "known by: " + n.Auth}
	if n.Signature != nil {
		facts = append(facts, "a key checks the signature scheme "+n.Signature.Scheme)
	}
	if n.Limit != "" {
		facts = append(facts, "limited to "+n.Limit)
	}
	if n.Optional {
		facts = append(facts, "few sites use it")
	}
	t.facts(append(facts, evidence(n.Since, n.Seen, n.Anonymous)...))
}

func (t *pluginText) risk(r *plugins.Risk) {
	t.line("  %s %s", strings.Join(r.Methods, ","), r.Route)
	t.line("    %s", r.Why)
	var facts []string
	for _, cve := range r.CVE {
		facts = append(facts, fmt.Sprintf("%s (%s)", cve.ID, cve.Versions))
	}
	if r.Scope != "" {
		facts = append(facts, "the hole is in: "+r.Scope)
	}
	t.facts(append(facts, evidence(r.Since, r.Seen, r.Anonymous)...))
}

func (t *pluginText) facts(facts []string) {
	t.line("    %s", t.palette.Faint(strings.Join(facts, "; ")))
}

// evidence says how sure a row is, in the words of docs/plugins.
func evidence(since string, seen plugins.Seen, anonymous plugins.Anonymous) []string {
	facts := []string{"seen: " + string(seen)}
	if anonymous != "" {
		facts = append(facts, "anonymous: "+string(anonymous))
	}
	if since != "" {
		facts = append(facts, "since: "+since)
	}
	return facts
}
